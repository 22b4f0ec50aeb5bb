"""Each fact about seats in words: who comes, goes, waits, sits out, and with how much."""

from collections.abc import Callable
from typing import Any, Final

from contracts.data import Seat
from contracts.events import Event, seats, table
from services.aggregate.table import Table

SITS_OUT: Final = {
    "asked": "as asked",
    "timed_out": "ran out of time",
    "no_chips": "no chips left",
    "table_paused": "the table is paused",
}
LEAVES: Final = {
    "asked": "leaves seat {seat}",
    "removed": "is removed from seat {seat}",
    "sat_out": "sat out too long and loses seat {seat}, paid out",
    "table_closed": "leaves seat {seat}, for the table closes,",
}


def who(state: Table, seat: Seat) -> str:
    if state.hand is not None and seat in state.hand.players:
        return f"{state.hand.players[seat].player} (seat {seat})"
    record = state.seats.get(seat)
    return f"{record.player if record is not None else 'nobody'} (seat {seat})"


def _seated(_: Table, event: table.PlayerSeated, __: Table) -> str:
    record = event.record
    return f"{record.player} sits down on seat {record.seat} with {record.stack}"


def _left(_: Table, event: table.PlayerLeft, __: Table) -> str:
    unused = f", and {event.unused} that were still to be added" if event.unused else ""
    return f"{event.player} {LEAVES[event.reason].format(seat=event.seat)} with {event.stack}{unused}"


def _topped_up(before: Table, event: seats.StackToppedUp, _: Table) -> str:
    unused = f"; {event.unused} over the maximum were not taken" if event.unused else ""
    return f"{who(before, event.seat)} adds {event.amount} and has {event.stack}{unused}"


def _returned(before: Table, event: table.PlayerReturned, _: Table) -> str:
    owes = "" if event.owes == "none" else f", owing blinds ({event.owes}), and chose to {event.choice}"
    return f"{who(before, event.seat)} plays again{owes}"


def _reserved(_: Table, event: seats.SeatReserved, __: Table) -> str:
    kept = event.reservation
    asked = f"; the cashier is asked for {kept.buy_in}" if kept.buy_in else ""
    return f"seat {kept.seat} is kept for {kept.player} until {kept.expires:%H:%M:%S}{asked}"


def _released(_: Table, event: seats.SeatReleased, __: Table) -> str:
    return f"seat {event.seat} is not kept for {event.player} any more ({_why(event.reason, event.message)})"


def _requested(before: Table, event: seats.TopUpRequested, _: Table) -> str:
    return f"{who(before, event.seat)} asks for {event.amount} more; the cashier is asked"


def _not_topped_up(before: Table, event: seats.TopUpReleased, _: Table) -> str:
    return f"{who(before, event.seat)} gets nothing added ({_why(event.reason, event.message)})"


def _why(reason: str, message: str) -> str:
    return f"{reason.replace('_', ' ')}: {message}" if message else reason.replace("_", " ")


def _adjusted(before: Table, event: seats.StackAdjusted, _: Table) -> str:
    return f"an operator corrects the stack of {who(before, event.seat)} by {event.amount:+}: {event.stack}"


def _waits(_: Table, event: seats.WaitingListChanged, __: Table) -> str:
    return f"the waiting list: {', '.join(event.players) or 'nobody'}"


def _presence(before: Table, event: seats.PresenceChanged, _: Table) -> str:
    return f"{who(before, event.seat)} is {'connected again' if event.connected else 'disconnected'}"


def _of_seat(text: str) -> Callable[[Table, Any, Table], str]:
    """A sentence about the player on the event's seat."""
    return lambda before, event, _: f"{who(before, event.seat)} {text}"


SEAT_PHRASES: Final[dict[type[Event], Callable[[Table, Any, Table], str]]] = {
    table.PlayerSeated: _seated,
    seats.SeatReserved: _reserved,
    seats.SeatReleased: _released,
    seats.WaitingListChanged: _waits,
    seats.PresenceChanged: _presence,
    seats.TopUpRequested: _requested,
    seats.TopUpReleased: _not_topped_up,
    seats.StackAdjusted: _adjusted,
    seats.PostChosen: lambda before, event, _: f"{who(before, event.seat)} chooses to {event.choice}",
    seats.TopUpQueued: lambda before, event, _: f"{who(before, event.seat)} will add {event.queued} after the hand",
    seats.StackToppedUp: _topped_up,
    table.SitOutRequested: lambda before, event, _: (
        f"{who(before, event.seat)} {'is away from now on' if event.timed_out else 'asks to sit out'}"
    ),
    table.PlayerSatOut: lambda before, event, _: f"{who(before, event.seat)} sits out ({SITS_OUT[event.reason]})",
    table.PlayerReturned: _returned,
    table.LeaveRequested: lambda before, event, _: (
        f"{who(before, event.seat)} {'is to leave' if event.removed else 'asks to leave'}"
    ),
    table.PlayerLeft: _left,
    seats.BlindsMissed: lambda before, event, _: f"{who(before, event.seat)} missed blinds ({event.owes})",
}
