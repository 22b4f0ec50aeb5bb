"""A connection that leaves a server goes to another one, and no server that stands still holds it up for long."""

import asyncio
import contextlib
import signal
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from services.bus.connection import Line, connect
from services.bus.jetstream import JetStreamLog
from services.bus.log import Conflict, InDoubt, Refused, Unavailable
from services.bus.settings import Settings
from services.bus.streams import TABLES
from services.command_line.serve import make_streams
from tests.bus.conftest import a_log, connected
from tests.cluster.servers import Cluster

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("cluster")]

BACK_S_MAX = 6.0
LEFT_S_MAX = 30.0
POLL_S = 0.1


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with Cluster(tmp_path, sync_always=False) as running:
        asyncio.run(make_streams(running.settings))
        yield running


async def test_a_connection_that_leaves_a_server_does_not_come_back_to_it(cluster: Cluster) -> None:
    """nats-py shuffles the servers, the one that was left among them: one time in three it was the same again."""
    line, back = Line("table"), asyncio.Event()
    line.when_back(back.set)
    client = await connect(Settings(), cluster.credentials, line)
    seen = []
    for _ in range(12):
        assert client.connected_url is not None
        seen.append(client.connected_url.netloc)
        back.clear()
        await client.force_reconnect()
        await asyncio.wait_for(back.wait(), BACK_S_MAX)
    assert [one for one, two in pairwise(seen) if one == two] == []
    assert set(seen) == {node.url.removeprefix("nats://") for node in cluster.nodes}
    await client.close()


async def test_servers_that_stand_still_do_not_hold_up_a_reconnect(cluster: Cluster) -> None:
    """Their kernel takes the connection and they say nothing: each was once waited for ten seconds."""
    line, back = Line("table"), asyncio.Event()
    line.when_back(back.set)
    client = await connect(Settings(), cluster.credentials, line)
    assert client.connected_url is not None
    here = client.connected_url.netloc
    others = [node for node in cluster.nodes if not node.url.endswith(here)]
    for node in others:
        node.send(signal.SIGSTOP)
    try:
        await client.force_reconnect()  # both others come before the one that was left
        await asyncio.wait_for(back.wait(), BACK_S_MAX)
        assert client.connected_url.netloc == here
    finally:
        for node in others:
            node.send(signal.SIGCONT)
    await client.close()


async def test_who_appends_nothing_leaves_a_server_without_quorum_too(cluster: Cluster) -> None:
    """Only appends were counted: an idle service stayed deaf at a leader that had been cut off."""
    settings = Settings(leaderless_ms=1_000, read_timeout_ms=500, ping_interval_ms=60_000)
    line, lost = Line("views"), asyncio.Event()
    client = await connect(settings, cluster.credentials, line)
    log = await JetStreamLog.open(client, settings, line)
    await log.server_time()
    line.when_lost(lost.set)
    assert client.connected_url is not None
    others = [node for node in cluster.nodes if not node.url.endswith(client.connected_url.netloc)]
    for node in others:
        node.send(signal.SIGSTOP)
    try:
        async with asyncio.timeout(LEFT_S_MAX):
            while not lost.is_set():
                with contextlib.suppress(Unavailable):
                    await log.server_time()
                await asyncio.sleep(POLL_S)
    finally:
        for node in others:
            node.send(signal.SIGCONT)
    await log.close()
    await client.close()


async def test_who_races_with_its_own_earlier_attempt_for_ever_leaves_the_server(cluster: Cluster) -> None:
    """A leader that lost its peers calls a re-send a conflict (10164): that once counted as a sign of life."""
    async with a_log(cluster, "deploy") as log:
        await log.append("main", "T1", "table", "fact", b"1", 0)
    async with connected(cluster, "deploy") as deploy:
        group = (await deploy.jetstream().stream_info(TABLES)).cluster
    assert group is not None
    assert group.leader is not None
    leader = cluster.named(group.leader)
    line, lost, ends = Line("table"), asyncio.Event(), set[str]()
    settings = Settings(nats_url=leader.url, append_timeout_ms=500, unanswered_ms=3_000)
    client = await connect(settings, cluster.credentials, line)
    log = await JetStreamLog.open(client, settings, line)
    line.when_lost(lost.set)
    others = [node for node in cluster.nodes if node is not leader]
    for node in others:
        node.send(signal.SIGSTOP)
    try:
        async with asyncio.timeout(LEFT_S_MAX):
            while not lost.is_set():
                try:
                    await log.append("main", "T1", "table", "fact", b"2", 1)
                except (InDoubt, Refused, Conflict) as error:
                    ends.add(type(error).__name__)
                await asyncio.sleep(POLL_S)
    finally:
        for node in others:
            node.send(signal.SIGCONT)
    assert "Contested" in ends, ends
    await log.close()
    await client.close()
