"""How a table ends and a seat is lost: closed by an operator, broken for want of players, sat out too long (R11)."""

from typing import Literal

from contracts.commit import Cause
from contracts.data import Instant
from contracts.events import AnyEvent
from contracts.events.seats import SeatReleased, WaitingListChanged
from contracts.events.table import TableClosed
from contracts.games import TableConfig
from contracts.outcomes import Rejected
from services.aggregate.debts import loses_seat
from services.aggregate.table import Table
from services.table.hands import DepartureReason, departs
from services.table.operators import until_it_ends
from services.table.refusals import refuse

RULES_WITH_REASONS = 2
"""From these rules on the log says why a player left a table that closed."""


def close(table: Table, config: TableConfig, cause: Cause, at: Instant) -> tuple[AnyEvent, ...] | Rejected:
    """Pays everybody out and closes the table, between hands."""
    if table.hand is not None:
        message = f"Hand {table.hand.number} is in progress; pause the table and close it when the hand has ended."
        return refuse(table, cause, "hand_in_progress", message, until_it_ends(table, table.hand))
    return _closed(table, config, at, "asked")


def break_up(table: Table, config: TableConfig, at: Instant) -> tuple[AnyEvent, ...]:
    """The same for a table at which too few have played for too long."""
    return _closed(table, config, at, "broken")


def vacate(table: Table, config: TableConfig, at: Instant) -> tuple[AnyEvent, ...]:
    """Who sat out too long loses the seat and is paid out (R11)."""
    events: list[AnyEvent] = []
    for record in table.seats.values():
        lost = loses_seat(config.options, record)
        if lost is not None and lost <= at:
            events.extend(departs(record, at, "sat_out"))
    return tuple(events)


def _closed(table: Table, config: TableConfig, at: Instant, why: Literal["asked", "broken"]) -> tuple[AnyEvent, ...]:
    """Open requests are given up first, so that nobody is seated at a table that is no more."""
    says_why = why == "broken" or config.bankroll == "cashier" or config.options.rules >= RULES_WITH_REASONS
    reason: DepartureReason = "table_closed" if says_why else "asked"
    events: list[AnyEvent] = [
        SeatReleased(seat=kept.seat, player=kept.player, request=kept.number, reason="table_closed")
        for kept in table.reservations.values()
    ]
    if table.waiting:
        events.append(WaitingListChanged(players=()))
    for record in table.seats.values():
        events.extend(departs(record, at, reason))
    return *events, TableClosed(reason=why)
