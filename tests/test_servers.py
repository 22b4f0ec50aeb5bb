"""The server of the integration suite: it is empty for each test, and no container outlives its session."""

import os
import signal
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import docker
import pytest

from services.bus.connection import Line, connect
from services.bus.settings import Settings
from tests import engine, servers

pytestmark = pytest.mark.server


async def _stored(server: servers.Server, *, store: bool) -> int:
    """How many messages the log has; with `store` one is added then."""
    client = await connect(Settings(), server.credentials, Line("deploy"))
    try:
        context = client.jetstream()
        found = (await context.stream_info("TABLES")).state.messages
        if store:
            await context.publish("table.main.T1.table.table_opened", b"1")
        return found
    finally:
        await client.close()


async def test_what_one_test_stored_no_other_finds() -> None:
    for _ in range(2):
        async with servers.a_server_with_streams() as server:
            assert await _stored(server, store=True) == 0


async def test_a_room_that_is_opened_again_finds_its_log(tmp_path: Path) -> None:
    async with servers.a_server(tmp_path) as server:
        await servers.make_streams(server)
        assert await _stored(server, store=True) == 0
    async with servers.a_server(tmp_path) as server:
        assert await _stored(server, store=False) == 1


@pytest.mark.docker
async def test_whom_an_earlier_test_left_behind_meets_nobody() -> None:
    """A service that still runs would deal and decide for the next test: that one gets another server."""
    async with servers.in_a_container() as server:
        left = await connect(Settings(), server.credentials, Line("table"))
    async with servers.in_a_container() as other:
        assert other.id != server.id
    await left.close()
    async with servers.in_a_container() as free:
        assert free.id == other.id


KILLED = """
import os, signal
from tests import engine, servers

engine.begin()
print(servers.ContainedServer().id, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.docker
@pytest.mark.slow
def test_the_container_of_a_session_that_was_killed_is_taken_away_by_the_next() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", KILLED], cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False
    )
    started = ran.stdout.strip()
    assert (ran.returncode, len(started)) == (-signal.SIGKILL, 64)
    engine.remove_stale()  # another worker may have done it already
    with closing(docker.from_env()) as client:
        assert started not in [each.id for each in client.containers.list(all=True)]


def test_a_session_knows_which_others_live() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert [engine.lives(pid) for pid in (os.getpid(), 1, ended.pid)] == [True, True, False]
