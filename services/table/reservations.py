"""Seats that are kept for players: asked for by a lobby, given up, and released when their time is over (R4)."""

from contracts.commands import ReleaseSeat, ReserveSeat
from contracts.commit import Cause
from contracts.data import Instant
from contracts.events import AnyEvent
from contracts.events.seats import SeatReleased, SeatReserved
from contracts.events.state import Reservation
from contracts.games import TableConfig
from contracts.lasting import later
from contracts.outcomes import Allowed, Rejected
from services.aggregate.table import Table
from services.table import top_ups
from services.table.refusals import refuse
from services.table.taking import reservation_of, seat_for
from services.table.waiting_list import no_longer_waiting

type Decision = tuple[AnyEvent, ...] | Rejected


def reserve_seat(table: Table, config: TableConfig, cause: Cause, command: ReserveSeat, at: Instant) -> Decision:
    """Keeps a seat for a player, who has to say for how many chips before it expires."""
    kept = reservation_of(table, command.player)
    if kept is not None:
        message = f"Seat {kept.seat} is kept for {kept.player} already; take_seat takes it, release_seat gives it up."
        allowed = Allowed(
            actions=("release_seat",) if kept.buy_in else ("take_seat", "release_seat"), seats=(kept.seat,)
        )
        return refuse(table, cause, "seat_reserved", message, allowed)
    seat = seat_for(table, config, cause, command.player, command.seat)
    if isinstance(seat, Rejected):
        return seat
    expires = later(at, config.options.reserve_ms)
    reserved = Reservation(seat=seat, player=command.player, number=table.n + 1, expires=expires)
    return *no_longer_waiting(table, command.player), SeatReserved(reservation=reserved)


def release_seat(table: Table, cause: Cause, command: ReleaseSeat) -> Decision:
    """Gives up a seat that is kept; what the cashier has paid for it already goes back."""
    player = command.player if command.player is not None else cause.actor.name
    kept = reservation_of(table, player)
    if kept is None:
        message = f"No seat is kept for {player}; reserve_seat keeps one."
        return refuse(table, cause, "no_request", message, Allowed(actions=("reserve_seat",)))
    return (SeatReleased(seat=kept.seat, player=player, request=kept.number, reason="cancelled"),)


def expire(table: Table, at: Instant) -> tuple[AnyEvent, ...]:
    """The seats that nobody took in time are free again, and top-ups that were not answered in time are given up."""
    over = [kept for kept in table.reservations.values() if kept.expires <= at]
    released = [SeatReleased(seat=k.seat, player=k.player, request=k.number, reason="expired") for k in over]
    return *released, *top_ups.expired(table, at)
