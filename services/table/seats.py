"""Leaving a seat, sitting out and coming back (R4, R9, R11, R25, R119, R120)."""

from contracts.commands import LeaveTable, ReturnToPlay, SitOut
from contracts.commit import Cause
from contracts.data import Instant, Seat
from contracts.events import AnyEvent
from contracts.events.seats import PostChosen
from contracts.events.state import SeatRecord
from contracts.events.table import LeaveRequested, PlayerReturned, SitOutRequested
from contracts.games import TableConfig
from contracts.outcomes import Allowed, Rejected
from services.aggregate.debts import free_seats
from services.aggregate.table import Table
from services.table.hands import DepartureReason, departs, sat_out
from services.table.refusals import refuse

type Decision = tuple[AnyEvent, ...] | Rejected


def leave_table(table: Table, cause: Cause, command: LeaveTable, at: Instant) -> Decision:
    """Between hands the player leaves at once; in a hand at its end, and folds at the next decision (R9, R120)."""
    record = record_of(table, cause, command.player)
    if isinstance(record, Rejected):
        return record
    return leave_seat(table, cause, record, at)


def leave_seat(
    table: Table, cause: Cause, record: SeatRecord, at: Instant, reason: DepartureReason = "asked"
) -> Decision:
    """What it takes to free a seat: nothing more between hands, else the end of the hand (R120)."""
    if not in_hand(table, record.seat):
        return departs(record, at, reason)
    if record.leaving:
        message = f"The player leaves already, when hand {table.hands} has ended; nothing more is to be sent."
        return refuse(table, cause, "illegal_action", message, Allowed(hand=table.hands))
    return (LeaveRequested(seat=record.seat, removed=reason == "removed"),)


def sit_out(table: Table, cause: Cause, command: SitOut, at: Instant) -> Decision:
    """Between hands the player sits out at once; in a hand from the next decision on (R11, R119)."""
    record = record_of(table, cause, command.player)
    if isinstance(record, Rejected):
        return record
    if record.sitting_out or record.away:
        message = "The player sits out already; return_to_play ends it."
        return refuse(table, cause, "sitting_out", message, Allowed(actions=("return_to_play",)))
    if in_hand(table, record.seat):
        return (SitOutRequested(seat=record.seat),)
    return (sat_out(table, record.seat, "asked", at),)


def return_to_play(table: Table, config: TableConfig, cause: Cause, command: ReturnToPlay) -> Decision:
    """The player plays again, or chooses anew how to come in: posting what is owed, or with the big blind (R25)."""
    record = record_of(table, cause, command.player)
    if isinstance(record, Rejected):
        return record
    if not (record.sitting_out or record.away):
        if record.owes == "none" or record.choice == command.choice:
            message = "The player is playing; only one who sits out returns."
            return refuse(table, cause, "not_sitting_out", message, Allowed(actions=("sit_out", "leave_table")))
        return (PostChosen(seat=record.seat, choice=command.choice),)
    if record.stack == 0 and not in_hand(table, record.seat):
        message = f"A player without chips first tops up, by at least {config.buy_in.minimum}."
        allowed = Allowed(minimum=config.buy_in.minimum, maximum=config.buy_in.maximum)
        return refuse(table, cause, "buy_in_out_of_range", message, allowed)
    return (PlayerReturned(seat=record.seat, owes=record.owes, choice=command.choice),)


def record_of(table: Table, cause: Cause, player: str | None) -> SeatRecord | Rejected:
    """The seat of the player whom a command is about: the sender, or whom a lobby names."""
    name = player if player is not None else cause.actor.name
    record = table.seat_of(name)
    if record is None:
        free = free_seats(table)
        allowed = Allowed(actions=("take_seat",) if free else (), seats=free, hand=None if free else table.hands)
        instead = f"take_seat gives one of {', '.join(map(str, free))}" if free else "none is free"
        return refuse(table, cause, "not_seated", f"{name} holds no seat at this table; {instead}.", allowed)
    return record


def in_hand(table: Table, seat: Seat) -> bool:
    """Whether the seat was dealt in: until the hand has ended its chips are the hand's."""
    return table.hand is not None and seat in table.hand.players
