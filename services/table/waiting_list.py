"""Who waits for a seat, and who gets the next one: first come, first served."""

from typing import Final

from contracts.commands import JoinWaitingList, LeaveWaitingList
from contracts.commit import Cause
from contracts.data import Instant
from contracts.events import AnyEvent
from contracts.events.seats import SeatReserved, WaitingListChanged
from contracts.events.state import Reservation
from contracts.games import TableConfig
from contracts.lasting import later
from contracts.outcomes import Allowed, Rejected
from services.aggregate.debts import free_seats
from services.aggregate.table import Table
from services.table.refusals import refuse

type Decision = tuple[AnyEvent, ...] | Rejected

WAITING_MAX: Final = 100
"""So many players wait for a seat at one table; the list is stated in every hand."""


def join(table: Table, cause: Cause, command: JoinWaitingList) -> Decision:
    """Puts a player at the end of the list."""
    player = command.player if command.player is not None else cause.actor.name
    held = table.seat_of(player)
    if held is not None:
        message = f"{player} holds seat {held.seat} already, and waits for none."
        return refuse(table, cause, "already_seated", message, Allowed(seats=(held.seat,)))
    kept = next((kept for kept in table.reservations.values() if kept.player == player), None)
    if kept is not None:
        message = f"Seat {kept.seat} is kept for {player} already; take_seat takes it, release_seat gives it up."
        allowed = Allowed(
            actions=("release_seat",) if kept.buy_in else ("take_seat", "release_seat"), seats=(kept.seat,)
        )
        return refuse(table, cause, "seat_reserved", message, allowed)
    if player in table.waiting:
        place = table.waiting.index(player) + 1
        message = f"{player} waits already, as number {place} of {len(table.waiting)}; leave_waiting_list ends it."
        return refuse(table, cause, "already_waiting", message, Allowed(actions=("leave_waiting_list",)))
    if len(table.waiting) >= WAITING_MAX:
        message = f"{WAITING_MAX} players wait at this table, and no more can."
        return refuse(table, cause, "table_full", message, Allowed(maximum=WAITING_MAX))
    return (WaitingListChanged(players=(*table.waiting, player)),)


def leave(table: Table, cause: Cause, command: LeaveWaitingList) -> Decision:
    """Takes a player from the list."""
    player = command.player if command.player is not None else cause.actor.name
    events = no_longer_waiting(table, player)
    if not events:
        message = f"{player} does not wait for a seat at this table; join_waiting_list begins it."
        return refuse(table, cause, "not_waiting", message, Allowed(actions=("join_waiting_list",)))
    return events


def no_longer_waiting(table: Table, player: str) -> tuple[AnyEvent, ...]:
    """The list without a player; () where the player does not stand in it."""
    if player not in table.waiting:
        return ()
    return (WaitingListChanged(players=tuple([other for other in table.waiting if other != player])),)


def offer(table: Table, config: TableConfig, at: Instant) -> tuple[AnyEvent, ...]:
    """The lowest free seat is kept for the first in the list, who takes it in time or has to wait anew."""
    free = free_seats(table)
    if not free or not table.waiting:
        return ()
    first = table.waiting[0]
    expires = later(at, config.options.reserve_ms)
    kept = Reservation(seat=free[0], player=first, number=table.n + 1, expires=expires)
    return SeatReserved(reservation=kept), *no_longer_waiting(table, first)
