"""A real server at which a test speaks for the services: what a client gets is what the test has them say."""

import asyncio
import contextlib
from collections import defaultdict
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final

import msgspec
import nats.errors
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg

from contracts import subjects
from contracts.client import Client, Following, Seen
from contracts.codec import encode
from contracts.outcomes import Rejected
from contracts.queries import OwnCards, PublicTable
from contracts.subjects import ActorKind
from contracts.views import PublicView
from services.bus.connection import Line, connect, settle
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings

ROOM: Final = "main"
TABLE: Final = "T1"
UNKNOWN: Final = Rejected(code="unknown_table", message="There is no table T1 in room main.")
SPEAKERS: Final = ("views", "dealer", "table", "cashier")
IN_TIME_S: Final = 20.0

type Say = Callable[[Msg], msgspec.Struct | bytes | None]
"""What a service answers; None: nothing."""


class Stage:
    """The services' voices, and the clients that hear them. `asked` counts what came, by its subject's first words."""

    def __init__(self, server: EmbeddedServer, stack: contextlib.AsyncExitStack) -> None:
        self.server = server
        self.asked: dict[str, list[Msg]] = defaultdict(list)
        self._stack = stack
        self._voices: dict[str, Nats] = {}

    async def voice(self, user: str) -> Nats:
        """A connection as one of the services."""
        if user not in self._voices:
            line = Line(user)
            client = await connect(Settings(), self.server.credentials, line)
            self._stack.push_async_callback(client.close)
            self._voices[user] = client
        return self._voices[user]

    async def client(self, kind: ActorKind, name: str, user: str | None = None) -> Client:
        """A client of the server, by its file of credentials."""
        who = user or {"player": "players", "lobby": "lobby", "operator": "operator"}[kind]
        client = await Client.of_file(self.server.directory / "credentials.json", kind, name, user=who)
        self._stack.push_async_callback(client.close)
        return client

    async def answering(self, user: str, pattern: str, say: Say) -> None:
        """Has a service answer what is asked on a pattern."""
        client = await self.voice(user)

        async def asked(message: Msg) -> None:
            self.asked[pattern].append(message)
            said = say(message)
            if said is not None:
                await client.publish(message.reply, said if isinstance(said, bytes) else encode(said))

        await client.subscribe(pattern, cb=asked)
        await settle(client)

    async def shows(self, picture: Callable[[], PublicTable | Rejected | None]) -> None:
        """Has the views service answer for the whole."""
        await self.answering("views", "query.table.*.*.*.*", lambda _: picture())

    async def show(self, *views: PublicView | bytes) -> None:
        """Sends public views."""
        await self.say("views", subjects.public_view(ROOM, TABLE), *views)

    async def deal(self, player: str, *cards: OwnCards | bytes) -> None:
        """Sends a player's own cards."""
        await self.say("dealer", subjects.player_view(ROOM, TABLE, player), *cards)

    async def say(self, user: str, subject: str, *said: msgspec.Struct | bytes) -> None:
        """Sends anything as a service."""
        client = await self.voice(user)
        for each in said:
            await client.publish(subject, each if isinstance(each, bytes) else encode(each))
        await settle(client)


@contextlib.asynccontextmanager
async def a_stage(folder: Path | None = None) -> AsyncIterator[Stage]:
    """A server whose services are played by the test."""
    async with EmbeddedServer(folder, sync_always=False) as server, contextlib.AsyncExitStack() as stack:
        yield Stage(server, stack)


async def seen(following: Following, count: int) -> list[Seen]:
    """The next things that are to be seen."""
    async with asyncio.timeout(IN_TIME_S):
        return [await anext(following) for _ in range(count)]


def numbers(items: list[Seen]) -> list[tuple[str, int]]:
    """What kind each is, and of which commit."""
    return [(type(each).__name__, each.n) for each in items]


async def connected(client: Nats) -> None:
    """Returns once a connection is there again."""
    async with asyncio.timeout(IN_TIME_S):
        while True:
            with contextlib.suppress(nats.errors.Error, TimeoutError):
                await client.flush(1)
                return
            await asyncio.sleep(0.02)
