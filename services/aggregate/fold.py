"""From stored messages to a table's state: which of them are part of the log (the chain), and the fold over them."""

from enum import Enum
from typing import Final, Literal

import msgspec

from contracts.codec import decode_by, decode_commit, digest, encode
from contracts.commands import Act
from contracts.commit import COMMIT_VERSION, Cause, Commit
from contracts.data import Instant
from contracts.events import SERVICES, AnyEvent, Service, emitter_of, fact_of
from contracts.events.state import Acceptance
from contracts.events.table import CommandRefused, HandStarted
from contracts.subjects import read_commit
from services.aggregate.evolve import evolve, replace
from services.aggregate.movements import is_for_the_cashier
from services.aggregate.table import Table


class Verdict(Enum):
    """What a stored message is to a log that has been read up to some commit (DESIGN 1)."""

    NEXT = "next"
    IGNORED = "ignored"
    GAP = "gap"
    UNREADABLE = "unreadable"


type Stray = Literal["not_a_commit", "of_another", "unchained", "misplaced"]
"""Of which kind a message is that is no part of a log: not readable, of another table or ledger, not the next of the
chain, or with a subject, an emitter and events that do not belong together."""


class Reading(msgspec.Struct, frozen=True):
    """A verdict on a stored message, its commit where it could be read, and why it does not follow.

    `stray`: of which kind an ignored one is.
    """

    verdict: Verdict
    commit: Commit | None = None
    reason: str = ""
    stray: Stray | None = None


class _Outline(msgspec.Struct):
    """The part of a commit that every release can read: enough to see whether it extends the chain."""

    table: str
    n: int
    prev: str
    by: str


_outlines = msgspec.json.Decoder(_Outline)

UNFOLDABLE: Final = (LookupError, AttributeError, TypeError, ValueError)
"""What `fold` and `debt` raise where a commit cannot follow on the state before it (R145)."""


def read(table: Table, subject: str, data: bytes) -> Reading:
    """Judges one stored message against the table's chain; never raises.

    NEXT: the commit extends the chain. IGNORED: it is not part of the log. GAP: commits between are missing.
    UNREADABLE: it extends the chain, and this release cannot read it: nothing may fold past it.
    """
    try:
        commit = decode_commit(data)
    except msgspec.MsgspecError as error:
        return _read_outline(table, subject, data, error)
    stray = _stray(table, subject, commit)
    if stray is not None:
        return stray
    for event in commit.events:
        if emitter_of(event) != commit.by:
            return _ignored("misplaced", f"{commit.by} may not emit {fact_of(event)}")
    if not subject.endswith(f".{fact_of(commit.events[-1])}"):
        return _ignored("misplaced", f"subject {subject} does not name the last event")
    if commit.n > table.n + 1:
        return Reading(Verdict.GAP, commit, reason=f"commit {commit.n} where {table.n + 1} is due")
    return Reading(Verdict.NEXT, commit)


def _read_outline(table: Table, subject: str, data: bytes, error: msgspec.MsgspecError) -> Reading:
    """What cannot be read as a commit: a commit all the same if its outline extends the chain."""
    try:
        outline = decode_by(_outlines, data)
    except msgspec.MsgspecError as no_outline:
        return _ignored("not_a_commit", f"not a commit: {no_outline}")
    stray = _stray(table, subject, outline)
    if stray is not None:
        return stray
    return Reading(Verdict.UNREADABLE, reason=f"commit {outline.n} cannot be read: {error}")


def _stray(table: Table, subject: str, commit: Commit | _Outline) -> Reading | None:
    """Why a message is no part of the table's log: it does not extend the chain, or its subject is another's."""
    if commit.table != table.id:
        return _ignored("of_another", f"commit of table {commit.table}")
    if commit.n <= table.n or (commit.n == table.n + 1 and commit.prev != table.head):
        return _ignored("unchained", f"commit {commit.n} does not extend commit {table.n}")
    address = read_commit(subject)
    if address is None or address.table != table.id or address.service != commit.by or commit.by not in SERVICES:
        return _ignored("misplaced", f"subject {subject} is not that of a commit by {commit.by}")
    return None


def _ignored(stray: Stray, reason: str) -> Reading:
    return Reading(Verdict.IGNORED, reason=reason, stray=stray)


def fold(table: Table, commit: Commit, data: bytes) -> Table:
    """Folds a commit that `read` found to be the next, whose stored bytes are `data`, into the table.

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
        digest=command_digest(cause),
        hand=command.hand,
        n=table.n,
        head=table.head,
        at=None if isinstance(command, Act) else table.at,
    )
    if isinstance(event, CommandRefused):
        answered = replace(answered, refused=event.code, message=event.message, allowed=event.allowed)
    table.accepted[actor.kind, actor.name, command.id] = answered


def command_digest(cause: Cause) -> str:
    """What tells two commands with the same id apart: half of the SHA-256 of the command's canonical bytes."""
    return digest(encode(cause.command))[:32]


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
