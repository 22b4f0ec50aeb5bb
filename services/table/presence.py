"""Who is connected, and the time that a disconnected player gets (R118): the lobby sees it, the table keeps it."""

from contracts.commands import Connected, Disconnected
from contracts.commit import Cause
from contracts.data import Instant
from contracts.events import AnyEvent
from contracts.events.seats import PresenceChanged
from contracts.events.table import TurnExtended
from contracts.games import TableConfig
from contracts.outcomes import Allowed, Rejected
from services.aggregate.debts import debt
from services.aggregate.draft import Draft
from services.aggregate.table import Hand, Table
from services.table.refusals import refuse


def presence(table: Table, cause: Cause, command: Connected | Disconnected) -> tuple[AnyEvent, ...] | Rejected:
    """A seated player is connected, or is not any more."""
    record, now = table.seat_of(command.player), isinstance(command, Connected)
    if record is None:
        message = f"{command.player} holds no seat at this table; only of seated players is it kept who is connected."
        return refuse(table, cause, "not_seated", message, Allowed(seats=tuple(sorted(table.seats)), hand=table.hands))
    if record.connected != now:
        return (PresenceChanged(seat=record.seat, connected=now),)
    if now:
        message = f"{command.player} is connected already; only disconnected is accepted."
        return refuse(table, cause, "already_connected", message, Allowed(actions=("disconnected",)))
    message = f"{command.player} is disconnected already; only connected is accepted."
    return refuse(table, cause, "already_disconnected", message, Allowed(actions=("connected",)))


def extend_turn(config: TableConfig, hand: Hand) -> tuple[AnyEvent, ...]:
    """The open turn of a disconnected player lasts longer, once a decision."""
    turn = hand.open_turn
    return () if turn is None else (TurnExtended(seat=turn.seat, extra_ms=config.options.disconnect_ms),)


def with_extension(table: Table, events: tuple[AnyEvent, ...], at: Instant) -> tuple[AnyEvent, ...]:
    """The events of a commit, and the extension of the turn if that is what the table owes at once after them.

    Turns that the dealer opens are extended in a commit of their own.
    """
    config = table.config
    if config is None or config.options.disconnect_ms == 0 or table.hand is None:
        return events
    if all(record.connected for record in table.seats.values()) and not isinstance(events[0], PresenceChanged):
        return events
    draft = Draft(table, at)
    for event in events:
        draft.emit(event)
    owed, hand = debt(draft.table), draft.table.hand
    if owed is None or owed.duty != "extend_turn" or hand is None:
        return events
    return *events, *extend_turn(config, hand)
