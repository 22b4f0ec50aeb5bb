"""A server that is stopped, slow or away: services wait for it, go on by themselves, and nothing is lost."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from services.command_line.serve import make_streams
from tests.faults.running import EVERYTHING, a_member, is_not_ready, is_ready, probe, probed, reached
from tests.processes.playing import longest_silence, measured, plans, play, played_and_sound, proofs

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]

STOPPED_S = 3.0
LAST = 6
NOT_READY = 503
PARTS = ("connection", "appends")


@asynccontextmanager
async def a_server_to_stop(folder: Path) -> AsyncIterator[tuple[EmbeddedServer, Settings]]:
    """A server with its streams, in the hands of the test."""
    async with EmbeddedServer(folder) as server:
        settings = Settings(nats_url=server.url, credentials_path=server.directory / "credentials.json")
        await make_streams(settings)
        yield server, settings


async def test_services_go_on_by_themselves_when_the_server_was_away(tmp_path: Path) -> None:
    wanted = plans(tables=3, hands=40, bots=3)
    async with a_server_to_stop(tmp_path) as (server, settings), a_member(settings) as (member, port):
        await probed(port, is_ready)
        playing = asyncio.create_task(play(settings, wanted))
        for hand, number in ((3, signal.SIGTERM), (6, signal.SIGKILL)):
            await reached(settings, "T0", hand)
            assert not playing.done()
            assert server.pid is not None
            os.kill(server.pid, number)
            await probed(port, is_not_ready("table.connection"))
            assert (await probe(port, "/live"))[0] == 200
            await probed(port, is_ready)
        await playing
        found = await proofs(settings, [plan.table for plan in wanted])
        played_and_sound(found, wanted)
        longest = longest_silence(found)
        measured(f"longest wait {longest.silence_s:.2f} s after {longest.after}; {server.restarts} restarts")
        assert server.restarts == 2
        assert await member.end(signal.SIGTERM) == 0
        events = {line["event"] for line in member.said if line["level"] in ("error", "critical")}
        assert events <= {"nats_error", "debt_not_appended"}


async def test_a_server_that_stands_still_leaves_appends_in_doubt_and_each_is_stored_once(tmp_path: Path) -> None:
    wanted = plans(tables=3, hands=40, bots=3)
    async with a_server_to_stop(tmp_path) as (server, settings), a_member(settings) as (member, port):
        await probed(port, is_ready)
        playing = asyncio.create_task(play(settings, wanted))
        for hand in (3, LAST):
            await reached(settings, "T0", hand)
            assert not playing.done()
            assert server.pid is not None
            os.kill(server.pid, signal.SIGSTOP)
            await asyncio.wait((playing,), timeout=STOPPED_S)
            if hand == LAST:
                said = await probed(port, lambda status, _: status == NOT_READY)
                assert set(said["reasons"]) <= {"fold", *(f"{each}.{part}" for each in EVERYTHING for part in PARTS)}
                assert (await probe(port, "/live"))[0] == 200
            os.kill(server.pid, signal.SIGCONT)
        await playing
        await probed(port, is_ready)
        found = await proofs(settings, [plan.table for plan in wanted])
        played_and_sound(found, wanted)
        longest = longest_silence(found)
        measured(f"longest wait {longest.silence_s:.2f} s after {longest.after}")
        assert longest.silence_s >= STOPPED_S - 1.0
        assert await member.end(signal.SIGTERM) == 0
