"""Keeping a room's tables up to the tail of their logs."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import structlog

from contracts.codec import encode
from contracts.commit import Head
from contracts.events import AnyEvent, fact_of
from contracts.events.cashier import AccountOpened, LedgerEvent, LedgerOpened, entry_of
from contracts.events.table import TableOpened, TablePaused
from contracts.ledger import HOUSE
from services.aggregate import ledger_fold
from services.aggregate.fold import commit_of, fold
from services.aggregate.ledger import Ledger
from services.aggregate.table import Table
from services.bus.aggregates import LEDGERS, TABLES
from services.bus.archives import OF_LEDGERS, OF_TABLES, Archive
from services.bus.clock import Clock, utc_now
from services.bus.follower import Follower
from services.bus.log import Stored, Unavailable
from services.bus.memory import MemoryLog
from tests.replay.playing import NLHE


class HeldRead(MemoryLog):
    """A log whose first read of one of its logs is under way for as long as the gate is shut."""

    def __init__(self, archive: Archive = OF_TABLES) -> None:
        super().__init__(archive)
        self.gate = asyncio.Event()
        self.reading = asyncio.Event()

    async def read(self, room: str, table: str, after: int = 0) -> AsyncIterator[Stored]:
        found = [stored async for stored in super().read(room, table, after)]
        if not self.reading.is_set():
            self.reading.set()
            await self.gate.wait()
        for stored in found:
            yield stored


class BrokenOff(MemoryLog):
    """A log whose connection breaks whenever something is read."""

    async def read(self, room: str, table: str, after: int = 0) -> AsyncIterator[Stored]:
        for _ in self.messages:
            raise Unavailable("the connection broke")
        async for stored in super().read(room, table, after):
            yield stored


async def append(log: MemoryLog, table: Table, event: AnyEvent, expected: int) -> int:
    """Appends one commit as the table service."""
    commit = commit_of(table, "table", (event,), utc_now())
    data = encode(commit)
    fold(table, commit, data)
    return await log.append("main", table.id, "table", fact_of(event), data, expected)


async def test_what_keeps_tables_from_being_read_at_the_start_is_said_once_and_in_its_own_words() -> None:
    """An operator reads it where a process could not start: not how many tables there are."""
    log = BrokenOff()
    for name in ("T1", "T2"):
        await append(log, Table(room="main", id=name), TableOpened(config=NLHE), 0)
    with pytest.raises(Unavailable, match=r"^room main: the connection broke$"):
        await Follower(TABLES, log, ["main"], Clock()).start()


async def test_a_fact_that_comes_while_its_table_is_being_read_is_not_lost() -> None:
    """What was read may have been read before it was stored, and nobody would tell of it again."""
    log, table = HeldRead(), Table(room="main", id="T1")
    follower = Follower(TABLES, log, ["main"], Clock())
    await follower.start()
    sequence = await append(log, table, TableOpened(config=NLHE), 0)
    await asyncio.wait_for(log.reading.wait(), 5)
    await append(log, table, TablePaused(), sequence)
    replica = follower.replica("main", "T1")
    await asyncio.sleep(0)  # the fact is delivered
    log.gate.set()
    while replica.state.n < 2:
        assert await replica.changed(5), "the second commit is lost"
    assert replica.state == table
    await follower.stop()


async def test_an_entry_that_comes_while_its_ledger_is_being_read_is_not_lost() -> None:
    """The same of ledgers: there is one follower."""
    log, books = HeldRead(OF_LEDGERS), Ledger(id="real-USD")
    follower = Follower(LEDGERS, log, [HOUSE], Clock())
    await follower.start()
    entries: tuple[LedgerEvent, ...] = (LedgerOpened(money="real", currency="USD"), AccountOpened(player="ann"))
    sequence = 0
    for number, entry in enumerate(entries):
        data = encode(commit := ledger_fold.commit_of(books, (entry,), utc_now()))
        ledger_fold.fold(books, commit, data)
        sequence = await log.append(HOUSE, books.id, "cashier", entry_of(entry), data, sequence)
        if number == 0:
            await asyncio.wait_for(log.reading.wait(), 5)
    replica = follower.replica(HOUSE, books.id)
    await asyncio.sleep(0)  # the entry is delivered
    log.gate.set()
    while replica.state.n < 2:
        assert await replica.changed(5), "the second commit is lost"
    assert (replica.state.players, replica.held, replica.debt) == ({"ann": False}, Head(n=2, hash=books.head), None)
    await follower.stop()


class FailingRead(MemoryLog):
    """A log that fails in a way that nobody has foreseen, as often as it is told to."""

    faults = 0

    async def read(self, room: str, table: str, after: int = 0) -> AsyncIterator[Stored]:
        if self.faults:
            self.faults -= 1
            raise ZeroDivisionError(table)
        async for stored in super().read(room, table, after):
            yield stored


async def test_a_read_that_fails_in_whatever_way_is_told_and_the_next_audit_reads_again() -> None:
    """Once it ended in silence, and the fold stayed behind until another fact came."""
    log, tables = FailingRead(), [Table(room="main", id=name) for name in ("T1", "T2")]
    follower = Follower(TABLES, log, ["main"], Clock())
    await follower.start()
    with structlog.testing.capture_logs() as lines:
        log.faults = 3  # both tables' facts, and the first that is looked at in the audit after them
        for number, table in enumerate(tables):
            await append(log, table, TableOpened(config=NLHE), 0)
            while log.faults > 2 - number:  # noqa: ASYNC110
                await asyncio.sleep(0)
        await follower.audit()
        await follower.audit()
    assert [follower.replica("main", table.id).state.n for table in tables] == [1, 1]
    failed = [(line["event"], line["task"], line["table"]) for line in lines]
    assert failed == [("task_failed", "reading", name) for name in ("T1", "T2", "T1")]
