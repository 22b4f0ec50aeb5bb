"""The fold of a table's log: its state after each commit, and the commit that comes next."""

from typing import Final

from contracts.codec import command_digest, digest
from contracts.commands import Act, AnyCommand, Connected, Disconnected
from contracts.commit import COMMIT_VERSION, Cause, Commit
from contracts.data import Instant
from contracts.events import AnyEvent, Service
from contracts.events.state import Acceptance
from contracts.events.table import CommandRefused, HandStarted
from services.aggregate.chain import UNFOLDABLE
from services.aggregate.evolve import evolve, replace
from services.aggregate.movements import is_for_the_cashier
from services.aggregate.table import Table

PRESENCE_PASSES_FROM_RULES: Final = 3
"""From these rules on a command that says who is connected is known for two hands, as an act is."""


def fold(table: Table, commit: Commit, data: bytes) -> Table:
    """Folds a commit that `read_table` found to be the next, whose stored bytes are `data`, into the table.

    All or nothing: raises one of `UNFOLDABLE` where an event cannot follow, and the table is as it was. Gives a copy
    of the table as it was, for `Table.become`.
    """
    before = table.copy()
    try:
        table.n, table.head, table.at = commit.n, digest(data), commit.at
        for event in commit.events:
            evolve(table, event)
        if is_for_the_cashier(table, commit):
            table.moved = commit.n
    except UNFOLDABLE:
        table.become(before)
        raise
    if commit.cause is not None:
        _remember(table, commit.cause, commit.events[0])
    return before


def _remember(table: Table, cause: Cause, event: AnyEvent) -> None:
    actor, command = cause.actor, cause.command
    answered = Acceptance(
        actor=actor,
        id=command.id,
        digest=command_digest(command),
        hand=command.hand,
        n=table.n,
        head=table.head,
        at=table.at if _lasts(table, command) else None,
    )
    if isinstance(event, CommandRefused):
        answered = replace(answered, refused=event.code, message=event.message, allowed=event.allowed)
    table.accepted[actor.kind, actor.name, command.id] = answered


def _lasts(table: Table, command: AnyCommand) -> bool:
    """Whether a command may come again some hands later: an act is stale by then, and from rules 3 on presence is."""
    if isinstance(command, Connected | Disconnected):
        return table.config is not None and table.config.options.rules < PRESENCE_PASSES_FROM_RULES
    return not isinstance(command, Act)


def commit_of(
    table: Table, by: Service, events: tuple[AnyEvent, ...], at: Instant, cause: Cause | None = None
) -> Commit:
    """The commit with which a service appends its events to the table's log, as it stands now."""
    first = events[0]  # `hand_started` is the only event of its commit
    started = first.number if isinstance(first, HandStarted) else table.hands
    return Commit(
        v=COMMIT_VERSION,
        table=table.id,
        n=table.n + 1,
        hand=started,
        by=by,
        at=at if table.at is None else max(at, table.at),
        prev=table.head,
        events=events,
        cause=cause,
    )
