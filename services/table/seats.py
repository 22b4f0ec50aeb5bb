"""Taking and leaving a seat, sitting out and coming back, and adding chips (R4 to R11, R21, R25, R119, R120)."""

from contracts.commands import LeaveTable, ReturnToPlay, SitOut, TakeSeat, TopUp
from contracts.commit import Cause
from contracts.data import CHIPS_MAX, Chips, Instant, Seat
from contracts.events import AnyEvent
from contracts.events.seats import PostChosen, TopUpQueued
from contracts.events.state import SeatRecord
from contracts.events.table import LeaveRequested, PlayerReturned, PlayerSatOut, PlayerSeated, SitOutRequested
from contracts.games import TableConfig
from contracts.outcomes import Allowed, Rejected
from services.aggregate.table import Table
from services.table.buy_ins import buy_in_range, room_for, top_up_range
from services.table.hands import left, topped_up
from services.table.refusals import refuse

type Decision = tuple[AnyEvent, ...] | Rejected


def take_seat(table: Table, config: TableConfig, cause: Cause, command: TakeSeat, at: Instant) -> Decision:
    """Seats a player with chips; at a running table a newcomer owes a big blind (R21)."""
    held = table.seat_of(command.player)
    if held is not None:
        message = f"A player holds at most one seat at a table; {command.player} holds seat {held.seat}."
        return refuse(table, cause, "already_seated", message, Allowed(seats=(held.seat,)))
    free = _free(table, config)
    if not free:
        return _full(table, config, cause)
    if command.seat is not None and command.seat not in free:
        message = f"Seat {command.seat} is not free; free: {', '.join(map(str, free))}."
        return refuse(table, cause, "seat_taken", message, Allowed(seats=free))
    bounds = buy_in_range(table, config, command.player, at)
    if not bounds.holds(command.buy_in):
        message = f"The buy-in is {bounds}; {command.buy_in} is not."
        allowed = Allowed(minimum=bounds.minimum, maximum=bounds.maximum)
        return refuse(table, cause, "buy_in_out_of_range", message, allowed)
    too_much = _overfull(table, cause, command.buy_in)
    if too_much is not None:
        return too_much
    record = SeatRecord(
        seat=command.seat if command.seat is not None else free[0],
        player=command.player,
        stack=command.buy_in,
        sat=table.sittings + 1,
        owes="new" if table.hands else "none",
        choice=command.choice,
    )
    return (PlayerSeated(record=record),)


def leave_table(table: Table, cause: Cause, command: LeaveTable, at: Instant) -> Decision:
    """Between hands the player leaves at once; in a hand at its end, and folds at the next decision (R9, R120)."""
    record = _record(table, cause, command.player)
    if isinstance(record, Rejected):
        return record
    if not _in_hand(table, record.seat):
        return (left(record, at),)
    if record.leaving:
        message = f"The player leaves already, when hand {table.hands} has ended; nothing more is to be sent."
        return refuse(table, cause, "illegal_action", message, Allowed(hand=table.hands))
    return (LeaveRequested(seat=record.seat),)


def sit_out(table: Table, cause: Cause, command: SitOut) -> Decision:
    """Between hands the player sits out at once; in a hand from the next decision on (R11, R119)."""
    record = _record(table, cause, command.player)
    if isinstance(record, Rejected):
        return record
    if record.sitting_out or record.away:
        message = "The player sits out already; return_to_play ends it."
        return refuse(table, cause, "sitting_out", message, Allowed(actions=("return_to_play",)))
    if _in_hand(table, record.seat):
        return (SitOutRequested(seat=record.seat),)
    return (PlayerSatOut(seat=record.seat),)


def return_to_play(table: Table, config: TableConfig, cause: Cause, command: ReturnToPlay) -> Decision:
    """The player plays again, or chooses anew how to come in: posting what is owed, or with the big blind (R25)."""
    record = _record(table, cause, command.player)
    if isinstance(record, Rejected):
        return record
    if not (record.sitting_out or record.away):
        if record.owes == "none" or record.choice == command.choice:
            message = "The player is playing; only one who sits out returns."
            return refuse(table, cause, "not_sitting_out", message, Allowed(actions=("sit_out", "leave_table")))
        return (PostChosen(seat=record.seat, choice=command.choice),)
    if record.stack == 0 and not _in_hand(table, record.seat):
        message = f"A player without chips first tops up, by at least {config.buy_in.minimum}."
        allowed = Allowed(minimum=config.buy_in.minimum, maximum=config.buy_in.maximum)
        return refuse(table, cause, "buy_in_out_of_range", message, allowed)
    return (PlayerReturned(seat=record.seat, owes=record.owes, choice=command.choice),)


def top_up(table: Table, config: TableConfig, cause: Cause, command: TopUp) -> Decision:
    """Adds chips, for a player who is in a hand after it, as far as the maximum lets them in (R7, C07).

    At once they come in as a whole or not at all: nobody has to read in the log how much of them was taken.
    """
    record = _record(table, cause, command.player)
    if isinstance(record, Rejected):
        return record
    if command.amount == 0:
        return refuse(table, cause, "below_minimum", "A top-up adds at least one chip.", Allowed(minimum=1))
    too_much = _overfull(table, cause, command.amount)
    if too_much is not None:
        return too_much
    if _in_hand(table, record.seat):
        queued = record.top_up + command.amount
        return (TopUpQueued(seat=record.seat, amount=command.amount, queued=queued),)
    bounds = top_up_range(config, record.stack)
    if not bounds.holds(command.amount):
        message = f"To a stack of {record.stack} are added {bounds}; {command.amount} is not."
        if bounds.maximum == 0:
            message = "The stack is at the table's maximum."
        allowed = Allowed(minimum=bounds.minimum, maximum=bounds.maximum)
        return refuse(table, cause, "buy_in_out_of_range", message, allowed)
    return (topped_up(table, record, record.stack, command.amount),)


def _free(table: Table, config: TableConfig) -> tuple[Seat, ...]:
    return tuple(seat for seat in range(1, config.seats + 1) if seat not in table.seats)


def _full(table: Table, config: TableConfig, cause: Cause) -> Rejected:
    """Nobody sits down until somebody has left, by a command that is still to come or was accepted in this hand."""
    if all(record.leaving for record in table.seats.values()):
        message = f"All {config.seats} seats are held; one is free when hand {table.hands} has ended."
        return refuse(table, cause, "table_full", message, Allowed(hand=table.hands))
    message = f"All {config.seats} seats are held; take_seat is accepted after somebody's leave_table."
    return refuse(table, cause, "table_full", message, Allowed(actions=("leave_table",), hand=table.hands))


def _overfull(table: Table, cause: Cause, amount: Chips) -> Rejected | None:
    """A refusal of chips with which those of the table together would be more than an amount can be."""
    room = room_for(table)
    if amount <= room:
        return None
    message = f"All chips of a table together are {CHIPS_MAX} at most: {room} more."
    return refuse(table, cause, "buy_in_out_of_range", message, Allowed(minimum=min(1, room), maximum=room))


def _record(table: Table, cause: Cause, player: str | None) -> SeatRecord | Rejected:
    """The seat of the player whom a command is about: the sender, or whom a lobby names."""
    name = player if player is not None else cause.actor.name
    record = table.seat_of(name)
    if record is None:
        assert table.config is not None  # as for every command but the one that opens the table
        free = _free(table, table.config)
        allowed = Allowed(actions=("take_seat",) if free else (), seats=free, hand=None if free else table.hands)
        instead = f"take_seat gives one of {', '.join(map(str, free))}" if free else "none is free"
        return refuse(table, cause, "not_seated", f"{name} holds no seat at this table; {instead}.", allowed)
    return record


def _in_hand(table: Table, seat: Seat) -> bool:
    """Whether the seat was dealt in: until the hand has ended its chips are the hand's."""
    return table.hand is not None and seat in table.hand.players
