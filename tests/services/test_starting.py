"""A service that says it has started can be asked."""

from pathlib import Path

import pytest

from contracts.commands import PauseTable
from contracts.outcomes import Rejected
from services.command_line.serve import room
from tests.processes.playing import a_server, people
from tests.services.room import ROOM

pytestmark = pytest.mark.server

STARTS = 10


async def test_whoever_asks_a_service_that_has_just_started_finds_it(tmp_path: Path) -> None:
    """The server once did not know yet what was listened to when a service said that it had started."""
    async with a_server(tmp_path) as settings, people(settings) as (lobby, _):
        for _ in range(STARTS):
            async with room(settings, ("table",)):
                answer = await lobby.command(ROOM, "T1", PauseTable(id="1"))
                assert isinstance(answer, Rejected)
                assert answer.code == "unknown_table"
        assert lobby.post.again == 0
