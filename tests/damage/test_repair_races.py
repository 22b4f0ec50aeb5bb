"""What a service appends while a table is repaired: taken up, refused, or left alone, and never lost or forked."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

import pytest

from contracts.codec import decode_commit, encode
from contracts.events import fact_of
from contracts.events.table import TablePaused
from services.aggregate.fold import commit_of, fold
from services.aggregate.table import Table
from services.bus.log import Conflict
from services.bus.reading import Message
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from services.command_line.restoring import Held, Restoring
from services.command_line.serve import make_streams
from services.command_line.sources import Opened, owned
from services.command_line.where import Where
from services.replay.files import messages
from services.replay.restoration import NotTaken, Whole, chain, put, whole
from tests.damage.conftest import Played
from tests.services.room import ROOM

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("damage")]

TABLE = "T1"
HEARD_S_MAX = 30
"""Only what would wait for ever waits for so long."""
type Step = Callable[[], Awaitable[None]]


class Interrupted(Restoring):
    """A repair during which something happens right after the stream was read for the nth time."""

    def __init__(self, there: Opened, steps: dict[int, Step]) -> None:
        super().__init__(there, ROOM, TABLE)
        self._steps = steps
        self._reads = 0

    async def _stored(self) -> Held:
        found = await super()._stored()
        self._reads += 1
        if self._reads in self._steps:
            await self._steps[self._reads]()
        return found


class Bench:
    """A stream that holds a damaged table, and a service that goes on with it."""

    def __init__(self, there: Opened, lines: Sequence[Message]) -> None:
        self.there = there
        self.lines = list(lines)
        self.kept: list[Whole] = []

    async def hold(self, found: Sequence[Message]) -> None:
        """Fills the stream."""
        await put(self.there.log, ROOM, TABLE, found, 0)

    async def held(self) -> list[Message]:
        """All that the stream holds of the table."""
        return [(stored.subject, stored.data) async for stored in self.there.log.read(ROOM, TABLE)]

    async def sequence(self) -> int:
        """What the next append expects."""
        tail = await self.there.log.tail(ROOM, TABLE)
        return tail.sequence if tail is not None else 0

    async def append(self, message: Message, expected: int | None = None) -> None:
        """What a service does that holds the fold."""
        await put(self.there.log, ROOM, TABLE, [message], await self.sequence() if expected is None else expected)

    async def repair(self, exported: Sequence[Message], steps: dict[int, Step]) -> int:
        """Repairs the table from an export; gives the number of its last commit."""
        restoring = Interrupted(self.there, steps)
        heads = (await self.there.log.heads(ROOM, TABLE)).get(TABLE, {})
        changed, head = await restoring.run(lambda found: whole(ROOM, TABLE, exported, found, heads), self.kept.append)
        assert changed
        return head.n

    def another(self, n: int) -> Message:
        """Another commit in the place of commit n."""
        table = Table(room=ROOM, id=TABLE)
        for _, line in self.lines[: n - 1]:
            fold(table, decode_commit(line), line)
        assert table.at is not None
        commit = commit_of(table, "table", (TablePaused(),), table.at)
        return f"table.{ROOM}.{TABLE}.table.{fact_of(commit.events[0])}", encode(commit)


@contextlib.asynccontextmanager
async def a_bench(folder: Path, played: Played) -> AsyncIterator[Bench]:
    async with EmbeddedServer(folder) as server:
        settings = Settings(nats_url=server.url, data_path=folder, credentials_path=folder / "credentials.json")
        await make_streams(settings)
        async with owned(Where(nats=server.url, credentials=settings.credentials_file, room=ROOM)) as there:
            yield Bench(there, list(messages(ROOM, played.exports[TABLE])))


async def test_the_server_is_answered_while_a_long_log_is_verified(
    played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hangs up on who answers no pings for three seconds; here nothing is computed before it has been heard."""
    async with a_bench(tmp_path, played) as bench:
        lines, loop, heard = bench.lines, asyncio.get_running_loop(), list[str]()

        def hear(computed: str) -> None:
            asyncio.run_coroutine_threadsafe(bench.there.client.flush(), loop).result(HEARD_S_MAX)
            heard.append(computed)

        def checked(found: list[Message]) -> Whole:
            hear("whole")
            return whole(ROOM, TABLE, lines, found, {})

        def chained(room: str, table: str, found: list[Message]) -> list[Message]:
            hear("chain")
            return chain(room, table, found)

        monkeypatch.setattr("services.command_line.restoring.chain", chained)
        await bench.hold([*lines[:2], *lines[3:]])
        await Restoring(bench.there, ROOM, TABLE).run(checked)
        assert heard == ["whole", "chain", "whole", "whole"]
        assert await bench.held() == lines


async def test_what_is_appended_between_reading_and_purging_is_not_lost(played: Played, tmp_path: Path) -> None:
    async with a_bench(tmp_path, played) as bench:
        lines = bench.lines
        await bench.hold([*lines[:2], *lines[3:20]])
        assert await bench.repair(lines[:18], {3: lambda: bench.append(lines[20])}) == 21
        assert bench.kept[-1].messages == tuple(lines[:21])
        assert await bench.held() == lines[:21]


async def test_nothing_can_be_appended_between_the_purge_and_the_first_commit(played: Played, tmp_path: Path) -> None:
    """Who holds the fold expects a message that is gone; who holds nothing knows the head, and waits."""
    async with a_bench(tmp_path, played) as bench:
        lines, refused = bench.lines, list[str]()
        await bench.hold([*lines[:2], *lines[3:20]])
        before = await bench.sequence()

        async def append() -> None:
            assert await bench.held() == []
            assert (await bench.there.log.heads(ROOM, TABLE))[TABLE].keys() == {20}
            with pytest.raises(Conflict):
                await bench.append(lines[20], expected=before)
            refused.append("after the purge")

        assert await bench.repair(lines[:18], {4: append}) == 20
        assert refused == ["after the purge"]
        assert await bench.held() == lines[:20]


async def test_services_that_go_on_before_the_repair_looks_at_its_work_are_no_fault(
    played: Played, tmp_path: Path
) -> None:
    """Once it was taken for a server whose index does not agree with its files."""
    async with a_bench(tmp_path, played) as bench:
        lines = bench.lines
        await bench.hold([*lines[:2], *lines[3:20]])

        class GoesOn(Interrupted):
            LAST: Final = 4

            async def _stored(self) -> Held:
                if self._reads == GoesOn.LAST:
                    await bench.append(lines[20])
                return await super()._stored()

        restoring = GoesOn(bench.there, {})
        changed, head = await restoring.run(lambda found: whole(ROOM, TABLE, lines[:18], found, {}))
        assert (changed, head.n) == (True, 20)
        assert await bench.held() == lines[:21]


async def test_a_table_that_is_played_on_from_an_earlier_commit_meanwhile_is_left_as_it_was(
    played: Played, tmp_path: Path
) -> None:
    """Once commits behind a hole, which the export has others for, were dropped without a word."""
    async with a_bench(tmp_path, played) as bench:
        lines = bench.lines
        held = [*lines[:2], *lines[3:20]]
        await bench.hold(held)
        fork = bench.another(21)
        with pytest.raises(NotTaken, match=r"There are two truths"):
            await bench.repair(lines, {3: lambda: bench.append(fork)})
        assert await bench.held() == [*held, fork]
        assert bench.kept[-1].messages == (*held, fork)


async def test_an_end_that_somebody_writes_differently_meanwhile_is_not_purged(played: Played, tmp_path: Path) -> None:
    """The log only lacked its end; while it was being extended a service that did not know better went on."""
    async with a_bench(tmp_path, played) as bench:
        lines = bench.lines
        await bench.hold(lines[:20])
        fork = bench.another(21)
        with pytest.raises(Exception, match=r"commit 21 of the log is another one than the export's"):
            await bench.repair(lines, {1: lambda: bench.append(fork)})
        assert await bench.held() == [*lines[:20], fork]
