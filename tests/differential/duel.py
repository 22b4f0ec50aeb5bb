"""The same hand at a table of ours and in PokerKit, decision by decision."""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from contracts.cards import Card
from contracts.commands import Act
from contracts.data import Seat
from contracts.events.state import SeatRecord, Turn
from contracts.games import HOLE_CARDS, BuyIn, Limit, Stakes, TableConfig, Variant
from services.aggregate.table import Hand
from services.conformance.in_memory import InMemory
from services.conformance.opening import open_next
from services.conformance.outcome import Outcome, outcome
from services.conformance.play import player
from services.dealer.scripted import Script, ScriptedDecks
from tests.differential.oracle import Oracle

STAKES: Final = Stakes(small_blind=50, big_blind=100, small_bet=100, big_bet=200)


class Deal(msgspec.Struct, frozen=True):
    """A hand to be played: stacks by seat from seat 1 on, which has the button; the order of the cards; what is done.

    A decision is a number below 100 (see `chosen`); when none is left, everybody checks or calls.
    """

    variant: Variant
    limit: Limit
    ante: int
    stacks: tuple[int, ...]
    deck: tuple[Card, ...]
    decisions: tuple[int, ...]


class Duel:
    """Both hands, in step. `order` are our seats as PokerKit counts them."""

    def __init__(self, deal: Deal) -> None:
        self.config = TableConfig(
            variant=deal.variant,
            limit=deal.limit,
            stakes=msgspec.structs.replace(STAKES, ante=deal.ante),
            seats=10,
            buy_in=BuyIn(minimum=1),
        )
        seats = [
            SeatRecord(seat=seat, player=player(seat), stack=stack, sat=seat)
            for seat, stack in enumerate(deal.stacks, 1)
        ]
        each, cards = HOLE_CARDS[deal.variant], iter(deal.deck)
        hole = {record.seat: tuple(next(cards) for _ in range(each)) for record in seats}
        board = tuple(next(cards) for _ in range(5))
        self.playing = InMemory(ScriptedDecks({1: Script(hole=hole, board=board)}))
        started = open_next(self.playing, self.config, seats, None)
        assert started is not None
        self.started = started
        self.order: list[Seat] = [each.seat for each in started.players]
        self.oracle = Oracle(
            self.config, [deal.stacks[seat - 1] for seat in self.order], [hole[seat] for seat in self.order], board
        )
        self.playing.settle()

    @property
    def hand(self) -> Hand | None:
        return self.playing.table.hand

    @property
    def turn(self) -> Turn | None:
        return self.hand.open_turn if self.hand is not None else None

    def act(self, action: str, to: int | None) -> None:
        """Both players do the same."""
        hand, turn = self.hand, self.turn
        assert hand is not None
        assert turn is not None
        command = {"type": "act", "id": f"a{self.playing.table.n}", "hand": hand.number, "turn": hand.turn_number}
        refused = self.playing.act(turn.seat, msgspec.convert(command | {"action": action, "to": to}, Act))
        assert refused is None, refused
        if action == "fold":
            self.oracle.fold()
        elif to is None:
            self.oracle.check_or_call()
        else:
            self.oracle.wager(to)

    def end(self) -> Outcome:
        """What our hand came to."""
        return outcome(self.playing.events)


def chosen(turn: Turn, decision: int) -> tuple[str, int | None]:
    """What a decision means at this turn; a fold that could be a check is one (PokerKit refuses to fold then)."""
    passive = "check" if turn.check else "call"
    if decision < 20:
        return ("check" if turn.check else "fold"), None
    if turn.wager is None or turn.minimum is None or turn.maximum is None or decision < 60:
        return passive, None
    if decision < 75:
        return turn.wager, turn.minimum
    if decision >= 90:
        return turn.wager, turn.maximum
    return turn.wager, turn.minimum + (turn.maximum - turn.minimum) * (decision - 75) // 15


def decisions(given: Sequence[int]) -> Iterator[int]:
    """The decisions given, then checks and calls without end."""
    yield from given
    while True:
        yield 50
