"""DESIGN 1: a replica whose clock is wrong is not ready and appends nothing; the other plays."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from contracts.codec import decode_commit
from services.bus.log import Stored
from services.command_line.proof import replay_log
from tests.faults.running import EVERYTHING, HOUSE, a_member, is_not_ready, is_ready, probe, probed, reached
from tests.processes.playing import ROOM, a_server, measured, plans, play, played_and_sound, proofs

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]

SKEWED: Final = """
from datetime import timedelta
from pathlib import Path
from services.bus import process
from services.bus.clock import utc_now
off = lambda: timedelta(seconds={off_s} if Path({since!r}).exists() else 0)
process.utc_now = lambda: utc_now() + off()
from services.cli import main
main()
"""
"""Runs a command on a machine whose clock is `off_s` seconds off, as soon as the file `since` is there."""
SAID: Final = re.compile(
    r"this machine's clock is (?P<off_s>\d+\.\d) s (?P<side>ahead of|behind) the server's; 1 s is allowed"
)
TOLERATED_S: Final = 1.5
"""A commit is dated no later than it is stored, nor before the last one was stored; clocks may be a second apart."""
HOUR_S: Final = 3600.0
COMPARED_WITHIN_S: Final = 1.0
"""The quickest fact may have been under way for as long as this, on a machine with much to do."""


@pytest.mark.parametrize(("off_s", "side"), [(3600, "ahead of"), (-3600, "behind")])
async def test_a_replica_whose_clock_is_an_hour_off_stands_aside_and_says_so(
    off_s: int, side: str, tmp_path: Path
) -> None:
    wanted = plans(tables=2, hands=3, bots=3)
    wrong = SKEWED.format(since="/", off_s=off_s)
    async with a_server(tmp_path) as settings, a_member(settings) as (_, right_port):
        await probed(right_port, is_ready)
        async with a_member(settings, EVERYTHING, wrong) as (skewed, wrong_port):
            said = await probed(wrong_port, compared)
            an_hour_off(said["reasons"]["clock"], side)
            assert (await probe(wrong_port, "/live"))[0] == 200
            tables, _ = await play(settings, wanted)
            assert (await probe(wrong_port))[0] == 503
            assert (await probe(right_port))[0] == 200
            assert await skewed.end(signal.SIGTERM) == 0
        found = await proofs(settings, [plan.table for plan in wanted])
        played_and_sound(found, wanted)
        measured(f"bots waited {max(table.slowest_s for table in tables):.2f} s")
        events = [line["event"] for line in skewed.said]
        assert events.count("clock_not_trusted") == 1
        assert "serving" not in events


def an_hour_off(said: str, side: str) -> None:
    """Asserts that this is what is said of a clock an hour off."""
    found = SAID.fullmatch(said)
    assert found is not None, said
    assert found["side"] == side
    assert abs(float(found["off_s"]) - HOUR_S) <= COMPARED_WITHIN_S, said


def compared(status: int, said: Mapping[str, Any]) -> bool:
    """Whether a process is not ready because of its clock, which it has compared with the server's."""
    return is_not_ready("clock")(status, said) and "has not been compared" not in said["reasons"]["clock"]


async def test_faststream_run_waits_for_the_clock_too_and_can_be_stopped_meanwhile(tmp_path: Path) -> None:
    """SIGTERM was once heard, and did nothing before the start was over: here it never is."""
    program = SKEWED.format(since="/", off_s=3600).replace("services.cli import main", "faststream.__main__ import cli")
    program = program.replace("main()", "cli(['run', 'services.table.app:app'])")
    async with a_server(tmp_path) as settings:
        place = {
            "CROUPIER_NATS_URL": str(settings.nats_url),
            "CROUPIER_CREDENTIALS_PATH": str(settings.credentials_file),
        }
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, env=os.environ | place, cwd=HOUSE, stderr=asyncio.subprocess.PIPE
        )
        assert process.stderr is not None
        said = [msgspec.json.decode(await process.stderr.readline(), type=dict[str, str])]
        process.send_signal(signal.SIGTERM)
        said += [msgspec.json.decode(line, type=dict[str, Any]) async for line in process.stderr]
        assert await process.wait() == 1
    assert [line["event"] for line in said] == ["clock_not_trusted", "cannot_serve"]
    before, _, doubt = said[1]["reason"].partition(": ")
    assert before == "told to end before the clock was right"
    an_hour_off(doubt, "ahead of")


async def test_a_replica_whose_clock_jumps_dates_nothing_more_and_ends(tmp_path: Path) -> None:
    """Only by its end does it leave all work to others: started anew, it waits until its clock is right."""
    wanted, jump = plans(tables=2, hands=40, bots=3), tmp_path / "jump"
    jumps = SKEWED.format(since=str(jump), off_s=3600)
    async with a_server(tmp_path) as settings, a_member(settings) as (_, right_port):
        await probed(right_port, is_ready)
        async with a_member(settings, EVERYTHING, jumps) as (jumping, port):
            await probed(port, is_ready)
            playing = asyncio.create_task(play(settings, wanted))
            await reached(settings, "T0", 3)
            assert not playing.done()
            jump.touch()
            await probed(port, is_not_ready("clock"))
            assert await jumping.over() == 1
            tables, _ = await playing
            last = jumping.said[-1]
            assert last["event"] == "cannot_serve"
            before, _, doubt = last["reason"].partition(": ")
            assert before == "the clock is not trusted"
            an_hour_off(doubt, "ahead of")
        found = await proofs(settings, [plan.table for plan in wanted])
        played_and_sound(found, wanted)
        measured(f"bots waited {max(table.slowest_s for table in tables):.2f} s")
        async with replay_log(settings) as log:
            for plan in wanted:
                dated_between_their_neighbours([message async for message in log.read(ROOM, plan.table)])


def dated_between_their_neighbours(messages: Sequence[Stored]) -> None:
    """Asserts that every commit is dated by a clock that is right, however long it took to store it."""
    tolerated = timedelta(seconds=TOLERATED_S)
    for before, stored in pairwise(messages):
        assert before.time is not None
        assert stored.time is not None
        assert before.time - tolerated < decode_commit(stored.data).at < stored.time + tolerated, stored
