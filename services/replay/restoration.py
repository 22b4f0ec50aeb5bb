"""A table's log put back from an export: what belongs into it, and how it gets there, byte for byte (DESIGN 8)."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from contracts.commit import Head
from contracts.data import Id
from contracts.subjects import read_commit
from services.aggregate.fold import Verdict, read
from services.aggregate.table import Table
from services.bus.log import Conflict, InDoubt, Log
from services.bus.reading import Message
from services.replay.findings import NOT_DERIVED, Finding, exit_code
from services.replay.verification import Heads, Verification

TRIES_MAX: Final = 5
"""So often one commit is sent before the log is given up."""


class NotWhole(Exception):
    """What would be put back is not sound, or something that is known would be lost; the message says what."""


class NotTaken(Exception):
    """The log does not take the commits; the message says why, and what to do."""


class Whole(NamedTuple):
    """A whole log, checked: its messages in order, its head, and how many of them only the stream held."""

    messages: tuple[Message, ...]
    head: Head
    saved: int


def whole(room: Id, table: Id, exported: Iterable[Message], stored: Sequence[Message], heads: Heads) -> Whole:
    """The exported log, and all that the stream still holds after it. Raises `NotWhole`.

    It must be sound from its first commit on, and reach every head that is known.
    """
    verification = Verification(Table(room=room, id=table), exported=True, heads=heads)
    messages, findings = list[Message](), list[Finding]()
    for message in exported:
        findings += verification.take(message)
        messages.append(message)
    _check(findings, "the export is not sound")
    count = len(messages)
    if verification.table.n != count or count == 0:
        raise NotWhole(f"the export is no whole log of table {table}: it must begin with commit 1")
    for message in stored:
        if read(verification.table, *message).verdict is Verdict.NEXT:
            findings += verification.take(message)
            messages.append(message)
    _check(findings, "what the log holds after the export is not sound")
    findings += verification.finish()
    _check(findings, "something would be lost, give a later export")
    kept = set(messages)
    for n, message in enumerate(chain(room, table, stored), 1):
        if message not in kept:
            raise NotWhole(f"something would be lost: commit {n} of the log is another one than the export's")
    head = Head(n=verification.table.n, hash=verification.table.head)
    return Whole(tuple(messages), head, len(messages) - count)


def _check(findings: Sequence[Finding], why: str) -> None:
    if exit_code(findings) not in (0, NOT_DERIVED):
        first = next(finding for finding in findings if finding.kind != "not_derived")
        raise NotWhole(f"{why}: {first}")


def chain(room: Id, table: Id, stored: Iterable[Message]) -> list[Message]:
    """The messages of a stream that are part of the table's log, up to the first hole."""
    from_here = Verification(Table(room=room, id=table))
    found: list[Message] = []
    for message in stored:
        if read(from_here.table, *message).verdict is Verdict.NEXT:
            list(from_here.take(message))
            found.append(message)
    return found


async def put(log: Log, room: Id, table: Id, messages: Sequence[Message], expected: int) -> None:
    """Appends messages, each expecting the one before it, the first one the sequence `expected`.

    Raises `Conflict` where another message came first, `NotTaken` and `Refused` where the log takes nothing.
    """
    for subject, data in messages:
        address = read_commit(subject)
        assert address is not None  # it was read as a commit of this table
        expected = await _append(log, (room, table, address.service, address.fact), data, expected)


async def _append(log: Log, address: tuple[str, str, str, str], data: bytes, expected: int) -> int:
    room, table, service, fact = address
    for attempt in range(TRIES_MAX):
        try:
            return await log.append(room, table, service, fact, data, expected)
        except InDoubt:
            continue
        except Conflict:
            tail = await log.tail(room, table)
            if attempt > 0 and tail is not None and tail.data == data:
                return tail.sequence  # an attempt that was not answered came through
            raise
    raise NotTaken(f"the log gave no answer {TRIES_MAX} times in a row; run the same command again")
