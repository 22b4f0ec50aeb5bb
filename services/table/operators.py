"""What operators do at a table between and around its hands: pause, remove a player, correct a stack (R124)."""

from contracts.commands import AdjustStack, RemovePlayer
from contracts.commit import Cause
from contracts.data import CHIPS_MAX, Instant
from contracts.events import AnyEvent
from contracts.events.seats import SeatReleased, StackAdjusted
from contracts.events.table import TablePaused, TableResumed
from contracts.outcomes import Allowed, Rejected
from services.aggregate.table import Hand, Table
from services.table.buy_ins import room_for
from services.table.hands import sat_out
from services.table.refusals import refuse
from services.table.seats import leave_seat, record_of
from services.table.taking import reservation_of
from services.table.waiting_list import no_longer_waiting

type Decision = tuple[AnyEvent, ...] | Rejected


def pause(table: Table, cause: Cause) -> Decision:
    """No further hand starts."""
    if table.status == "paused":
        message = "The table is paused already; resume_table ends it."
        return refuse(table, cause, "paused", message, Allowed(actions=("resume_table",)))
    return (TablePaused(),)


def resume(table: Table, cause: Cause) -> Decision:
    """Hands start again."""
    if table.status != "paused":
        message = "The table is not paused; only pause_table is accepted."
        return refuse(table, cause, "not_paused", message, Allowed(actions=("pause_table",)))
    return (TableResumed(),)


def remove_player(table: Table, cause: Cause, command: RemovePlayer, at: Instant) -> Decision:
    """The player leaves, in a hand as one who leaves it (R120), and has no seat kept and waits for none."""
    record = table.seat_of(command.player)
    if record is not None:
        return leave_seat(table, cause, record, at, "removed")
    events = no_longer_waiting(table, command.player)
    kept = reservation_of(table, command.player)
    if kept is not None:
        events += (SeatReleased(seat=kept.seat, player=kept.player, request=kept.number, reason="cancelled"),)
    if events:
        return events
    message = f"{command.player} holds no seat at this table, has none kept and waits for none."
    return refuse(table, cause, "not_seated", message, Allowed(hand=table.hands))


def adjust_stack(table: Table, cause: Cause, command: AdjustStack, at: Instant) -> Decision:
    """Corrects a stack between hands (R124); a player whom it leaves without chips sits out (R8)."""
    record = record_of(table, cause, command.player)
    if isinstance(record, Rejected):
        return record
    if table.hand is not None:
        message = f"Hand {table.hand.number} is in progress; pause the table and adjust the stack when it has ended."
        return refuse(table, cause, "hand_in_progress", message, until_it_ends(table, table.hand))
    room = room_for(table)
    allowed = Allowed(minimum=-record.stack, maximum=room)
    if command.amount == 0:
        message = f"An adjustment adds or takes away at least one chip: {-record.stack} to {room}, and not 0."
        return refuse(table, cause, "below_minimum", message, allowed)
    if not -record.stack <= command.amount <= room:
        message = (
            f"All chips of a table together are {CHIPS_MAX} at most: {room} more."
            if command.amount > 0
            else f"The stack is {record.stack}: no more than that is taken away."
        )
        return refuse(table, cause, "above_maximum", message, allowed)
    stack = record.stack + command.amount
    adjusted = StackAdjusted(seat=record.seat, player=record.player, amount=command.amount, stack=stack)
    if stack == 0 and not record.sitting_out:
        return adjusted, sat_out(table, record.seat, "no_chips", at)
    return (adjusted,)


def until_it_ends(table: Table, hand: Hand) -> Allowed:
    """What would be accepted instead of what waits for the end of a hand."""
    return Allowed(hand=hand.number, actions=() if table.status == "paused" else ("pause_table",))
