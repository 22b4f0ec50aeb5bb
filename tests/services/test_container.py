"""The same services over a server that is not theirs: in a container, with the same accounts."""

from pathlib import Path

import pytest

from services.bus.settings import Settings
from services.command_line.serve import SERVICES, room
from tests import servers
from tests.processes.playing import plans, play, played_and_sound, proofs

pytestmark = [pytest.mark.docker, pytest.mark.slow]


async def test_services_play_over_a_server_in_a_container(tmp_path: Path) -> None:
    wanted = plans(tables=3, hands=4, bots=3)
    async with servers.in_a_container(tmp_path) as server:
        await servers.make_streams(server)
        settings = Settings(nats_url=server.url, credentials_path=tmp_path / "credentials.json")
        async with room(settings, SERVICES) as running:
            await play(running, wanted)
            played_and_sound(await proofs(running, [plan.table for plan in wanted]), wanted)
