"""The part of the fold that is about seats: who holds them or has them kept, and what the players asked for."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from contracts.data import Seat
from contracts.events import seats as seat_events
from contracts.events import table as table_events
from contracts.events.base import Event
from contracts.events.state import Departure
from services.aggregate.table import Table

replace = msgspec.structs.replace


def change_seat(table: Table, seat: Seat, **changes: object) -> None:
    """Changes fields of the record of a held seat. Raises KeyError where nobody holds it."""
    table.seats[seat] = replace(table.seats[seat], **changes)


def _seated(table: Table, event: table_events.PlayerSeated) -> None:
    table.seats[event.record.seat] = event.record
    table.sittings = event.record.sat
    table.reservations.pop(event.record.seat, None)


def _reserved(table: Table, event: seat_events.SeatReserved) -> None:
    table.reservations[event.reservation.seat] = event.reservation


def _released(table: Table, event: seat_events.SeatReleased) -> None:
    del table.reservations[event.seat]


def _waiting_changed(table: Table, event: seat_events.WaitingListChanged) -> None:
    table.waiting = event.players


def _presence_changed(table: Table, event: seat_events.PresenceChanged) -> None:
    change_seat(table, event.seat, connected=event.connected)


def _top_up_requested(table: Table, event: seat_events.TopUpRequested) -> None:
    change_seat(table, event.seat, request=event.request, requested=event.amount, request_expires=event.expires)


def _top_up_released(table: Table, event: seat_events.TopUpReleased) -> None:
    change_seat(table, event.seat, request=None, requested=0, request_expires=None)


def _adjusted(table: Table, event: seat_events.StackAdjusted) -> None:
    change_seat(table, event.seat, stack=event.stack)


def _post_chosen(table: Table, event: seat_events.PostChosen) -> None:
    change_seat(table, event.seat, choice=event.choice)


def _top_up_queued(table: Table, event: seat_events.TopUpQueued) -> None:
    change_seat(table, event.seat, top_up=event.queued, **_answered(event.request))


def _topped_up(table: Table, event: seat_events.StackToppedUp) -> None:
    change_seat(table, event.seat, stack=event.stack, top_up=0, **_answered(event.request))


def _answered(request: int | None) -> dict[str, object]:
    return {} if request is None else {"request": None, "requested": 0, "request_expires": None}


def _sit_out_requested(table: Table, event: table_events.SitOutRequested) -> None:
    change_seat(table, event.seat, away=True, timed_out=event.timed_out)


def _sat_out(table: Table, event: table_events.PlayerSatOut) -> None:
    change_seat(table, event.seat, sitting_out=True, away=False, timed_out=False, sat_out_at=event.at, missed=0)


def _returned(table: Table, event: table_events.PlayerReturned) -> None:
    change_seat(
        table,
        event.seat,
        sitting_out=False,
        away=False,
        timed_out=False,
        owes=event.owes,
        choice=event.choice,
        sat_out_at=None,
        missed=0,
    )


def _leave_requested(table: Table, event: table_events.LeaveRequested) -> None:
    change_seat(table, event.seat, leaving=True, removed=event.removed)


def _left(table: Table, event: table_events.PlayerLeft) -> None:
    del table.seats[event.seat]
    table.departures = (*table.departures, Departure(player=event.player, stack=event.stack, at=event.at))


def _blinds_missed(table: Table, event: seat_events.BlindsMissed) -> None:
    change_seat(table, event.seat, owes=event.owes)


SEATS: Final[dict[type[Event], Callable[[Table, Any], None]]] = {
    table_events.PlayerSeated: _seated,
    seat_events.SeatReserved: _reserved,
    seat_events.SeatReleased: _released,
    seat_events.WaitingListChanged: _waiting_changed,
    seat_events.PresenceChanged: _presence_changed,
    seat_events.TopUpRequested: _top_up_requested,
    seat_events.TopUpReleased: _top_up_released,
    seat_events.StackAdjusted: _adjusted,
    seat_events.PostChosen: _post_chosen,
    seat_events.TopUpQueued: _top_up_queued,
    seat_events.StackToppedUp: _topped_up,
    table_events.SitOutRequested: _sit_out_requested,
    table_events.PlayerSatOut: _sat_out,
    table_events.PlayerReturned: _returned,
    table_events.LeaveRequested: _leave_requested,
    table_events.PlayerLeft: _left,
    seat_events.BlindsMissed: _blinds_missed,
}
"""What each of these events assigns."""
