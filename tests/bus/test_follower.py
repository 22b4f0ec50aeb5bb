"""Keeping a room's tables up to the tail of their logs."""

import asyncio
from collections.abc import AsyncIterator

from contracts.codec import encode
from contracts.events import AnyEvent, fact_of
from contracts.events.table import TableOpened, TablePaused
from services.aggregate.fold import commit_of, fold
from services.aggregate.table import Table
from services.bus.aggregates import TABLES
from services.bus.clock import Clock, utc_now
from services.bus.follower import Follower
from services.bus.log import Stored
from services.bus.memory import MemoryLog
from tests.replay.playing import NLHE


class HeldRead(MemoryLog):
    """A log whose first read of a table is under way for as long as the gate is shut."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()
        self.reading = asyncio.Event()

    async def read(self, room: str, table: str, after: int = 0) -> AsyncIterator[Stored]:
        found = [stored async for stored in super().read(room, table, after)]
        if not self.reading.is_set():
            self.reading.set()
            await self.gate.wait()
        for stored in found:
            yield stored


async def append(log: MemoryLog, table: Table, event: AnyEvent, expected: int) -> int:
    """Appends one commit as the table service."""
    commit = commit_of(table, "table", (event,), utc_now())
    data = encode(commit)
    fold(table, commit, data)
    return await log.append("main", table.id, "table", fact_of(event), data, expected)


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
