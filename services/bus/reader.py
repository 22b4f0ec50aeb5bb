"""Reads logs, live or in memory, and finds hands in them: no index is kept, and every read is anchored in the chain.

A table restates itself with every hand, so that a fold may begin there; a ledger is read from its first message, and so
is a table in whose log messages lie that are no part of it.
"""

from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from typing import Final

import msgspec

from contracts.codec import decode_commit, digest
from contracts.commit import Commit
from contracts.data import Id, Instant
from contracts.events import fact_of
from contracts.subjects import read_commit
from services.aggregate.chain import Chained, State, Verdict
from services.aggregate.table import Table
from services.bus.aggregates import TABLES, Kind
from services.bus.counting import holds_strays
from services.bus.log import Log, Stored
from services.bus.outline import outline_of
from services.bus.reading import Message, Reading

HAND_STARTED: Final = ("table", "hand_started")
ANCHOR_STEPS_MAX: Final = 100
"""So many messages that are no part of the log may stand between two commits before a partial read gives up."""


class NotFound(Exception):
    """There is no such table, ledger or hand; the message says what there is."""


class Start[S: State, C: Chained](msgspec.Struct, frozen=True):
    """Where a read begins: the fold before its first commit, and the sequence after which to read."""

    of: Kind[S, C]
    state: S
    after: int


TableStart = Start[Table, Commit]


async def from_the_beginning[S: State, C: Chained](of: Kind[S, C], log: Log, room: Id, name: Id) -> Start[S, C]:
    """Where the whole log of a table or ledger begins. Raises `NotFound`."""
    if await log.first(room, name) is None:
        raise NotFound(f"there is no {of.name} {name} in room {room}")
    return Start(of, of.new(room, name), 0)


async def last_statements[S: State, C: Chained](
    of: Kind[S, C], log: Log, room: Id, names: Sequence[Id]
) -> dict[Id, list[Stored]]:
    """The last statements of each kind of many tables, by table: a request for some hundreds instead of two for each.

    They may lag: a fold that begins at an earlier one is the same, only longer.
    """
    found: dict[Id, list[Stored]] = {name: [] for name in names}
    for service, fact in of.statements:
        for stored in await log.last_of_each(room, names, service, fact):
            address = read_commit(stored.subject, of.archive.roots)
            if address is not None:
                found[address.table].append(stored)
    return found


async def from_last_statement[S: State, C: Chained](of: Kind[S, C], log: Log, room: Id, name: Id) -> Start[S, C]:
    """The latest point from which the fold gives the state of now. Raises `NotFound`."""
    last = [await log.last_of(room, name, service, fact) for service, fact in of.statements]
    if await holds_strays(log, room, name):
        return await from_the_beginning(of, log, room, name)
    return await from_statement(of, log, room, name, [stored for stored in last if stored is not None])


async def from_statement[S: State, C: Chained](
    of: Kind[S, C], log: Log, room: Id, name: Id, found: Iterable[Stored]
) -> Start[S, C]:
    """The latest of these statements that extends the chain, else the log's beginning. Raises `NotFound`.

    In a log that holds strays it may be a copy: whoever reads on from it has to come as far as the log has messages.
    """
    for statement in sorted(found, key=lambda stored: stored.sequence, reverse=True):
        start = await _anchored(of, log, room, name, statement)
        if start is not None:
            return start
    return await from_the_beginning(of, log, room, name)


async def from_commit[S: State, C: Chained](of: Kind[S, C], log: Log, room: Id, name: Id, n: int) -> Start[S, C]:
    """The latest of the most frequent statements at or before commit `n`, else the beginning; the fold passes `n`.

    Raises `NotFound`.
    """

    def is_before(data: bytes) -> bool | None:
        outline = outline_of(data)
        return None if outline is None else outline.n <= n

    return await _from_latest(of, log, room, name, is_before)


async def from_moment(log: Log, room: Id, table: Id, at: Instant) -> TableStart:
    """The latest hand that began at or before `at`, else the beginning; what came later is in the fold from there.

    Raises `NotFound`.
    """

    def is_before(data: bytes) -> bool | None:
        try:
            return decode_commit(data).at <= at
        except msgspec.MsgspecError:
            return None

    return await _from_latest(TABLES, log, room, table, is_before)


async def _from_latest[S: State, C: Chained](
    of: Kind[S, C], log: Log, room: Id, name: Id, is_before: Callable[[bytes], bool | None]
) -> Start[S, C]:
    """The latest of the most frequent statements that `is_before` allows, if it tells of each that it is shown."""
    for service, fact in of.statements[:1]:
        found = await _latest(log, room, name, is_before, service, fact)
        start = await _certain(of, log, room, name, found)
        if start is not None:
            return start
    return await from_the_beginning(of, log, room, name)


async def _latest(
    log: Log, room: Id, name: Id, is_before: Callable[[bytes], bool | None], service: str, fact: str
) -> Stored | None:
    """Binary search over the sequences, in the order of which `is_before` turns from true to false."""
    low, found = 1, None
    high = await _bound(log, room, name, service, fact)
    while low <= high:
        middle = (low + high) // 2
        statement = await log.next_of(room, name, service, fact, middle)
        before = is_before(statement.data) if statement is not None else False
        if statement is None or before is False:
            high = middle - 1
        elif before:
            low, found = statement.sequence + 1, statement
        else:
            break
    return found


async def messages[S: State, C: Chained](log: Log, start: Start[S, C]) -> AsyncIterator[Message]:
    """The messages from `start` to the tail."""
    async for stored in log.read(start.state.room, start.state.id, start.after):
        yield stored.subject, stored.data


async def folded[S: State, C: Chained](log: Log, start: Start[S, C]) -> Reading[S, C]:
    """The fold from `start` to the tail. Raises `Unreadable`."""
    reading = Reading(start.of, start.state.copy())
    async for message in messages(log, start):
        reading.take(message)
    return reading


async def from_hand(log: Log, room: Id, table: Id, hand: int) -> TableStart:
    """Where a hand begins. Raises `NotFound`, or `Unreadable` where the log has a hole before it."""
    start = await _certain(TABLES, log, room, table, await _search(log, room, table, hand))
    if start is not None:
        return start
    # Messages that are no part of the log can mislead the search; the chain from the beginning cannot be misled.
    return await _from_hand_by_fold(log, room, table, hand)


async def last_hand(log: Log, room: Id, table: Id) -> int:
    """The number of the last hand started, 0 before the first. Raises `NotFound`."""
    reading = await folded(log, await from_last_statement(TABLES, log, room, table))
    return reading.state.hands


async def commits(log: Log, start: TableStart, hand: int | None = None) -> AsyncIterator[tuple[Commit, bytes]]:
    """The log from `start` to the tail, or to the end of `hand`: each commit with its bytes.

    A hand's commits are those that carry its number: also what happens between it and the next one.
    """
    reading = Reading(TABLES, start.state.copy())
    async for message in messages(log, start):
        commit = reading.next_of(message)
        if commit is None:
            continue
        if hand is not None and commit.hand != hand:
            return
        reading.fold(commit, message[1])
        yield commit, message[1]


async def _search(log: Log, room: Id, table: Id, hand: int) -> Stored | None:
    """Binary search over the sequences: the message after each guess tells which hand comes next there."""
    low, high = 1, await _bound(log, room, table, *HAND_STARTED)
    while low <= high:
        middle = (low + high) // 2
        found = await log.next_of(room, table, *HAND_STARTED, middle)
        if found is None:
            high = middle - 1
            continue
        number = _hand_of(found)
        if number is None:
            return None
        if number == hand:
            return found
        if number < hand:
            low = found.sequence + 1
        else:
            high = middle - 1
    return None


async def _bound(log: Log, room: Id, name: Id, service: str, fact: str) -> int:
    """A sequence after which nothing of one kind can be read: that of the last message of the kind, 0 if there is none.

    Of a damaged one the server says that there is none: the others are before it.
    """
    last = await log.last_of(room, name, service, fact)
    if last is not None:
        return last.sequence
    bound = 0
    while (found := await log.next_of(room, name, service, fact, bound + 1)) is not None:
        bound = 2 * found.sequence
    return bound


def _hand_of(stored: Stored) -> int | None:
    try:
        return decode_commit(stored.data).hand
    except msgspec.MsgspecError:
        return None


async def _certain[S: State, C: Chained](
    of: Kind[S, C], log: Log, room: Id, name: Id, found: Stored | None
) -> Start[S, C] | None:
    """The start at a statement that extends the chain, in a log that holds nothing else."""
    if found is None or await holds_strays(log, room, name):
        return None
    return await _anchored(of, log, room, name, found)


async def _anchored[S: State, C: Chained](
    of: Kind[S, C], log: Log, room: Id, name: Id, statement: Stored
) -> Start[S, C] | None:
    """The start at a statement that extends a commit before it; None where it does not.

    A second copy of an old statement does not: another message follows that commit already. One of a run of copies
    does: that it is one can only be counted.
    """
    try:
        commit = of.decode(statement.data)
    except msgspec.MsgspecError:
        return None
    sequence = statement.sequence
    for _ in range(ANCHOR_STEPS_MAX):
        before = await log.before(room, name, sequence)
        if before is None:
            break
        if digest(before.data) == commit.prev:
            return _start(of, of.new(room, name), before, commit, statement)
        outline = outline_of(before.data)
        if outline is not None and outline.prev == commit.prev:
            break
        sequence = before.sequence
    return None


def _start[S: State, C: Chained](
    of: Kind[S, C], anchor: S, before: Stored, commit: C, statement: Stored
) -> Start[S, C] | None:
    try:
        previous = of.decode(before.data)
    except msgspec.MsgspecError:
        return None
    anchor.n, anchor.head, anchor.at = previous.n, commit.prev, previous.at
    fits = of.read(anchor, statement.subject, statement.data).verdict is Verdict.NEXT
    return Start(of, anchor, statement.sequence - 1) if fits and of.is_statement(commit) else None


async def _from_hand_by_fold(log: Log, room: Id, table: Id, hand: int) -> TableStart:
    start = await from_the_beginning(TABLES, log, room, table)
    reading = Reading(TABLES, start.state)
    async for stored in log.read(room, table):
        commit = reading.next_of((stored.subject, stored.data))
        if commit is None:
            continue
        if commit.hand == hand and fact_of(commit.events[0]) == "hand_started":
            return Start(TABLES, reading.state, stored.sequence - 1)
        reading.fold(commit, stored.data)
    if not reading.state.hands:
        raise NotFound(f"table {table} has played no hand yet")
    raise NotFound(f"table {table} has no hand {hand}: it has played {reading.state.hands}")
