"""What must hold after every fact about seats: who holds them or has them kept, with how many chips, and who asks.

Each request to the cashier is closed by exactly one event that names it, so no chips come twice or to nobody (R136).
"""

from collections.abc import Callable, Iterator
from typing import Any, Final

from contracts.events import Event
from contracts.events.seats import (
    PresenceChanged,
    SeatReleased,
    SeatReserved,
    StackAdjusted,
    StackToppedUp,
    TopUpQueued,
    TopUpReleased,
    TopUpRequested,
    WaitingListChanged,
)
from contracts.events.table import PlayerLeft, PlayerSeated
from services.aggregate.table import Table
from services.replay.differences import Difference, equal


def _reserved(before: Table, event: SeatReserved, after: Table) -> Iterator[Difference]:
    kept, known = event.reservation, before.reservations.get(event.reservation.seat)
    yield from equal("a reservation is numbered by its commit", kept.number, after.n)
    if known is not None and known.player == kept.player and known.buy_in == 0 < kept.buy_in:
        return  # the player says for how many chips, and the cashier is asked for them
    yield from equal(f"seat {kept.seat} is free before it is kept", _taken(before, kept.seat), must=False)
    yield from equal(f"{kept.player} has no seat yet", _has_one(before, kept.player), must=False)


def _released(before: Table, event: SeatReleased, after: Table) -> Iterator[Difference]:
    kept = before.reservations.get(event.seat)
    if kept is None:  # the fold says so
        return
    yield from equal("whose reservation is released", event.player, kept.player)
    yield from equal("which reservation is released", event.request, kept.number)
    if event.reason == "expired" and after.at is not None:
        yield from equal("a reservation lasts as long as it was given", kept.expires <= after.at, must=True)


def _seated(before: Table, event: PlayerSeated, _: Table) -> Iterator[Difference]:
    record, kept = event.record, before.reservations.get(event.record.seat)
    holder = before.seats.get(record.seat)
    yield from equal("who held the seat before (R4)", holder.player if holder is not None else None, None)
    yield from equal(f"{record.player} holds no other seat", before.seat_of(record.player) is not None, must=False)
    if kept is not None:
        yield from equal("for whom the seat was kept", record.player, kept.player)
    if event.request is not None:
        asked = (kept.number, kept.buy_in) if kept is not None else None
        yield from equal("the buy-in that was paid for (R6)", (event.request, record.stack), asked)


def _requested(before: Table, event: TopUpRequested, after: Table) -> Iterator[Difference]:
    yield from equal("one top-up at a time is asked for", before.seats[event.seat].request, None)
    yield from equal("a request is numbered by its commit", event.request, after.n)


def _answered(before: Table, event: TopUpQueued | StackToppedUp | TopUpReleased, _: Table) -> Iterator[Difference]:
    record = before.seats[event.seat]
    if event.request is not None:
        yield from equal("which top-up was asked for", event.request, record.request)
    if isinstance(event, TopUpQueued):
        yield from equal("all that is queued (R7)", event.queued, record.top_up + event.amount)
    if isinstance(event, StackToppedUp):
        yield from equal(f"stack of seat {event.seat} (R7)", event.stack, record.stack + event.amount)


def _adjusted(before: Table, event: StackAdjusted, _: Table) -> Iterator[Difference]:
    yield from equal("a stack is corrected between hands (R124)", before.hand is None, must=True)
    yield from equal(f"stack of seat {event.seat}", event.stack, before.seats[event.seat].stack + event.amount)


def _left(before: Table, event: PlayerLeft, _: Table) -> Iterator[Difference]:
    record = before.seats[event.seat]
    yield from equal("who leaves", event.player, record.player)
    yield from equal("chips that are paid out (R9)", event.stack, record.stack)
    yield from equal("a request is answered before its player leaves", record.request, None)


def _presence(before: Table, event: PresenceChanged, _: Table) -> Iterator[Difference]:
    yield from equal("presence changes", event.connected, not before.seats[event.seat].connected)


def _waiting(_: Table, event: WaitingListChanged, __: Table) -> Iterator[Difference]:
    yield from equal("nobody waits twice", len(event.players), len(set(event.players)))


def _taken(table: Table, seat: int) -> bool:
    return seat in table.seats or seat in table.reservations or (table.config is not None and seat > table.config.seats)


def _has_one(table: Table, player: str) -> bool:
    return table.seat_of(player) is not None or player in {kept.player for kept in table.reservations.values()}


SEAT_CHECKS: Final[dict[type[Event], Callable[[Table, Any, Table], Iterator[Difference]]]] = {
    SeatReserved: _reserved,
    SeatReleased: _released,
    PlayerSeated: _seated,
    TopUpRequested: _requested,
    TopUpQueued: _answered,
    StackToppedUp: _answered,
    TopUpReleased: _answered,
    StackAdjusted: _adjusted,
    PlayerLeft: _left,
    PresenceChanged: _presence,
    WaitingListChanged: _waiting,
}
"""What each of these events has to keep to."""
