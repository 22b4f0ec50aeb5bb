"""How a player comes to a seat: with chips, at once or when the cashier has moved them (R2, R6, R21)."""

from contracts.commands import TakeSeat
from contracts.commit import Cause
from contracts.data import Instant, Seat
from contracts.events import AnyEvent
from contracts.events.seats import SeatReserved
from contracts.events.state import Reservation, SeatRecord
from contracts.events.table import PlayerSeated
from contracts.games import TableConfig
from contracts.lasting import later
from contracts.outcomes import Allowed, Rejected
from services.aggregate.debts import free_seats
from services.aggregate.table import Table
from services.table.buy_ins import buy_in_range, overfull
from services.table.refusals import refuse
from services.table.waiting_list import no_longer_waiting

type Decision = tuple[AnyEvent, ...] | Rejected


def take_seat(table: Table, config: TableConfig, cause: Cause, command: TakeSeat, at: Instant) -> Decision:
    """Seats a player with chips, or asks the cashier for them and keeps the seat meanwhile."""
    seat = seat_for(table, config, cause, command.player, command.seat)
    if isinstance(seat, Rejected):
        return seat
    bounds = buy_in_range(table, config, command.player, at)
    if not bounds.holds(command.buy_in):
        message = f"The buy-in is {bounds}; {command.buy_in} is not."
        allowed = Allowed(minimum=bounds.minimum, maximum=bounds.maximum)
        return refuse(table, cause, "buy_in_out_of_range", message, allowed)
    too_much = overfull(table, cause, command.buy_in)
    if too_much is not None:
        return too_much
    kept = Reservation(
        seat=seat,
        player=command.player,
        number=table.n + 1,
        expires=later(at, config.options.reserve_ms),
        buy_in=command.buy_in,
        choice=command.choice,
    )
    listed = no_longer_waiting(table, command.player)
    if config.bankroll == "cashier":
        return *listed, SeatReserved(reservation=kept)
    return *listed, PlayerSeated(record=newcomer(table, config, kept))


def newcomer(table: Table, config: TableConfig, kept: Reservation) -> SeatRecord:
    """The seat of a player who sits down; at a running table a newcomer owes a big blind (R21)."""
    return SeatRecord(
        seat=kept.seat,
        player=kept.player,
        stack=kept.buy_in,
        sat=table.sittings + 1,
        owes="new" if table.hands else "none",
        choice=kept.choice,
        time_bank=config.options.time_bank_ms,
    )


def seat_for(table: Table, config: TableConfig, cause: Cause, player: str, seat: Seat | None) -> Seat | Rejected:
    """The seat that a player gets: the one kept for the player, the one asked for, or the lowest free one (R2)."""
    held = table.seat_of(player)
    if held is not None:
        message = f"A player holds at most one seat at a table; {player} holds seat {held.seat}."
        return refuse(table, cause, "already_seated", message, Allowed(seats=(held.seat,)))
    kept = reservation_of(table, player)
    if kept is not None:
        return _kept(table, cause, kept, seat)
    free = free_seats(table)
    if not free:
        return _full(table, config, cause)
    if seat is None or seat in free:
        return seat if seat is not None else free[0]
    others = table.reservations.get(seat)
    which = ", ".join(map(str, free))
    if others is not None:
        message = f"Seat {seat} is kept for another player; free: {which}."
        return refuse(table, cause, "seat_reserved", message, Allowed(seats=free))
    return refuse(table, cause, "seat_taken", f"Seat {seat} is not free; free: {which}.", Allowed(seats=free))


def reservation_of(table: Table, player: str) -> Reservation | None:
    """The seat that is kept for a player."""
    return next((kept for kept in table.reservations.values() if kept.player == player), None)


def _kept(table: Table, cause: Cause, kept: Reservation, seat: Seat | None) -> Seat | Rejected:
    if kept.buy_in:
        message = (
            f"Seat {kept.seat} is kept for {kept.player} until the cashier has answered; release_seat gives it up."
        )
    elif seat not in (None, kept.seat):
        message = f"Seat {kept.seat} is kept for {kept.player}, who takes no other; release_seat gives it up."
    else:
        return kept.seat
    allowed = Allowed(actions=("release_seat",), seats=(kept.seat,))
    return refuse(table, cause, "seat_reserved", message, allowed)


def _full(table: Table, config: TableConfig, cause: Cause) -> Rejected:
    """Nobody sits down until somebody has left, by a command that is still to come or was accepted in this hand."""
    if table.reservations:
        message = "All seats are held or kept for others; join_waiting_list waits for one."
        return refuse(table, cause, "table_full", message, Allowed(actions=("join_waiting_list",), hand=table.hands))
    if all(record.leaving for record in table.seats.values()):
        message = f"All {config.seats} seats are held; one is free when hand {table.hands} has ended."
        return refuse(table, cause, "table_full", message, Allowed(hand=table.hands))
    message = f"All {config.seats} seats are held; take_seat is accepted after somebody's leave_table."
    return refuse(table, cause, "table_full", message, Allowed(actions=("leave_table",), hand=table.hands))
