"""The same random hands by PokerKit, which keeps no log: what the deciders are measured against."""

from random import Random
from typing import Any, Final

from pokerkit import (
    Automation,
    FixedLimitPokerMixin,
    Holdem,
    Mode,
    NoLimitTexasHoldem,
    OmahaEightOrBetterLowHand,
    OmahaHoldemHand,
    OmahaHoldemMixin,
    PotLimitOmahaHoldem,
)

from contracts.events.state import Turn
from tests.bench.choices import BIG_BLIND, SMALL_BLIND, STACKS, choose

AUTOMATIONS: Final = tuple(Automation)


class PotLimitOmahaEight(PotLimitOmahaHoldem):
    hand_types = (OmahaHoldemHand, OmahaEightOrBetterLowHand)  # type: ignore[assignment]


class FixedLimitOmahaEight(FixedLimitPokerMixin, OmahaHoldemMixin, Holdem):
    """PokerKit's own class of this name bets pot-limit."""

    hand_types = (OmahaHoldemHand, OmahaEightOrBetterLowHand)


def _game(game: str) -> Any:
    blinds, whole = (SMALL_BLIND, BIG_BLIND), Mode.CASH_GAME
    match game:
        case "nlhe":
            return NoLimitTexasHoldem(AUTOMATIONS, True, 0, blinds, BIG_BLIND, mode=whole)  # noqa: FBT003
        case "plo":
            return PotLimitOmahaHoldem(AUTOMATIONS, True, 0, blinds, BIG_BLIND, mode=whole)  # noqa: FBT003
        case "plo8":
            return PotLimitOmahaEight(AUTOMATIONS, True, 0, blinds, BIG_BLIND, mode=whole)  # noqa: FBT003
        case _:
            return FixedLimitOmahaEight(AUTOMATIONS, True, 0, blinds, BIG_BLIND, 2 * BIG_BLIND, mode=whole)  # noqa: FBT003


class PokerKit:
    """Plays hands of one game."""

    def __init__(self, game: str, seed: int) -> None:
        self.random = Random(seed)
        self.hands = self.actions = 0
        self._game = _game(game)

    def play(self) -> None:
        """One whole hand."""
        stacks = self.random.choice(STACKS)
        state = self._game(stacks, len(stacks))
        while state.status:
            self._act(state)
            self.actions += 1
        assert sum(state.stacks) == sum(stacks)
        self.hands += 1

    def _act(self, state: Any) -> None:
        act = choose(_turn(state), 0, 0, self.random)
        most = state.max_completion_betting_or_raising_to_amount
        if act.action in ("bet", "raise"):
            state.complete_bet_or_raise_to(act.to)
        elif act.action == "all_in" and most is not None:
            state.complete_bet_or_raise_to(most)
        elif act.action == "fold":
            state.fold()
        else:
            state.check_or_call()


def _turn(state: Any) -> Turn:
    """What may be done, as Croupier says it."""
    call, raises = state.checking_or_calling_amount, state.can_complete_bet_or_raise_to()
    return Turn(
        seat=state.actor_index + 1,
        check=not call,
        act_ms=0,
        call=call or None,
        wager="raise" if raises else None,
        minimum=state.min_completion_betting_or_raising_to_amount if raises else None,
        maximum=state.max_completion_betting_or_raising_to_amount if raises else None,
    )
