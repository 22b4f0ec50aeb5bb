"""The NATS server that the integration suite runs against.

Where a Docker engine answers it is NATS' own image in a container, with our accounts; elsewhere the bundled server.
`CROUPIER_TEST_NATS=bundled` or `container` chooses. To start a container takes longer than most tests: each process of
pytest has one, which its tests have to themselves one after another, each with new streams.

A test that stops, freezes or damages its server, or looks into its files, has one of its own: an `EmbeddedServer`.
"""

import asyncio
import os
import secrets
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec
import pytest
from nats.js import JetStreamContext
from testcontainers.community.nats import NatsContainer

from services.bus import streams
from services.bus.accounts import USERS, accounts
from services.bus.connection import Line, connect
from services.bus.credentials import Credentials
from services.bus.server import PAYLOAD_BYTES_MAX, EmbeddedServer
from services.bus.settings import Settings
from tests import engine

IMAGE: Final = "nats:2.15-alpine"
CHOICE: Final = "CROUPIER_TEST_NATS"
CONTAINER: Final = "container"
BUNDLED: Final = "bundled"

_CONFIG: Final = "/etc/nats/croupier.conf"
_PROBE_PORT: Final = 8222
_GONE_S_MAX: Final = 2.0
_POLL_S: Final = 0.01
_STORE: Final = "/data"
_STORE_BYTES_MAX: Final = 1024**3
_RESERVED_BYTES_MAX: Final = 4 * 1024**3
"""So much the limits of all streams together may come to."""


def chosen() -> str:
    """Where the suite's server runs."""
    return os.environ.get(CHOICE) or (BUNDLED if engine.image_fault(IMAGE) else CONTAINER)


def described() -> str:
    """The same as a sentence, for whoever reads the results."""
    if chosen() == CONTAINER:
        return f"integration tests run against NATS in a container ({IMAGE})"
    why = f"{CHOICE} says so" if os.environ.get(CHOICE) else engine.image_fault(IMAGE)
    return f"integration tests run against the bundled NATS server ({why})"


class ContainedServer:
    """A server in a container, for one test at a time: `held` says whether one has it."""

    def __init__(self) -> None:
        passwords = {user: secrets.token_urlsafe(24) for user in USERS}
        config = {
            "max_payload": PAYLOAD_BYTES_MAX,
            "http": _PROBE_PORT,
            "ping_interval": "1s",
            "ping_max": 2,
            "jetstream": {"store_dir": _STORE, "sync_interval": "always", "max_file_store": _RESERVED_BYTES_MAX},
            "accounts": accounts(passwords),
        }
        container = NatsContainer(IMAGE).with_command(f"-c {_CONFIG}").with_kwargs(labels=engine.labels())
        container.with_copy_into_container(msgspec.json.encode(config), _CONFIG, 0o644)
        container.tmpfs[_STORE] = f"size={_STORE_BYTES_MAX}"
        container.start()
        self.id = container.get_container_id()
        self.port = int(container.get_exposed_port(container.client_port))
        host = container.get_container_host_ip().replace("localhost", "127.0.0.1")
        self.url = f"nats://{host}:{self.port}"
        self.credentials = Credentials(url=self.url, passwords=passwords)
        self._probe = f"{host}:{container.get_exposed_port(container.management_port)}"
        self.held = False
        self.holder: Path | None = None
        """The folder of the room whose log it has."""

    def is_free_for(self, folder: Path | None) -> bool:
        """Whether nobody has it, and nobody whom an earlier test left behind could meddle; who left may still go."""
        if self.held or (folder is not None and folder == self.holder):
            return not self.held
        limit = time.monotonic() + _GONE_S_MAX
        while self._connections():
            if time.monotonic() > limit:
                return False
            time.sleep(_POLL_S)
        return True

    def _connections(self) -> int:
        with urllib.request.urlopen(f"http://{self._probe}/varz", timeout=10) as answer:
            return int(msgspec.json.decode(answer.read())["connections"])


type Server = EmbeddedServer | ContainedServer


@asynccontextmanager
async def a_server(folder: Path | None = None, *, sync_always: bool = True) -> AsyncIterator[Server]:
    """The suite's server without any stream; with a `folder` that had it before, as it was left then.

    The folder gets its credentials. A bundled server keeps its log there.
    """
    if chosen() == BUNDLED:
        if engine.IN_CI and not os.environ.get(CHOICE):
            pytest.fail(f"no NATS in a container: {engine.image_fault(IMAGE)}")
        async with EmbeddedServer(folder, sync_always=sync_always) as bundled:
            yield bundled
        return
    async with in_a_container(folder) as contained:
        yield contained


@asynccontextmanager
async def in_a_container(folder: Path | None = None) -> AsyncIterator[ContainedServer]:
    """The same in any case in a container."""
    server = await asyncio.to_thread(_contained, folder)
    server.held = True
    try:
        if folder is None or folder != server.holder:
            assert folder is None or not (folder / "credentials.json").exists(), "its log has made room for another's"
            await _emptied(server)
        server.holder = folder
        if folder is not None:
            _leave(server.credentials, folder)
        yield server
    finally:
        server.held = False


_started: list[ContainedServer] = []


def _contained(folder: Path | None) -> ContainedServer:
    """The container that was started last; another one where that is not free for whoever comes now."""
    if not _started:
        engine.remove_stale()
    elif _started[-1].is_free_for(folder):
        return _started[-1]
    _started.append(ContainedServer())
    return _started[-1]


def _leave(credentials: Credentials, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    credentials.write(folder / "credentials.json")


async def _emptied(server: ContainedServer) -> None:
    client = await connect(Settings(), server.credentials, Line("deploy"))
    try:
        context: JetStreamContext = client.jetstream()
        async with asyncio.TaskGroup() as group:
            for found in await context.streams_info():
                group.create_task(context.delete_stream(str(found.config.name)))
    finally:
        await client.close()


@asynccontextmanager
async def a_server_with_streams(*, sync_always: bool = True) -> AsyncIterator[Server]:
    """The suite's server with all streams, in which nothing was ever stored."""
    async with a_server(sync_always=sync_always) as server:
        await make_streams(server)
        yield server


async def make_streams(server: Server) -> None:
    """Creates all streams, as the deploy role."""
    client = await connect(Settings(), server.credentials, Line("deploy"))
    try:
        await streams.ensure(client.jetstream(), replicas=1)
    finally:
        await client.close()
