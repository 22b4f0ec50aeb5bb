"""A house with nothing single in it: three servers, two processes of each service, and tables that play meanwhile."""

import asyncio
import contextlib
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final

import msgspec

from services.bots.people import People, by_the_gateway, partner
from services.bots.table import BotTable
from services.bus.connection import Line, connect
from services.bus.credentials import Credentials
from services.bus.settings import Settings
from services.bus.streams import TABLES
from services.command_line.serve import make_streams
from tests.cluster.servers import SIZE, Cluster, Node
from tests.cluster.witness import Outage, Witness, WitnessClient, outage, records
from tests.processes.fleet import ALARMING, RUN, Member
from tests.processes.playing import measured, plans

SERVICES: Final = ("table", "dealer", "rake", "settlement", "views")
TABLES_PLAYING: Final = 20
ENDLESS: Final = 1_000_000
RESUME_S_MAX: Final = 60.0
CLOSE_S_MAX: Final = 60.0
POLL_S: Final = 0.05
NEVER: Final = ("table_halted", "process_ends", "cannot_serve", "task_failed", "command_failed", "debt_unpaid")
"""What no fault of a server, a network or another process may make a service say."""

type Fault = Callable[["House"], Awaitable[None]]
"""Does something to a house, and returns when the worst is over."""


class House:
    """The house of the tests in this folder. Made by `open_house`."""

    def __init__(self, cluster: Cluster, members: list[Member]) -> None:
        self.cluster = cluster
        self.members = members
        self.doors = cluster.url
        """The servers at which bots come in."""

    @property
    def settings(self) -> Settings:
        """How bots and readers reach it."""
        return msgspec.structs.replace(self.cluster.settings, nats_url=self.doors)

    async def leader(self) -> Node:
        """The server that leads the log."""
        line = Line("deploy")
        client = await connect(self.settings, Credentials.read(self.settings.credentials_file), line)
        try:
            info = await client.jetstream().stream_info(TABLES)
        finally:
            line.ending = True
            await client.close()
        assert info.cluster is not None
        assert info.cluster.leader is not None
        return self.cluster.named(info.cluster.leader)

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
async def open_house(cluster: Cluster, doors: Callable[[Node], tuple[str, str]] | None = None) -> AsyncIterator[House]:
    """Runs two processes of each service over a cluster with new streams.

    `doors` says, by the leader, where the first and the second process of each service come in; without it at any
    server.
    """
    await make_streams(cluster.settings)
    house = House(cluster, [])
    urls = doors(await house.leader()) if doors is not None else (cluster.url, cluster.url)
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


class Play:
    """Twenty tables that play until they are told to stop."""

    def __init__(self, house: House, name: str) -> None:
        self.house = house
        self.wanted = [
            msgspec.structs.replace(plan, table=f"{name}-{number}", hands=ENDLESS)
            for number, plan in enumerate(plans(TABLES_PLAYING, ENDLESS, bots=3))
        ]
        self.tables: dict[str, BotTable] = {}
        self.witness = Witness()
        self.retries = 0

    @contextlib.asynccontextmanager
    async def going(self) -> AsyncIterator[None]:
        """Plays as long as the context lasts, and then plays the hands to their end and closes the tables."""
        lobby = await partner(self.house.settings, "lobby", WitnessClient)
        players = People(by_the_gateway(self.house.settings, WitnessClient))
        self.tables = {plan.table: BotTable(plan, lobby, players) for plan in self.wanted}
        try:
            async with asyncio.TaskGroup() as group:
                for table in self.tables.values():
                    group.create_task(table.play())
                yield
                self._stop()
        finally:
            await lobby.close()
            await players.close()
            for client in (lobby, *players.clients):
                self.witness.told(client)
                self.retries += client.post.again

    def _stop(self) -> None:
        for table in self.tables.values():
            table.plan = msgspec.structs.replace(table.plan, hands=0)

    async def goes_on(self, hands: int = 1) -> None:
        """Returns once every table has ended so many hands more. Raises AssertionError."""
        wanted = {name: table.ended + hands for name, table in self.tables.items()}
        try:
            async with asyncio.timeout(RESUME_S_MAX):
                while self._behind(wanted):  # noqa: ASYNC110 - twenty tables, and none that tells
                    await asyncio.sleep(POLL_S)
        except TimeoutError:
            raise AssertionError(f"these tables do not play on: {self._behind(wanted)}") from None

    def _behind(self, wanted: dict[str, int]) -> list[str]:
        """The tables that have ended fewer hands, with the last commit that was seen of each."""
        tables = {name: self.tables[name] for name in wanted}
        seen = {name: each.table.n if each.table is not None else 0 for name, each in tables.items()}
        return [f"{name} after {seen[name]}" for name, each in tables.items() if each.ended < wanted[name]]


async def endured(house: House, name: str, fault: Fault) -> Outage:
    """Plays while a fault happens and is mended; asserts that nothing was lost or doubled, and gives what it cost."""
    await house.heal()
    for member in house.members:
        member.said.clear()
    play = Play(house, name)
    async with play.going():
        await play.goes_on()
        since = datetime.now(UTC)
        await fault(house)
        await play.goes_on()
        await house.heal()
        await play.goes_on()
        until = datetime.now(UTC)
    _keep(house, name)
    found = await records(house.settings, [plan.table for plan in play.wanted], play.witness)
    cost = outage(found, since, until)
    hands = sum(record.account.hands for record in found)
    measured(f"{name}: {cost}; {hands} hands, {play.witness.answers} answers, {play.retries} retries; {_said(house)}")
    assert play.witness.contradictions == [], play.witness.contradictions
    faults = {record.table: record.faults for record in found if record.faults}
    assert faults == {}, faults
    alarms = [line for member in house.members for line in member.said if line["event"] in NEVER]
    assert alarms == [], alarms
    return cost


def _keep(house: House, name: str) -> None:
    """Leaves what services said meanwhile beside the servers' folders."""
    said = sorted(({"member": each.name, **line} for each in house.members for line in each.said), key=_timestamp)
    (house.cluster.folder / f"{name}.jsonl").write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in said))


def _timestamp(line: dict[str, Any]) -> str:
    return str(line.get("timestamp", ""))


def _said(house: House) -> str:
    """What services said that calls for somebody, counted."""
    said = Counter(line["event"] for member in house.members for line in member.said if line["level"] in ALARMING)
    return ", ".join(f"{count} {event}" for event, count in said.most_common()) or "no alarms"
