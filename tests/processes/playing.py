"""Bots at several tables through the bus, and what the log says of them afterwards."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from itertools import pairwise
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from contracts import subjects
from contracts.client import Client
from contracts.codec import decode_outcome, encode
from contracts.commands import AnyCommand
from contracts.games import Options
from contracts.outcomes import Outcome
from contracts.subjects import ActorKind
from services.bots.bank import Bank
from services.bots.games import GAMES, SEATS, config_of, stakes_of
from services.bots.incidents import INCIDENTS
from services.bots.people import People, by_the_gateway, partner
from services.bots.table import BotTable, Plan
from services.bus.connection import Line, connect
from services.bus.credentials import Credentials
from services.bus.log import Log
from services.bus.mailbox import Mailbox
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from services.command_line.demo_plans import HURRIED
from services.command_line.proof import Account, prove, replay_log
from services.rake.schedules import party
from tests import servers

ROOM: Final = "main"
LEDGER: Final = "real-USD"
ONCE_S: Final = 5.0
TURN_S: Final = Options().act_ms / 1000
"""Who waited for less did not wait for a turn to run out: the services went on by themselves, if slowly."""


@asynccontextmanager
async def a_server(folder: Path) -> AsyncIterator[Settings]:
    """The suite's server with new streams; gives the settings with which processes reach it."""
    async with servers.a_server(folder) as server:
        await servers.make_streams(server)
        yield Settings(nats_url=server.url, credentials_path=folder / "credentials.json")


@asynccontextmanager
async def own_server(folder: Path) -> AsyncIterator[Settings]:
    """A bundled server with new streams, which is gone when the context is left."""
    async with EmbeddedServer(folder) as server:
        await servers.make_streams(server)
        yield Settings(nats_url=server.url, credentials_path=folder / "credentials.json")


def plans(tables: int, hands: int, bots: int = SEATS) -> list[Plan]:
    """So many tables, every game among them, with rake."""
    games = list(GAMES)
    chosen = [games[number % len(games)] for number in range(tables)]
    return [
        Plan(ROOM, f"T{number}", config_of(game, party(GAMES[game][1], stakes_of(game))), bots, hands, seed=number)
        for number, game in enumerate(chosen)
    ]


def cash_plans(tables: int, hands: int, bots: int) -> list[Plan]:
    """The same with the players' own accounts, and with all that befalls a room at each table."""
    incidents = tuple(INCIDENTS)
    return [
        replace(
            plan,
            config=replace(plan.config, bankroll="cashier", options=HURRIED),
            incidents=incidents,
            refuses=True,
        )
        for plan in plans(tables, hands, bots)
    ]


@asynccontextmanager
async def people(settings: Settings) -> AsyncIterator[tuple[Client, Client]]:
    """A lobby, and the gateway that may act for all players."""
    lobby, gateway = await partner(settings, "lobby"), await by_the_gateway(settings)("players")
    try:
        yield lobby, gateway
    finally:
        await lobby.close()
        await gateway.close()


class Sender:
    """Sends a command a single time, on a connection of its own: what became of it is the answer to that."""

    def __init__(self, mailbox: Mailbox, kind: ActorKind) -> None:
        self._mailbox = mailbox
        self._kind = kind

    async def once(self, table: str, name: str, command: AnyCommand) -> Outcome:
        """The answer, `busy` too. Raises `NoAnswer`, `NobodyThere` or `NotSent`."""
        subject = subjects.command(ROOM, table, self._kind, name)
        return decode_outcome((await self._mailbox.ask(subject, encode(command), ONCE_S)).data)


@asynccontextmanager
async def a_sender(settings: Settings, user: str, kind: ActorKind) -> AsyncIterator[Sender]:
    """Somebody who does not send again."""
    line = Line(user)
    client = await connect(settings, Credentials.read(settings.credentials_file), line)
    try:
        yield Sender(await Mailbox.open(client), kind)
    finally:
        line.ending = True
        await client.close()


async def play(
    settings: Settings, wanted: Sequence[Plan], kind: type[Client] = Client
) -> tuple[list[BotTable], list[Client]]:
    """Plays all tables to their end; gives them, and the closed connections with their counts."""
    lobby, operator = await partner(settings, "lobby", kind), await partner(settings, "operator", kind)
    players, bank = People(by_the_gateway(settings, kind)), Bank(lobby, LEDGER)
    tables = [BotTable(plan, lobby, players, operator, bank) for plan in wanted]
    try:
        async with asyncio.TaskGroup() as group:
            for table in tables:
                group.create_task(table.play())
    finally:
        for each in (lobby, players, operator):
            await each.close()
    return tables, [lobby, *players.clients]


class Proof(msgspec.Struct):
    """What the log says of a table: its account, what is wrong with it, and its longest silence in seconds."""

    table: str
    account: Account
    faults: list[str]
    silence_s: float
    after: str


async def proofs(settings: Settings, tables: Sequence[str]) -> list[Proof]:
    """Verifies the whole log of each table."""
    async with replay_log(settings) as log:
        return [await _proof(log, table) for table in tables]


async def _proof(log: Log, table: str) -> Proof:
    account, findings = await prove(log, ROOM, table)
    messages = [message async for message in log.read(ROOM, table)]
    silence_s, after = 0.0, ""
    for one, two in pairwise(messages):
        assert one.time is not None
        assert two.time is not None
        waited_s = (two.time - one.time).total_seconds()
        if waited_s > silence_s:
            silence_s, after = waited_s, f"{one.subject} at {one.time.time()}"
    return Proof(table, account, [str(finding) for finding in findings], silence_s, after)


def played_and_sound(found: Sequence[Proof], wanted: Sequence[Plan]) -> None:
    """Asserts that every hand was completed, everything verifies, and no chip came or went unseen."""
    assert {proof.table: proof.faults for proof in found} == {plan.table: [] for plan in wanted}
    for proof, plan in zip(found, wanted, strict=True):
        account = proof.account
        hands = account.hands + account.voided
        assert hands >= plan.hands, f"{plan.table} played {hands} hands of {plan.hands}"
        assert account.chips_in == account.chips_out + account.rake, plan.table


def longest_silence(found: Sequence[Proof]) -> Proof:
    """The table that waited longest between two commits."""
    return max(found, key=lambda proof: proof.silence_s)


def measured(said: str) -> None:
    """Shows what was measured to whoever runs the tests with `-s` or `-rP`."""
    print(said)  # noqa: T201
