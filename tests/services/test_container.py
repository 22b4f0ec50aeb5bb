"""The same services over a server that is not theirs: in a container, with the same accounts."""

import secrets
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from testcontainers.community.nats import NatsContainer

from services.bus.accounts import USERS, accounts
from services.bus.credentials import Credentials
from services.bus.settings import Settings
from services.command_line.serve import SERVICES, make_streams, room
from tests.processes.playing import plans, play, played_and_sound, proofs

pytestmark = [pytest.mark.docker, pytest.mark.slow]

IMAGE = "nats:2.15-alpine"
CONFIG_PATH = "/etc/nats/croupier.conf"


@pytest.fixture
def container(tmp_path: Path) -> Iterator[Settings]:
    """A server in a container; gives the settings with which services and people reach it."""
    passwords = {user: secrets.token_urlsafe(24) for user in USERS}
    config = {
        "max_payload": 1024 * 1024,
        "ping_interval": "1s",
        "ping_max": 2,
        "jetstream": {"store_dir": "/data", "sync_interval": "always"},
        "accounts": accounts(passwords),
    }
    file = tmp_path / "nats.conf"
    file.write_bytes(msgspec.json.encode(config))
    file.chmod(0o644)  # the server in the container is another user
    with NatsContainer(IMAGE).with_volume_mapping(str(file), CONFIG_PATH).with_command(f"-c {CONFIG_PATH}") as server:
        url = server.nats_uri()
        credentials = tmp_path / "credentials.json"
        Credentials(url=url, passwords=passwords).write(credentials)
        yield Settings(nats_url=url, credentials_path=credentials)


async def test_services_play_over_a_server_in_a_container(container: Settings) -> None:
    wanted = plans(tables=3, hands=4, bots=3)
    await make_streams(container)
    async with room(container, SERVICES) as running:
        await play(running, wanted)
        played_and_sound(await proofs(running, [plan.table for plan in wanted]), wanted)
