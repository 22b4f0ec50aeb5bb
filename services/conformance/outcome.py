"""What a hand came to, read off the events of its commits."""

from collections.abc import Iterable

import msgspec

from contracts.cards import Card
from contracts.data import Chips, Seat
from contracts.events import AnyEvent
from contracts.events.dealer import BoardDealt, HandsRevealed
from contracts.events.rake import RakeTaken
from contracts.events.settlement import HandsMucked, HandsShown, PotsAwarded
from contracts.events.table import BettingClosed, HandEnded, UncalledBetReturned


class Outcome(msgspec.Struct):
    """The end of a hand. `stacks` is None while it is not over; `shown` and `mucked` are in the order of the events."""

    uncalled: dict[Seat, Chips] = {}
    board: list[Card] = []
    hands: dict[Seat, tuple[Card, ...]] = {}
    shown: list[Seat] = []
    mucked: list[Seat] = []
    closed: BettingClosed | None = None
    rake: RakeTaken | None = None
    awards: PotsAwarded | None = None
    stacks: dict[Seat, Chips] | None = None

    @property
    def payouts(self) -> dict[Seat, Chips]:
        """What each winner got."""
        payouts = self.awards.payouts if self.awards is not None else ()
        return {payout.seat: payout.amount for payout in payouts if payout.amount}

    @property
    def contenders(self) -> tuple[Seat, ...]:
        """Who went to the end of the betting."""
        return self.closed.contenders if self.closed is not None else ()


def outcome(events: Iterable[AnyEvent]) -> Outcome:
    """Reads the events of one hand."""
    found = Outcome()
    for event in events:
        if isinstance(event, HandsShown | HandsMucked | HandsRevealed | BoardDealt):
            _cards(found, event)
        else:
            _chips(found, event)
    return found


def _cards(found: Outcome, event: HandsShown | HandsMucked | HandsRevealed | BoardDealt) -> None:
    match event:
        case BoardDealt():
            found.board.extend(dealt.card for dealt in event.cards)
        case HandsRevealed():
            found.hands = {hand.seat: tuple(dealt.card for dealt in hand.cards) for hand in event.hands}
        case HandsShown():
            found.shown.extend(hand.seat for hand in event.hands)
        case HandsMucked():
            found.mucked.extend(event.seats)


def _chips(found: Outcome, event: AnyEvent) -> None:
    match event:
        case UncalledBetReturned():
            found.uncalled[event.seat] = found.uncalled.get(event.seat, 0) + event.amount
        case BettingClosed():
            found.closed = event
        case RakeTaken():
            found.rake = event
        case PotsAwarded():
            found.awards = event
        case HandEnded():
            found.stacks = {stack.seat: stack.amount for stack in event.stacks}
        case _:
            pass
