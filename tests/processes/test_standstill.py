"""DESIGN 4: a process that stood still drops what it had in hand and what came meanwhile, and then works again."""

import asyncio
import os
import signal
from pathlib import Path

import pytest

from services.bus.connection import Line, connect
from services.bus.settings import Settings
from services.bus.stall import caught_up
from tests.bus.conftest import own_server
from tests.processes.fleet import Fleet
from tests.processes.playing import (
    a_server,
    longest_silence,
    measured,
    plans,
    play,
    played_and_sound,
    proofs,
)
from tests.processes.starvation import waits

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]

STOPPED_S = 3.0
WAIT_S_MAX = 10.0
"""While NATS believes a stopped member alive (3 s) it swallows its share of first tries and retries: a table waits for
less, and for more where somebody is deaf for ten seconds after it. What is waited for a processor comes on top."""


async def test_a_table_service_that_stands_still_again_and_again_delays_and_changes_nothing(tmp_path: Path) -> None:
    """One that woke without its connection was once deaf for another ten seconds, and both together for fifteen."""
    wanted = plans(tables=4, hands=25, bots=3)
    crews = (("table",), ("table",), ("dealer", "rake", "settlement", "views"))
    async with a_server(tmp_path) as settings, Fleet(settings, crews) as fleet:
        async with waits(fleet.pids, WAIT_S_MAX) as starved:
            playing = asyncio.create_task(play(settings, wanted))
            for number in (0, 1):
                await asyncio.wait((playing,), timeout=2.0)
                await fleet.members[number].stand_still(STOPPED_S)
            await playing
        found = await proofs(settings, [plan.table for plan in wanted])
        longest = longest_silence(found)
        measured(f"longest wait {longest.silence_s:.2f} s at {longest.table} after {longest.after}")
        played_and_sound(found, wanted)
        assert longest.silence_s <= WAIT_S_MAX + starved.longest_s


async def test_no_answer_is_waited_for_on_a_connection_that_broke() -> None:
    async with own_server() as server:
        line, broken = Line("table"), asyncio.Event()
        line.when_lost(broken.set)
        client = await connect(Settings(), server.credentials, line)
        await caught_up(client, broken, lambda: 0)
        assert server.pid is not None
        os.kill(server.pid, signal.SIGSTOP)  # takes what is sent, answers nothing
        asking = asyncio.create_task(caught_up(client, broken, lambda: 0))
        await asyncio.sleep(0)
        os.kill(server.pid, signal.SIGKILL)
        async with asyncio.timeout(5):
            with pytest.raises(ConnectionError):
                await asking
        await client.close()
