"""PokerKit, told what to deal and what everybody does: its games are put together here, so that all nine are there."""

from collections.abc import Sequence
from typing import Final

import pokerkit
from pokerkit import Automation, BettingStructure, Deck, Opening, State, Street

from contracts.games import HOLE_CARDS, Limit, TableConfig, Variant

AUTOMATIC: Final = (
    Automation.ANTE_POSTING,
    Automation.BET_COLLECTION,
    Automation.BLIND_OR_STRADDLE_POSTING,
    Automation.RUNOUT_COUNT_SELECTION,
    Automation.CHIPS_PULLING,
)
HANDS: Final[dict[Variant, tuple[type[pokerkit.Hand], ...]]] = {
    "holdem": (pokerkit.StandardHighHand,),
    "omaha": (pokerkit.OmahaHoldemHand,),
    "omaha8": (pokerkit.OmahaHoldemHand, pokerkit.OmahaEightOrBetterLowHand),
}
STRUCTURES: Final[dict[Limit, BettingStructure]] = {
    "no_limit": BettingStructure.NO_LIMIT,
    "pot_limit": BettingStructure.POT_LIMIT,
    "fixed_limit": BettingStructure.FIXED_LIMIT,
}
BETS_MAX: Final = 4


class Oracle:
    """One hand in PokerKit; players are counted from the first one left of the button."""

    def __init__(
        self, config: TableConfig, stacks: Sequence[int], hole: Sequence[Sequence[str]], board: Sequence[str]
    ) -> None:
        stakes, players = config.stakes, len(stacks)
        self._board = list(board)
        self.pots: list[tuple[int, tuple[int, ...]]] = []
        self.state = State(
            AUTOMATIC,
            Deck.STANDARD,
            HANDS[config.variant],
            _streets(config),
            STRUCTURES[config.limit],
            True,  # noqa: FBT003 - short antes are trimmed as any other bet is
            stakes.ante,
            (stakes.small_blind, stakes.big_blind),
            0,
            tuple(stacks),
            players,
        )
        for cards in hole:
            self.state.deal_hole("".join(cards))
        self._go_on()

    def check_or_call(self) -> None:
        self.state.check_or_call()
        self._go_on()

    def fold(self) -> None:
        self.state.fold()
        self._go_on()

    def wager(self, to: int) -> None:
        self.state.complete_bet_or_raise_to(to)
        self._go_on()

    def _go_on(self) -> None:
        """Deals and settles until somebody is to act, or the hand is over."""
        state = self.state
        while state.status and state.actor_index is None:
            if state.can_burn_card("??"):
                state.burn_card("??")
            elif state.can_deal_board():
                self._deal_board()
            else:
                self._settle()

    def _deal_board(self) -> None:
        count = 3 if len(self._board) == 5 else 1
        self.state.deal_board("".join(self._board[:count]))
        del self._board[:count]

    def _settle(self) -> None:
        state = self.state
        if not self.pots:  # before any hand is mucked
            self.pots = [(pot.amount, tuple(pot.player_indices)) for pot in state.pots]
        if state.can_show_or_muck_hole_cards():
            state.show_or_muck_hole_cards()
        elif state.can_kill_hand():
            state.kill_hand()
        else:
            state.push_chips()


def _streets(config: TableConfig) -> tuple[Street, ...]:
    """The betting rounds. PokerKit does not count the big blind as a bet, so before the flop there is one less."""
    stakes, fixed = config.stakes, config.limit == "fixed_limit"
    small = stakes.small_bet if fixed else stakes.big_blind
    big = stakes.big_bet if fixed else stakes.big_blind
    hole = (False,) * HOLE_CARDS[config.variant]
    rounds = (
        (hole, 0, small, BETS_MAX - 1),
        ((), 3, small, BETS_MAX),
        ((), 1, big, BETS_MAX),
        ((), 1, big, BETS_MAX),
    )
    return tuple(
        Street(bool(board), dealt, board, False, Opening.POSITION, least, most if fixed else None)  # noqa: FBT003
        for dealt, board, least, most in rounds
    )
