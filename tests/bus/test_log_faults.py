"""What every log promises when answers are lost or late, connections break, messages are missed, or it went back."""

import asyncio
import contextlib
import os
import signal
from collections.abc import Iterator

import pytest

from contracts.subjects import read_commit
from services.bus import reader
from services.bus.connection import Line
from services.bus.jetstream import JetStreamLog
from services.bus.log import Conflict, InDoubt, Log, Refused, Unavailable
from services.bus.memory import MemoryLog
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from services.bus.streams import TABLES
from tests.bus.conftest import MEMORY, R1, R3, a_log, connected, servers
from tests.bus.test_log import WRITERS, Followed, say, sent_again, told
from tests.cluster.servers import Cluster
from tests.replay.playing import ROOM, session
from tests.servers import Server

BACK_S_MAX = 30


@contextlib.contextmanager
def standing_still(server: Server | Cluster) -> Iterator[None]:
    """Nothing is answered as long as the context lasts, and all that was sent is done after."""
    assert isinstance(server, EmbeddedServer | Cluster)
    pids = [server.pid] if isinstance(server, EmbeddedServer) else [node.pid for node in server.nodes]
    for pid in pids:
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in pids:
            assert pid is not None
            os.kill(pid, signal.SIGCONT)


async def taken_at_last(log: Log, text: str, expected: int) -> int:
    """Appends; of three servers the one reached anew may not know yet who answers for the stream, and refuses."""
    async with asyncio.timeout(BACK_S_MAX):
        while True:
            with contextlib.suppress(Refused):
                return await say(log, "T1", text, expected)


CODES = [
    pytest.param("r1", {"10071"}, marks=pytest.mark.server, id="r1"),
    pytest.param("r3", {"10071", "10164"}, marks=[pytest.mark.server, pytest.mark.xdist_group("cluster")], id="r3"),
]


@pytest.mark.parametrize(("kind", "expected"), CODES)
async def test_sixty_who_race_lose_by_each_code_that_the_servers_know(
    kind: str, expected: set[str], request: pytest.FixtureRequest
) -> None:
    """The leader says 10071 to who is late, and of three 10164 while the winner is on its way to the followers."""
    codes: set[str] = set()
    async with servers(kind, request) as running, a_log(running) as log:
        last = 0
        for _ in range(20):
            racing = (say(log, "T1", f"writer {name}", last) for name in range(WRITERS))
            outcomes = await asyncio.gather(*racing, return_exceptions=True)
            (last,) = (outcome for outcome in outcomes if isinstance(outcome, int))
            codes |= {str(outcome).split(":")[0] for outcome in outcomes if isinstance(outcome, Conflict)}
            with pytest.raises(Conflict) as late:
                await say(log, "T1", "late", 0 if last > 1 else 99)
            codes.add(str(late.value).split(":")[0])
        assert codes == expected
        assert len(await told(log.read("main", "T1"))) == 20


@pytest.mark.parametrize("kind", [R1, R3])
async def test_an_append_whose_time_was_up_lands_late_and_once(kind: str, request: pytest.FixtureRequest) -> None:
    """It is sent again on the same connection: only there does a server keep the order of the two."""
    impatient = Settings(append_timeout_ms=50, unanswered_ms=60_000)
    async with (
        servers(kind, request, mortal=True) as server,
        connected(server, "table") as client,
        a_log(server) as log,
    ):
        hasty, patient = await JetStreamLog.open(client, impatient), await JetStreamLog.open(client, Settings())
        first = await say(log, "T1", "one", 0)
        with standing_still(server), pytest.raises(InDoubt):
            await say(hasty, "T1", "mine", first)
        await sent_again(patient, "mine", first)
        assert await told(log.read("main", "T1")) == ["one", "mine"]


@pytest.mark.parametrize("kind", [R1, R3])
async def test_after_a_reconnect_a_log_is_written_read_and_followed_as_before(
    kind: str, request: pytest.FixtureRequest
) -> None:
    line, back, followed = Line("table"), asyncio.Event(), Followed()
    line.when_back(back.set)
    async with servers(kind, request) as server, connected(server, "table", line) as client:
        log = await JetStreamLog.open(client, Settings(), line)
        await log.follow("main", followed)
        first = await say(log, "T1", "one", 0)
        await followed.sequences(1)
        await client.force_reconnect()
        with pytest.raises(Refused):
            await say(log, "T1", "never sent", first)
        with pytest.raises(Unavailable):
            await log.tail("main", "T1")
        await asyncio.wait_for(back.wait(), BACK_S_MAX)
        second = await taken_at_last(log, "two", first)
        assert await followed.sequences(2) == [first, second]
        assert await told(log.read("main", "T1")) == ["one", "two"]


async def test_who_missed_a_message_is_told_so_by_the_next_one(log: Log) -> None:
    """The last one before it on the same subject was not seen: there is a gap, and it can be read."""
    followed, later = Followed(), Followed()
    following = await log.follow("main", followed)
    first = await say(log, "T1", "one", 0)
    assert await followed.sequences(1) == [first]
    await following.stop()
    missed = await say(log, "T1", "missed", first)
    await log.follow("main", later)
    third = await say(log, "T1", "three", missed)
    (seen,) = await later.until(bool)
    assert (seen.sequence, seen.previous) == (third, missed)
    assert seen.previous > first
    assert await told(log.read("main", "T1", first)) == ["missed", "three"]


@pytest.mark.parametrize("kind", [MEMORY, R1, R3])
async def test_a_log_that_went_back_does_not_hold_what_was_seen(kind: str, request: pytest.FixtureRequest) -> None:
    """DESIGN 1: the last message seen is not where it was, and who expects it cannot append."""
    async with contextlib.AsyncExitStack() as stack:
        log: Log = MemoryLog()
        server: Server | Cluster | None = None
        if kind != MEMORY:
            server = await stack.enter_async_context(servers(kind, request))
            log = await stack.enter_async_context(a_log(server))
        first = await say(log, "T1", "one", 0)
        second = await say(log, "T1", "two", first)
        if server is None:
            log = MemoryLog()
        else:
            async with connected(server, "deploy") as deploy:
                await deploy.jetstream().purge_stream(TABLES, subject="table.main.T1.>")
        assert await log.tail("main", "T1") is None
        assert await log.first("main", "T1", second) is None
        assert await told(log.read("main", "T1", first)) == []
        with pytest.raises(Conflict):
            await say(log, "T1", "three", second)
        again = await say(log, "T1", "one", 0)
        found = await log.first("main", "T1")
        assert found is not None
        assert (found.sequence, found.data) == (again, b"one")


async def test_every_hand_of_a_table_is_found_by_a_binary_search(owned_log: Log) -> None:
    played = session("nlhe", seed=4, hands=12)
    last = 0
    for number, (subject, data) in enumerate(played.messages):
        parts = read_commit(subject)
        assert parts is not None
        last = await owned_log.append(ROOM, parts.table, parts.service, parts.fact, data, last)
        if number % 10 == 0:  # among the messages of others
            await owned_log.append(ROOM, f"other{number}", "table", "hand_started", b"elsewhere", 0)
    assert played.table.hands >= 12
    for hand in range(1, played.table.hands + 1):
        start = await reader.from_hand(owned_log, ROOM, played.table.id, hand)
        commits = [commit async for commit, _ in reader.commits(owned_log, start, hand)]
        assert commits == [commit for commit in played.commits if commit.hand == hand]
    with pytest.raises(reader.NotFound, match="has no hand 99"):
        await reader.from_hand(owned_log, ROOM, played.table.id, 99)
