"""A house with nothing single in it: three servers, and two processes of each service."""

import asyncio
import contextlib
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import product
from string import ascii_uppercase
from typing import Final

import msgspec
import nats.errors
from nats.aio.client import Client as Nats
from nats.js.errors import ServiceUnavailableError

from services.bus.connection import Line, connect
from services.bus.credentials import Credentials
from services.bus.settings import Settings
from services.bus.streams import LEDGER, TABLES
from services.command_line.serve import DEPLOY_PREFIX, make_streams
from tests.cluster.servers import SIZE, Cluster, Node
from tests.processes.fleet import RUN, Member

SERVICES: Final = ("table", "dealer", "rake", "settlement", "cashier", "views")
LED_S_MAX: Final = 30.0
ASK_S: Final = 1.0
POLL_S: Final = 0.05

type Pick = Callable[["House"], Awaitable[Node]]
"""Names one server of a house."""
type Doors = Callable[["House"], Awaitable[tuple[str, str]]]
"""Where the first and the second process of each service come in."""


class House:
    """The house of the tests in this folder. Made by `open_house`."""

    def __init__(self, cluster: Cluster, members: list[Member]) -> None:
        self.cluster = cluster
        self.members = members
        self.doors = cluster.url
        """The servers at which bots come in."""
        self.currencies = map("".join, product(ascii_uppercase, repeat=3))
        """Names for ledgers that there are not yet."""

    @property
    def settings(self) -> Settings:
        """How bots and readers reach it."""
        return msgspec.structs.replace(self.cluster.settings, nats_url=self.doors)

    async def leader(self) -> Node:
        """The server that leads the tables' log."""
        async with self._deploying() as client:
            return await self._led_by(client, TABLES)

    async def leader_of_ledgers(self) -> Node:
        """The server that leads the ledgers' log, once it is another one than leads the tables'."""
        async with self._deploying() as client:
            tables = await self._led_by(client, TABLES)
            while (found := await self._led_by(client, LEDGER)) is tables:
                with contextlib.suppress(nats.errors.TimeoutError):
                    await client.request(f"{DEPLOY_PREFIX}.STREAM.LEADER.STEPDOWN.{LEDGER}", timeout=ASK_S)
            return found

    @contextlib.asynccontextmanager
    async def _deploying(self) -> AsyncIterator[Nats]:
        """A connection of the role that may ask about every stream."""
        line = Line("deploy")
        client = await connect(self.settings, Credentials.read(self.settings.credentials_file), line)
        try:
            yield client
        finally:
            line.ending = True
            await client.close()

    async def _led_by(self, client: Nats, stream: str) -> Node:
        """The server that leads a stream, as soon as there is one: nobody answers while one is elected."""
        async with asyncio.timeout(LED_S_MAX):
            while True:
                with contextlib.suppress(nats.errors.TimeoutError, ServiceUnavailableError):
                    group = (await client.jetstream(timeout=ASK_S).stream_info(stream)).cluster
                    if group is not None and group.leader:
                        return self.cluster.named(group.leader)
                await asyncio.sleep(POLL_S)

    async def follower(self) -> Node:
        """A server that does not."""
        leader = await self.leader()
        return next(node for node in self.cluster.nodes if node is not leader)

    def member(self, service: str) -> Member:
        """The first process of a service."""
        return next(member for member in self.members if member.crew == (service,))

    async def heal(self) -> None:
        """Starts what does not run, and returns once everything is well."""
        for node in self.cluster.nodes:
            if not node.runs:
                self.cluster.start(node)
        for member in self.members:
            if not member.runs:
                await member.start()
        for node in self.cluster.nodes:
            await asyncio.to_thread(node.until_well)
        await asyncio.gather(*(member.serving() for member in self.members))


@contextlib.asynccontextmanager
async def open_house(cluster: Cluster, doors: Doors | None = None) -> AsyncIterator[House]:
    """Runs two processes of each service over a cluster with new streams; without `doors` each comes in anywhere."""
    await make_streams(cluster.settings)
    house = House(cluster, [])
    urls = await doors(house) if doors is not None else (cluster.url, cluster.url)
    house.members = [
        Member(f"{service}-{number}", (service,), _command(cluster.settings, service, url))
        for number, url in enumerate(urls)
        for service in SERVICES
    ]
    try:
        await house.heal()
        yield house
    finally:
        await asyncio.gather(*(member.end(signal.SIGKILL) for member in house.members))


def _command(settings: Settings, service: str, url: str) -> list[str]:
    place = ("--nats", url, "--credentials", str(settings.credentials_file))
    return ["env", f"CROUPIER_REPLICAS={SIZE}", sys.executable, "-c", RUN, "serve", service, *place]
