"""Finds tables and hands in a log, live or in memory: no index is kept, and every read is anchored in the chain."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Final

import msgspec

from contracts.codec import decode_commit, digest
from contracts.commit import Commit
from contracts.data import Id
from contracts.events import fact_of
from contracts.events.table import HandStarted, TableRestated
from contracts.subjects import read_commit
from services.aggregate.fold import Verdict, read
from services.aggregate.table import Table
from services.bus.log import Log, Stored
from services.bus.outline import outline_of
from services.bus.reading import Message, Reading, Unreadable

STATEMENTS: Final = ("hand_started", "table_restated")
"""The facts from which a fold may begin."""
ANCHOR_STEPS_MAX: Final = 100
"""So many messages that are no part of the log may stand between two commits before a partial read gives up."""


class NotFound(Exception):
    """There is no such table or hand; the message says what there is."""


class Start(msgspec.Struct, frozen=True):
    """Where a read begins: the fold before its first commit, and the sequence after which to read."""

    table: Table
    after: int


async def from_the_beginning(log: Log, room: Id, table: Id) -> Start:
    """Where a table's whole log begins. Raises `NotFound`."""
    if await log.first(room, table) is None:
        raise NotFound(f"there is no table {table} in room {room}")
    return Start(Table(room=room, id=table), 0)


async def last_statements(log: Log, room: Id, tables: Sequence[Id]) -> dict[Id, list[Stored]]:
    """The last statements of each kind of many tables, by table: a request for some hundreds instead of two for each.

    They may lag: a fold that begins at an earlier one is the same, only longer.
    """
    found: dict[Id, list[Stored]] = {table: [] for table in tables}
    for fact in STATEMENTS:
        for stored in await log.last_of_each(room, tables, "table", fact):
            address = read_commit(stored.subject)
            if address is not None:
                found[address.table].append(stored)
    return found


async def from_last_statement(log: Log, room: Id, table: Id) -> Start:
    """The latest point from which the fold gives a table's state of now. Raises `NotFound`."""
    found = [stored for fact in STATEMENTS if (stored := await log.last_of(room, table, "table", fact)) is not None]
    return await from_statement(log, room, table, found)


async def from_statement(log: Log, room: Id, table: Id, found: Iterable[Stored]) -> Start:
    """The latest of these statements that extends the chain, else the table's beginning. Raises `NotFound`."""
    for statement in sorted(found, key=lambda stored: stored.sequence, reverse=True):
        start = await _anchored(log, room, table, statement)
        if start is not None:
            return start
    return await from_the_beginning(log, room, table)


async def from_hand(log: Log, room: Id, table: Id, hand: int) -> Start:
    """Where a hand begins. Raises `NotFound`."""
    last = await log.last_of(room, table, "table", "hand_started")
    if last is None:
        await from_the_beginning(log, room, table)
        raise NotFound(f"table {table} has played no hand yet")
    found = await _search(log, room, table, hand, last)
    start = await _anchored(log, room, table, found) if found is not None else None
    if start is not None:
        return start
    # Messages that are no part of the log can mislead the search; the chain from the beginning cannot be misled.
    return await _from_hand_by_fold(log, room, table, hand)


async def from_commit(log: Log, room: Id, table: Id, n: int) -> Start:
    """The latest statement at or before commit `n`; the fold from there passes `n`. Raises `NotFound`."""
    low, found = 1, None
    last = await log.last_of(room, table, "table", "hand_started")
    high = last.sequence if last is not None else 0
    while low <= high:
        middle = (low + high) // 2
        statement = await log.next_of(room, table, "table", "hand_started", middle)
        outline = outline_of(statement.data) if statement is not None else None
        if statement is None or outline is None:
            break
        if outline.n <= n:
            low, found = statement.sequence + 1, statement
        else:
            high = middle - 1
    start = await _anchored(log, room, table, found) if found is not None else None
    return start if start is not None else await from_the_beginning(log, room, table)


async def last_hand(log: Log, room: Id, table: Id) -> int:
    """The number of the last hand started, 0 before the first. Raises `NotFound`."""
    reading = await folded(log, await from_last_statement(log, room, table))
    return reading.table.hands


async def messages(log: Log, start: Start) -> AsyncIterator[Message]:
    """The messages of a table from `start` to the tail."""
    async for stored in log.read(start.table.room, start.table.id, start.after):
        yield stored.subject, stored.data


async def commits(log: Log, start: Start, hand: int | None = None) -> AsyncIterator[tuple[Commit, bytes]]:
    """The log from `start` to the tail, or to the end of `hand`: each commit with its bytes.

    A hand's commits are those that carry its number: also what happens between it and the next one.
    """
    reading = Reading(start.table.copy())
    async for message in messages(log, start):
        commit = reading.next_of(message)
        if commit is None:
            continue
        if hand is not None and commit.hand != hand:
            return
        reading.fold(commit, message[1])
        yield commit, message[1]


async def folded(log: Log, start: Start) -> Reading:
    """The fold from `start` to the tail. Raises `Unreadable`."""
    reading = Reading(start.table.copy())
    async for message in messages(log, start):
        reading.take(message)
    return reading


async def _search(log: Log, room: Id, table: Id, hand: int, last: Stored) -> Stored | None:
    """Binary search over the sequences: the message after each guess tells which hand comes next there."""
    low, high = 1, last.sequence
    while low <= high:
        middle = (low + high) // 2
        found = await log.next_of(room, table, "table", "hand_started", middle)
        number = _hand_of(found)
        if found is None or number is None:
            return None
        if number == hand:
            return found
        if number < hand:
            low = found.sequence + 1
        else:
            high = middle - 1
    return None


def _hand_of(stored: Stored | None) -> int | None:
    try:
        return decode_commit(stored.data).hand if stored is not None else None
    except msgspec.MsgspecError:
        return None


async def _anchored(log: Log, room: Id, table: Id, statement: Stored) -> Start | None:
    """The start at a statement that extends a commit before it; None where it does not.

    A second copy of an old statement does not: another message follows that commit already.
    """
    try:
        commit = decode_commit(statement.data)
    except msgspec.MsgspecError:
        return None
    sequence = statement.sequence
    for _ in range(ANCHOR_STEPS_MAX):
        before = await log.before(room, table, sequence)
        if before is None:
            break
        if digest(before.data) == commit.prev:
            return _start(room, before, commit, statement)
        outline = outline_of(before.data)
        if outline is not None and outline.prev == commit.prev:
            break
        sequence = before.sequence
    return None


def _start(room: Id, before: Stored, commit: Commit, statement: Stored) -> Start | None:
    try:
        previous = decode_commit(before.data)
    except msgspec.MsgspecError:
        return None
    anchor = Table(room=room, id=commit.table, n=previous.n, head=commit.prev, at=previous.at)
    fits = read(anchor, statement.subject, statement.data).verdict is Verdict.NEXT
    return Start(anchor, statement.sequence - 1) if fits and is_statement(commit) else None


def is_statement(commit: Commit) -> bool:
    """Whether a fold may begin with this commit."""
    return isinstance(commit.events[0], HandStarted | TableRestated)


async def _from_hand_by_fold(log: Log, room: Id, table: Id, hand: int) -> Start:
    reading = Reading.of(room, table)
    async for stored in log.read(room, table):
        commit = reading.next_of((stored.subject, stored.data))
        if commit is None:
            continue
        if commit.hand == hand and fact_of(commit.events[0]) == "hand_started":
            return Start(reading.table, stored.sequence - 1)
        reading.fold(commit, stored.data)
    raise NotFound(f"table {table} has no hand {hand}: it has played {reading.table.hands}")


__all__ = [
    "NotFound",
    "Start",
    "Unreadable",
    "commits",
    "folded",
    "from_commit",
    "from_hand",
    "from_last_statement",
    "from_statement",
    "from_the_beginning",
    "is_statement",
    "last_hand",
    "last_statements",
    "messages",
]
