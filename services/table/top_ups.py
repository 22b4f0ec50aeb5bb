"""Chips that are added to a stack: at once, after the hand, or when the cashier has moved them (R7, R8)."""

from typing import Final

from contracts.commands import TopUp
from contracts.commit import Cause
from contracts.data import Instant
from contracts.events import AnyEvent
from contracts.events.seats import TopUpQueued, TopUpReleased, TopUpRequested
from contracts.events.state import SeatRecord
from contracts.games import TableConfig
from contracts.lasting import later
from contracts.outcomes import Allowed, Rejected
from services.aggregate.table import Table
from services.table.buy_ins import overfull, top_up_range
from services.table.hands import topped_up
from services.table.refusals import refuse
from services.table.seats import in_hand, record_of

RULES_WITH_FULL_STACKS: Final = 2
"""The rules from which on a full stack is told that nothing can be added; older logs name the range 0 to 0."""

type Decision = tuple[AnyEvent, ...] | Rejected


def top_up(table: Table, config: TableConfig, cause: Cause, command: TopUp, at: Instant) -> Decision:
    """Adds chips, for a player who is in a hand after it, as far as the maximum lets them in (R7, C07).

    At once they come in as a whole or not at all: nobody has to read in the log how much of them was taken. Where the
    chips are the cashier's, it is asked for them first.
    """
    record = record_of(table, cause, command.player)
    if isinstance(record, Rejected):
        return record
    if command.amount == 0:
        return refuse(table, cause, "below_minimum", "A top-up adds at least one chip.", Allowed(minimum=1))
    refusal = _refused(table, config, cause, command, record)
    if refusal is not None:
        return refusal
    if config.bankroll == "cashier":
        return (
            TopUpRequested(
                seat=record.seat,
                player=record.player,
                request=table.n + 1,
                amount=command.amount,
                expires=later(at, config.options.reserve_ms),
            ),
        )
    if in_hand(table, record.seat):
        return (queued(record, command.amount),)
    return (topped_up(config, record, record.stack, command.amount),)


def expired(table: Table, at: Instant) -> tuple[TopUpReleased, ...]:
    """The top-ups that the cashier has not answered in time: what it may have paid for them goes back."""
    return tuple(
        TopUpReleased(seat=record.seat, player=record.player, request=record.request, reason="expired")
        for record in table.seats.values()
        if record.request is not None and record.request_expires is not None and record.request_expires <= at
    )


def queued(record: SeatRecord, amount: int, request: int | None = None) -> TopUpQueued:
    """Chips that wait for the end of the hand, with those that wait already."""
    return TopUpQueued(seat=record.seat, amount=amount, queued=record.top_up + amount, request=request)


def _refused(table: Table, config: TableConfig, cause: Cause, command: TopUp, record: SeatRecord) -> Rejected | None:
    if config.bankroll == "cashier" and record.request is not None:
        message = (
            f"A top-up of {record.requested} is with the cashier; the next waits until that is answered or expires."
        )
        return refuse(table, cause, "illegal_action", message, Allowed(number=record.request, hand=table.hands))
    if config.bankroll == "cashier" and record.leaving:
        message = f"The player leaves when hand {table.hands} has ended, and cannot add chips any more."
        return refuse(table, cause, "illegal_action", message, Allowed(hand=table.hands))
    too_much = overfull(table, cause, command.amount)
    if too_much is not None or in_hand(table, record.seat):
        return too_much
    bounds = top_up_range(config, record.stack)
    if bounds.holds(command.amount):
        return None
    message = f"To a stack of {record.stack} are added {bounds}; {command.amount} is not."
    if bounds.maximum == 0 and config.options.rules >= RULES_WITH_FULL_STACKS:
        message = "The stack is at the table's maximum: no top-up is accepted now."
        return refuse(table, cause, "buy_in_out_of_range", message, Allowed(hand=table.hands))
    if bounds.maximum == 0:
        message = "The stack is at the table's maximum."
    return refuse(table, cause, "buy_in_out_of_range", message, Allowed(minimum=bounds.minimum, maximum=bounds.maximum))
