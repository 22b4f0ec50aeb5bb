"""A room with its services in this process, and connections to it as any user."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final

import msgspec
from nats.aio.client import Client

from contracts.codec import decode, decode_outcome, encode
from contracts.commands import AnyCommand, OpenTable, TakeSeat
from contracts.games import BuyIn, Options, Stakes, TableConfig
from contracts.outcomes import Accepted, Outcome, Refusal
from contracts.queries import PublicTable, TableQuery
from contracts.subjects import ActorKind, command, query, refused
from services.bus import reader
from services.bus.aggregates import TABLES
from services.bus.connection import Line, connect
from services.bus.credentials import Credentials
from services.bus.log import Stored
from services.bus.mailbox import Mailbox, NoAnswer
from services.bus.settings import Settings
from services.bus.streams import REFUSALS
from services.command_line.proof import replay_log
from services.command_line.serve import SERVICES, Build, room
from services.replay.cards import HandKeys
from services.replay.verification import Verification
from tests.servers import a_server, make_streams

ROOM: Final = "main"
PLAIN: Final = Settings()
ANSWER_S: Final = 30.0
AGAIN_S: Final = 5.0
"""Longer than a command is held for another service: an answer that comes is the answer to what was asked."""
CONFIG: Final = TableConfig(
    variant="holdem",
    limit="no_limit",
    stakes=Stakes(small_blind=50, big_blind=100),
    seats=3,
    buy_in=BuyIn(minimum=1_000, maximum=10_000),
    options=Options(act_ms=600_000, odd_chip_unit=5),
)
"""Time enough for a slow machine: in these tests nobody's time runs out."""


class Caller:
    """One user's connection."""

    def __init__(self, client: Client, mailbox: Mailbox, line: Line, kind: ActorKind) -> None:
        self.client = client
        self.mailbox = mailbox
        self.line = line
        self.kind = kind

    async def ask(self, subject: str, body: bytes) -> bytes:
        """Any request, the same bytes again while it is not answered: who stood still drops what was sent.

        Raises what `Mailbox.ask` raises, and TimeoutError.
        """
        async with asyncio.timeout(ANSWER_S):
            while True:
                with contextlib.suppress(NoAnswer):
                    return (await self.mailbox.ask(subject, body, AGAIN_S)).data

    async def send(self, table: str, name: str, body: bytes) -> Outcome:
        """Any bytes in a command's place."""
        return decode_outcome(await self.ask(command(ROOM, table, self.kind, name), body))

    async def command(self, table: str, name: str, asked: AnyCommand) -> Outcome:
        """A command."""
        return await self.send(table, name, encode(asked))


class Room:
    """What a test needs of a running room."""

    def __init__(self, settings: Settings, stack: AsyncExitStack) -> None:
        self.settings = settings
        self._stack = stack

    async def caller(self, user: str, kind: ActorKind = "lobby") -> Caller:
        """A connection that is closed with the room."""
        line = Line(user)
        client = await connect(self.settings, Credentials.read(self.settings.credentials_file), line)
        self._stack.push_async_callback(client.close)
        return Caller(client, await Mailbox.open(client), line, kind)

    async def open(self, lobby: Caller, table: str, players: Sequence[str], config: TableConfig = CONFIG) -> None:
        """Opens a table and seats players."""
        wanted: tuple[AnyCommand, ...] = (
            OpenTable(id="open", config=config),
            *(TakeSeat(id=f"seat-{player}", player=player, buy_in=2_000) for player in players),
        )
        for each in wanted:
            assert isinstance(await lobby.command(table, "lobby", each), Accepted)

    async def picture(self, lobby: Caller, table: str, wanted: Callable[[PublicTable], bool]) -> PublicTable:
        """The public picture of a table, asked for until it is as wanted."""
        async with asyncio.timeout(ANSWER_S):
            while True:
                subject = query("table", ROOM, table, lobby.kind, lobby.line.user)
                seen = decode(await lobby.ask(subject, encode(TableQuery())), PublicTable)
                if wanted(seen):
                    return seen
                await asyncio.sleep(0.01)

    async def log(self, table: str) -> list[Stored]:
        """Every message of a table."""
        async with replay_log(self.settings) as log:
            return [stored async for stored in log.read(ROOM, table)]

    async def refusals(self, deploy: Caller, table: str, count: int) -> list[Refusal]:
        """The refusals of a table that the stream keeps, once there are `count`: the answer may be quicker."""
        context = deploy.client.jetstream()
        async with asyncio.timeout(ANSWER_S):
            while True:
                info = await context.stream_info(REFUSALS, subjects_filter=refused(ROOM, table))
                if sum((info.state.subjects or {}).values()) >= count:
                    break
                await asyncio.sleep(0.01)
        last = (await context.stream_info(REFUSALS)).state.last_seq  # what was counted came after the state was noted
        messages = [await context.get_msg(REFUSALS, seq=n + 1) for n in range(last)]
        kept = [message for message in messages if message.subject == refused(ROOM, table)]
        return [decode(message.data or b"", Refusal) for message in kept]

    async def faults(self, table: str, keys: HandKeys | None = None) -> list[str]:
        """What is wrong with a table's log; with the keys of its hands their decks are checked too."""
        async with replay_log(self.settings) as log:
            start = await reader.from_the_beginning(TABLES, log, ROOM, table)
            verification = Verification(start.state, keys=keys)
            found = [each async for message in reader.messages(log, start) for each in verification.take(message)]
            return [str(finding) for finding in (*found, *verification.finish())]


@asynccontextmanager
async def a_room(
    folder: Path,
    names: Sequence[str] = SERVICES,
    base: Settings = PLAIN,
    builds: dict[str, Build] | None = None,
) -> AsyncIterator[Room]:
    """Runs services over the suite's server; the `folder` has their secrets, and finds its log again.

    `base` are other settings than the usual ones, `builds` other wirings than the services' own.
    """
    async with a_server(folder) as server:
        await make_streams(server)
        settings = msgspec.structs.replace(
            base,
            nats_url=server.url,
            credentials_path=folder / "credentials.json",
            data_path=folder,
            rooms=(ROOM,),
        )
        async with room(settings, names, builds) as running, AsyncExitStack() as stack:
            yield Room(running, stack)


@asynccontextmanager
async def a_house(folder: Path, names: Sequence[str] = SERVICES) -> AsyncIterator[Room]:
    """Runs services over a server of their own, which keeps all its files in the folder, as `croupier serve` does."""
    async with room(Settings(data_path=folder, rooms=(ROOM,)), names) as running, AsyncExitStack() as stack:
        yield Room(running, stack)
