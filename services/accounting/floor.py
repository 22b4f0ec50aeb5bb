"""The chips at one table as its own log has them, and what each of its events must have brought about in the ledger.

This is arithmetic over the few events that move chips or say what the stacks are. It shares nothing with the cashier's
rules, nor with the table's: where both are wrong in the same way, it still finds that chips are missing.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from contracts.data import Chips, Id, Seat
from contracts.events import AnyEvent
from contracts.events.seats import (
    SeatReleased,
    SeatReserved,
    StackAdjusted,
    StackToppedUp,
    TopUpQueued,
    TopUpReleased,
    TopUpRequested,
)
from contracts.events.state import TableRecord
from contracts.events.table import HandEnded, HandVoided, PlayerLeft, PlayerSeated
from services.accounting.rows import Deed, Row

ANSWERS: Final[tuple[Deed, ...]] = ("bought", "refused")


class Expected(NamedTuple):
    """An entry that has to follow: one of some deeds, whose chips, how many, and which request or hand it names."""

    deeds: tuple[Deed, ...]
    player: Id = ""
    amount: Chips = 0
    number: int = 0

    def __str__(self) -> str:
        return str(Row(0, 0, " or ".join(self.deeds), self.player, self.amount, self.number))  # type: ignore[arg-type]

    def allows(self, row: Row) -> bool:
        """Whether an entry is the one."""
        return row.deed in self.deeds and (row.player, row.amount, row.number) == self[1:]


class Amiss(Exception):
    """An event that makes chips from nothing, or loses some: what it says, and what it would have to."""

    def __init__(self, message: str, recorded: object, expected: object) -> None:
        super().__init__(message)
        self.recorded = str(recorded)
        self.expected = str(expected)


class Request(NamedTuple):
    """A request that the table has open, and whether it was paid."""

    player: Id
    amount: Chips
    paid: bool


class Floor:
    """Chips by seat: `stacks`, and what is `queued` for them; `requests` are those that the ledger has answered."""

    def __init__(self) -> None:
        self.stacks: dict[Seat, Chips] = {}
        self.queued: dict[Seat, Chips] = {}
        self.requests: dict[int, Request] = {}

    def chips(self) -> Chips:
        """All chips at the table."""
        return sum(self.stacks.values()) + sum(self.queued.values())

    def on_the_way(self) -> Chips:
        """What was paid for requests that the table has not settled."""
        return sum(request.amount for request in self.requests.values() if request.paid)

    def begin(self, record: TableRecord) -> None:
        """Begins with a statement of the table, where what lies before is not there any more."""
        self.stacks = {seat.seat: seat.stack for seat in record.seats}
        self.queued = {seat.seat: seat.top_up for seat in record.seats if seat.top_up}

    def answered(self, row: Row) -> None:
        """Takes note of an entry about a request."""
        if row.deed in ANSWERS:
            self.requests[row.n] = Request(row.player, row.amount, row.deed == "bought")
        elif row.deed in ("settled", "returned"):
            self.requests.pop(row.number, None)

    def follow(self, n: int, event: AnyEvent) -> Iterator[Expected]:
        """What must follow from an event of commit `n`; each entry is `answered` before the next is asked for.

        Raises `Amiss` where the chips do not add up.
        """
        match event:
            case SeatReserved(reservation=kept) if kept.buy_in:
                yield Expected(ANSWERS, kept.player, kept.buy_in, n)
            case TopUpRequested():
                yield Expected(ANSWERS, event.player, event.amount, n)
            case SeatReleased() | TopUpReleased():
                yield self._given_up(event.request)
            case PlayerSeated() | TopUpQueued() | StackToppedUp():
                yield from self._brought(event)
            case PlayerLeft():
                yield from self._left(event)
            case HandEnded():
                yield from self._ended(event)
            case HandVoided():
                self._voided(event)
            case StackAdjusted():
                self._stack(event.seat, event.stack, event.amount)
                yield Expected(("corrected",), event.player, event.amount)

    def _given_up(self, number: int) -> Expected:
        request = self.requests.get(number)
        if request is None or not request.paid:
            return Expected(("settled",), number=number)
        return Expected(("returned",), request.player, request.amount, number)

    def _came_in(self, number: int | None, amount: Chips) -> Expected:
        """The end of a request whose chips came to the table: those that were paid for, all of them, and no other."""
        request = self.requests.get(number) if number is not None else None
        paid = request.amount if request is not None and request.paid else 0
        _equal("chips that come to the table are those that were paid for", amount, paid)
        return Expected(("settled",), number=number or 0)

    def _brought(self, event: PlayerSeated | TopUpQueued | StackToppedUp) -> Iterator[Expected]:
        match event:
            case PlayerSeated():
                yield from self._seated(event)
            case TopUpQueued():
                yield from self._queued(event)
            case StackToppedUp():
                yield from self._topped_up(event)

    def _seated(self, event: PlayerSeated) -> Iterator[Expected]:
        yield self._came_in(event.request, event.record.stack)
        self.stacks[event.record.seat] = event.record.stack

    def _queued(self, event: TopUpQueued) -> Iterator[Expected]:
        yield self._came_in(event.request, event.amount)
        before = self.queued.get(event.seat, 0)
        _equal(f"chips queued for seat {event.seat}", event.queued, before + event.amount)
        self.queued[event.seat] = event.queued

    def _topped_up(self, event: StackToppedUp) -> Iterator[Expected]:
        whole = event.amount + event.unused
        if event.request is not None:
            yield self._came_in(event.request, whole)
        else:
            _equal(f"chips that were queued for seat {event.seat}", whole, self.queued.pop(event.seat, 0))
        self._stack(event.seat, event.stack, event.amount)
        if event.unused:
            yield Expected(("returned",), event.player or "", event.unused)

    def _left(self, event: PlayerLeft) -> Iterator[Expected]:
        _equal(f"stack of seat {event.seat} on leaving (R9)", event.stack, self.stacks.pop(event.seat, 0))
        _equal(f"chips queued for seat {event.seat} on leaving", event.unused, self.queued.pop(event.seat, 0))
        if event.stack or not event.unused:
            yield Expected(("cashed out",), event.player, event.stack)
        if event.unused:
            yield Expected(("returned",), event.player, event.unused)

    def _ended(self, event: HandEnded) -> Iterator[Expected]:
        """A hand moves chips from seat to seat, and the rake to the house (R143)."""
        before = sum(self.stacks.get(stack.seat, 0) for stack in event.stacks)
        after = sum(stack.amount for stack in event.stacks)
        _equal(f"chips of hand {event.number}, with its rake (R143)", after + event.rake, before)
        for stack in event.stacks:
            self.stacks[stack.seat] = stack.amount
        if event.rake:
            yield Expected(("rake",), amount=event.rake, number=event.number)

    def _voided(self, event: HandVoided) -> None:
        """A cancelled hand leaves every stack as it was, and the rake is 0 (R121)."""
        after = {seat.seat: seat.stack for seat in event.seats}
        _equal(f"chips of hand {event.number}, which was cancelled (R121)", after, self.stacks)

    def _stack(self, seat: Seat, stack: Chips, added: int) -> None:
        before = self.stacks.get(seat, 0)
        _equal(f"stack of seat {seat}", stack, before + added)
        self.stacks[seat] = stack


def _equal(message: str, recorded: object, expected: object) -> None:
    if recorded != expected:
        raise Amiss(message, recorded, expected)
