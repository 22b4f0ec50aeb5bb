"""A server that stays away: services say so once a second, and stop when they are told to."""

import asyncio
import contextlib
import signal
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest

from tests.faults.running import EVERYTHING, a_member, is_not_ready, is_ready, probed
from tests.processes.fleet import Member
from tests.processes.playing import own_server

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]

LINES = 4
STOP_S_MAX = 4.0


async def test_a_process_without_its_server_says_little_and_stops_when_it_is_told_to(tmp_path: Path) -> None:
    async with contextlib.AsyncExitStack() as members:
        async with own_server(tmp_path) as settings:
            member, port = await members.enter_async_context(a_member(settings))
            await probed(port, is_ready)
        await probed(port, is_not_ready("table.connection"))
        await probed(port, lambda *_: len(_repeated(member)) >= LINES)
        times = _repeated(member)
        assert min((two - one).total_seconds() for one, two in pairwise(times)) > 0.9
        once = [line["user"] for line in member.said if line["event"] == "nats_disconnected"]
        assert sorted(once) == sorted(EVERYTHING)
        async with asyncio.timeout(STOP_S_MAX):
            assert await member.end(signal.SIGTERM) == 0
        assert {line["event"] for line in member.said if line["level"] in ("error", "critical")} == {"nats_error"}
        assert [line["service"] for line in member.said if line["event"] == "service_stopped"] == [
            *reversed(EVERYTHING)
        ]


def _repeated(member: Member) -> list[datetime]:
    """When a process said what it says again and again."""
    lines = [line for line in member.said if line["event"] in ("nats_error", "log_unavailable")]
    return [datetime.fromisoformat(line["timestamp"]) for line in lines]
