"""Logs for the bench: played by the deciders in memory, then appended to a server, many tables at a time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Final

from nats.aio.client import Client

from contracts.codec import decode_commit, digest, encode
from contracts.commands import PauseTable
from contracts.commit import Head
from contracts.events import SERVICES
from contracts.subjects import read_commit
from services.bus.connection import Line, connect
from services.bus.credentials import Credentials
from services.bus.jetstream import JetStreamLog
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from services.command_line.serve import DEPLOY_PREFIX, make_streams
from tests.bench.deciders import LOBBY, Deciders, Message, RealDecks, Seat6

ROOM: Final = "main"
WRITERS: Final = 64
GAMES: Final = ("nlhe", "plo", "plo8", "lo8")


@asynccontextmanager
async def a_server(folder: Path, *, sync_always: bool) -> AsyncIterator[Settings]:
    """A server with its streams; gives the settings with which processes reach it."""
    async with EmbeddedServer(folder, sync_always=sync_always) as server:
        settings = Settings(nats_url=server.url, credentials_path=server.directory / "credentials.json")
        await make_streams(settings)
        yield settings


@asynccontextmanager
async def connected(settings: Settings, user: str) -> AsyncIterator[Client]:
    """A connection as a user."""
    line = Line(user)
    client = await connect(settings, Credentials.read(settings.credentials_file), line)
    try:
        yield client
    finally:
        line.ending = True
        await client.close()


@asynccontextmanager
async def log_of(settings: Settings, user: str = "deploy") -> AsyncIterator[JetStreamLog]:
    """The log, as the deploy role or as a service."""
    prefix = DEPLOY_PREFIX if user == "deploy" else settings.api_prefix
    async with connected(settings, user) as client:
        log = await JetStreamLog.open(client, Settings(api_prefix=prefix))
        yield log
        await log.close()


def played(number: int, commits: int) -> list[Message]:
    """A table's log of at least so many commits, unless its players go broke before."""
    seated = Seat6(f"T{number}", GAMES[number % len(GAMES)])
    deciders = Deciders((), RealDecks(Random(number)), number)
    while len(seated.messages) < commits:
        hand = list(deciders.hand(seated.table))
        if not hand:
            break
        seated.messages += hand
    return seated.messages


def idle(number: int) -> list[Message]:
    """The log of a table with six players that is paused before its first hand."""
    table = Seat6(f"T{number}", GAMES[number % len(GAMES)])
    table.send(LOBBY, PauseTable(id="pause"))
    return table.messages


async def write(log: JetStreamLog, tables: Iterable[Callable[[], list[Message]]]) -> int:
    """Appends whole tables, some at a time; gives the number of commits."""
    waiting = iter(tables)
    counts = await asyncio.gather(*(_write(log, waiting) for _ in range(WRITERS)))
    return sum(counts)


async def _write(log: JetStreamLog, waiting: Iterable[Callable[[], list[Message]]]) -> int:
    commits = 0
    for table in waiting:
        sequence = 0
        for subject, data in table():
            address = read_commit(subject)
            assert address is not None
            sequence = await log.append(*address, data, sequence)
            commits += 1
    return commits


async def leave_heads(log: JetStreamLog) -> int:
    """Leaves the head of every table, once for each service, as they do; gives their number."""
    waiting = iter(await log.tables(ROOM))
    return sum(await asyncio.gather(*(_leave_heads(log, waiting) for _ in range(WRITERS))))


async def _leave_heads(log: JetStreamLog, waiting: Iterator[str]) -> int:
    count = 0
    for table in waiting:
        tail = await log.tail(ROOM, table)
        assert tail is not None
        head = encode(Head(n=decode_commit(tail.data).n, hash=digest(tail.data)))
        for service in SERVICES:
            await log.leave_head(service, ROOM, table, head)
            count += 1
    return count
