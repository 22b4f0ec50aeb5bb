"""A table's log put back from an export: what belongs into it, and how it gets there, byte for byte (DESIGN 8)."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from contracts.codec import digest
from contracts.commit import GENESIS, Head
from contracts.data import Id
from contracts.subjects import read_commit
from services.aggregate.chain import Verdict, read_table
from services.aggregate.table import Table
from services.bus.log import Conflict, InDoubt, Log
from services.bus.outline import outline_of
from services.bus.reading import Message
from services.replay.findings import NOT_DERIVED, UNREADABLE, Finding, exit_code
from services.replay.verification import Heads, Verification

TRIES_MAX: Final = 5
"""So often one commit is sent before the log is given up."""


class NotWhole(Exception):
    """What would be put back is not sound, or something that is known would be lost; the message says what."""


class NotReadable(NotWhole):
    """What would be put back is no log, or none that this release can read; the message says where."""


class NotTaken(Exception):
    """The log does not take the commits; the message says why, and what to do."""


class Whole(NamedTuple):
    """A whole log, checked: its messages in order, its head, and how many of them only the stream held."""

    messages: tuple[Message, ...]
    head: Head
    saved: int


def whole(room: Id, table: Id, exported: Iterable[Message], stored: Sequence[Message], heads: Heads) -> Whole:
    """The exported log, and all that the stream still holds after it. Raises `NotWhole`, of the export `NotReadable`.

    It must be sound from its first commit on, and reach every head that is known.
    """
    verification = Verification(Table(room=room, id=table), exported=True, heads=heads)
    messages, findings = list[Message](), list[Finding]()
    for message in exported:
        findings += verification.take(message)
        messages.append(message)
    if exit_code(findings) == UNREADABLE:
        raise NotReadable(f"the export cannot be read: {_first(findings)}")
    _check(findings, "the export is not sound")
    count = len(messages)
    if verification.table.n != count or count == 0:
        raise NotWhole(f"the export is no whole log of table {table}: it must begin with commit 1")
    for message in stored:
        if read_table(verification.table, *message).verdict is Verdict.NEXT:
            findings += verification.take(message)
            messages.append(message)
    _check(findings, "what the log holds after the export is not sound")
    findings += verification.finish()
    _check(findings, "something would be lost, give a later export")
    for n in _rivals(room, table, messages, stored):
        raise NotWhole(f"something would be lost: commit {n} of the log is another one than the export's")
    head = Head(n=verification.table.n, hash=verification.table.head)
    return Whole(tuple(messages), head, len(messages) - count)


def _rivals(room: Id, table: Id, whole: Sequence[Message], stored: Sequence[Message]) -> Iterator[int]:
    """The commits of a stream that follow on a commit of the whole log, and have another in their place there.

    The stream may have holes. What came after the commit in whose place it would stand is no part of the log.
    """
    numbers = {digest(data): n for n, (_, data) in enumerate(whole, 1)}
    passed = set[int]()
    for subject, data in stored:
        if (n := numbers.get(digest(data))) is not None:
            passed.add(n)
            continue
        outline = outline_of(data)
        if outline is None or outline.n in passed or numbers.get(outline.prev, 0) != outline.n - 1:
            continue
        before = Table(room=room, id=table, n=outline.n - 1, head=outline.prev if outline.n > 1 else GENESIS)
        if read_table(before, subject, data).verdict in (Verdict.NEXT, Verdict.UNREADABLE):
            yield outline.n


def _check(findings: Sequence[Finding], why: str) -> None:
    if exit_code(findings) not in (0, NOT_DERIVED):
        raise NotWhole(f"{why}: {_first(findings)}")


def _first(findings: Sequence[Finding]) -> Finding:
    return next(finding for finding in findings if finding.kind != "not_derived")


def chain(room: Id, table: Id, stored: Iterable[Message]) -> list[Message]:
    """The messages of a stream that are part of the table's log, up to the first hole."""
    from_here = Verification(Table(room=room, id=table))
    found: list[Message] = []
    for message in stored:
        if read_table(from_here.table, *message).verdict is Verdict.NEXT:
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
