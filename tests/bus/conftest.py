"""Real servers for the tests that want one, connections to them as any of their users, and a log of each kind."""

import contextlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from nats.aio.client import Client
from nats.js.errors import NotFoundError

from services.bus import streams
from services.bus.archives import OF_LEDGERS, OF_TABLES, Archive
from services.bus.connection import Line, connect
from services.bus.jetstream import JetStreamLog
from services.bus.log import Log
from services.bus.memory import MemoryLog
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from tests.cluster.servers import SIZE, Cluster
from tests.servers import Server, a_server_with_streams, make_streams

DEPLOY_API = "$JS.API"
MEMORY = "memory"
MEMORY_OF_LEDGERS = "memory of ledgers"
R1_OF_LEDGERS = pytest.param("r1 of ledgers", marks=pytest.mark.server)
R1 = pytest.param("r1", marks=pytest.mark.server)
R3 = pytest.param("r3", marks=[pytest.mark.server, pytest.mark.xdist_group("cluster")])
"""Three servers are started once for all tests: these run in one worker."""


@asynccontextmanager
async def connected(server: Server | Cluster, user: str, line: Line | None = None) -> AsyncIterator[Client]:
    """A connection as one of the server's users."""
    client = await connect(Settings(), server.credentials, line or Line(user))
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def own_server() -> AsyncIterator[EmbeddedServer]:
    """A server with all its streams, of this test alone: it may be stopped, frozen or killed."""
    async with EmbeddedServer() as server:
        await make_streams(server)
        yield server


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with a_server_with_streams() as running:
        yield running


@pytest.fixture
async def mortal() -> AsyncIterator[EmbeddedServer]:
    async with own_server() as running:
        yield running


@pytest.fixture(scope="session")
def three_servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with Cluster(tmp_path_factory.mktemp("cluster")) as cluster:
        yield cluster


async def emptied(cluster: Cluster) -> Cluster:
    """The cluster with new streams, in which nothing was ever stored."""
    async with connected(cluster, "deploy") as client:
        context = client.jetstream()
        for name in (streams.TABLES, streams.HEADS):
            with contextlib.suppress(NotFoundError):
                await context.delete_stream(name)
        await streams.ensure(context, SIZE, new_log=True)
    return cluster


@asynccontextmanager
async def servers(
    kind: str, request: pytest.FixtureRequest, *, mortal: bool = False
) -> AsyncIterator[Server | Cluster]:
    """One server, or three, with empty streams; a `mortal` one may be stopped."""
    if kind == "r3":
        yield await emptied(request.getfixturevalue("three_servers"))
        return
    if mortal:
        async with own_server() as running:
            yield running
        return
    async with a_server_with_streams() as running:
        yield running


@asynccontextmanager
async def a_log(
    server: Server | Cluster, user: str = "table", line: Line | None = None, archive: Archive = OF_TABLES
) -> AsyncIterator[JetStreamLog]:
    """The log as a user sees it."""
    line = line or Line(user)
    async with connected(server, user, line) as client:
        settings = Settings(api_prefix=DEPLOY_API) if user == "deploy" else Settings()
        opened = await JetStreamLog.open(client, settings, line, archive)
        yield opened
        await opened.close()


@pytest.fixture(params=[MEMORY, MEMORY_OF_LEDGERS, R1, R1_OF_LEDGERS, R3])
async def log(request: pytest.FixtureRequest) -> AsyncIterator[MemoryLog | JetStreamLog]:
    """An empty log of each kind, of tables as the table service sees it, and of ledgers as who owns all streams."""
    if request.param in (MEMORY, MEMORY_OF_LEDGERS):
        yield MemoryLog(OF_TABLES if request.param == MEMORY else OF_LEDGERS)
        return
    if request.param == "r1 of ledgers":
        async with a_server_with_streams() as one, a_log(one, "deploy", archive=OF_LEDGERS) as ledgers:
            yield ledgers
        return
    async with servers(request.param, request) as running, a_log(running) as opened:
        yield opened


@pytest.fixture(params=[MEMORY, R1, R3])
async def owned_log(request: pytest.FixtureRequest) -> AsyncIterator[Log]:
    """An empty log of each kind, to which all services' commits can be appended."""
    if request.param == MEMORY:
        yield MemoryLog()
        return
    async with servers(request.param, request) as running, a_log(running, "deploy") as opened:
        yield opened
