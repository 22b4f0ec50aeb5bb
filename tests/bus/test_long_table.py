"""A table of a hundred thousand commits is filled, read whole and searched: in memory, on one server, and on three."""

import asyncio
import contextlib

import pytest

from contracts import subjects
from services.bus.log import Log, Stored
from services.bus.mailbox import Mailbox
from services.bus.memory import MemoryLog
from tests.bus.conftest import MEMORY, a_log, connected, emptied
from tests.bus.test_log import say, told
from tests.cluster.servers import Cluster
from tests.servers import a_server_with_streams

ANSWER_S_MAX = 30
IN_FLIGHT = 64
APPENDED_ON_THREE = 1_000
"""Of a long table on three servers so many commits at its end are appended one by one, as services do."""

LONG = [
    pytest.param(MEMORY, 5_000, id="memory-5000"),
    pytest.param("r1", 5_000, marks=pytest.mark.server, id="r1-5000"),
    pytest.param("r3", 1_000, marks=[pytest.mark.server, pytest.mark.xdist_group("cluster")], id="r3-1000"),
    pytest.param(MEMORY, 100_000, marks=pytest.mark.slow, id="memory-100000"),
    pytest.param("r1", 100_000, marks=[pytest.mark.server, pytest.mark.slow], id="r1-100000"),
    pytest.param(
        "r3", 100_000, marks=[pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("cluster")], id="r3-100000"
    ),
]


@pytest.mark.parametrize(("kind", "commits"), LONG)
async def test_a_long_table_is_read_whole_and_searched_in_few_steps(
    kind: str, commits: int, request: pytest.FixtureRequest
) -> None:
    """Every hundredth commit starts a hand."""
    async with contextlib.AsyncExitStack() as stack:
        if kind == MEMORY:
            log: Log = MemoryLog()
            await _fill(log, range(1, commits + 1), at_once=IN_FLIGHT)
        elif kind == "r1":
            server = await stack.enter_async_context(a_server_with_streams(sync_always=False))
            log = await stack.enter_async_context(a_log(server))
            await _fill(log, range(1, commits + 1), at_once=IN_FLIGHT)
        else:
            cluster = await emptied(request.getfixturevalue("three_servers"))
            log = await stack.enter_async_context(a_log(cluster))
            before = commits - APPENDED_ON_THREE
            await _published(cluster, log, before)
            await _fill(log, range(before + 1, commits + 1), at_once=1)
        await _is_whole(log, commits)


def _fact(n: int) -> str:
    return "hand_started" if n % 100 == 1 else "action_taken"


async def _fill(log: Log, numbers: range, *, at_once: int) -> None:
    """Appends to one table alone in its stream, so that each sequence is known before its answer is there."""
    for start in range(0, len(numbers), at_once):
        batch = numbers[start : start + at_once]
        got = await asyncio.gather(*(say(log, "T1", f"commit {n}", n - 1, _fact(n)) for n in batch))
        assert got == list(batch)


async def _published(cluster: Cluster, log: Log, commits: int) -> None:
    """Fills the table with many publishes in flight, each of which expects the stream's last sequence.

    Three servers take one append to a table at a time: the next one conflicts until the followers have the first. Of
    the whole stream's sequence the leader knows what is under way. After a batch that was broken off one goes on
    behind what is there.
    """
    async with connected(cluster, "table") as client:
        mailbox = await Mailbox.open(client)

        async def publish(n: int) -> None:
            subject, _ = subjects.guarded("main", "T1", "table", _fact(n))
            await mailbox.ask(subject, b"commit %d" % n, ANSWER_S_MAX, {"Nats-Expected-Last-Sequence": str(n - 1)})

        while (last := await _last(log)) < commits:
            batch = range(last + 1, min(last + IN_FLIGHT, commits) + 1)
            await asyncio.gather(*map(publish, batch), return_exceptions=True)


async def _last(log: Log) -> int:
    tail = await log.tail("main", "T1")
    return tail.sequence if tail is not None else 0


async def _is_whole(log: Log, commits: int) -> None:
    expected = 0
    async for stored in log.read("main", "T1"):
        expected += 1
        assert (stored.sequence, stored.data) == (expected, b"commit %d" % expected)
    assert expected == commits
    tail = await log.tail("main", "T1")
    assert tail is not None
    assert tail.sequence == commits
    half = commits // 2
    assert len(await told(log.read("main", "T1", half))) == commits - half
    before = await log.before("main", "T1", half)
    assert before is not None
    assert before.sequence == half - 1
    for hand in (1, commits // 200, commits // 100):
        low, high, probes, wanted = 1, commits, 0, 100 * (hand - 1) + 1
        while (found := await _next_hand(log, middle := (low + high) // 2)) != wanted:
            probes += 1
            low, high = (found + 1, high) if 0 < found < wanted else (low, middle - 1)
        assert probes <= commits.bit_length()


async def _next_hand(log: Log, sequence: int) -> int:
    found: Stored | None = await log.next_of("main", "T1", "table", "hand_started", sequence)
    return found.sequence if found is not None else 0
