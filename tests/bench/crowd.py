"""A crowd of players' connections in one process, as lean as can be: what is measured is the server and the services.

A process that runs `run` reads orders from its standard input, a JSON line each, and answers each with a line.
"""

import asyncio
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final, cast

import msgspec
import uvloop

from contracts import subjects
from contracts.codec import encode
from contracts.data import Id
from contracts.queries import TableQuery

READ_BYTES_MAX: Final = 1 << 20
CONNECTING_MAX: Final = 100
"""So many connect at the same time, but in a storm."""
AGAIN_S: Final = 1.0
WAIT_S: Final = 60.0


class Person(msgspec.Struct, frozen=True):
    """Who connects: somebody at a table."""

    name: Id
    table: Id


class Order(msgspec.Struct, frozen=True):
    """What the crowd has to do: `come`, `spread` (say what was seen since the last time), `storm` or `leave`.

    In a storm the first `count` people lose their connection and come back at once; each is there again when it has the
    whole picture of its table.
    """

    act: str
    host: str = ""
    port: int = 0
    user: str = ""
    password: str = ""
    people: tuple[Person, ...] = ()
    count: int = 0


class Answer(msgspec.Struct, frozen=True):
    """What came of it: views seen and how late each was in milliseconds, people there, and how long it took."""

    views: int = 0
    cards: int = 0
    late_ms: tuple[float, ...] = ()
    there: int = 0
    took_s: float = 0.0


class Seen(msgspec.Struct):
    """Of a view, when its commit was decided."""

    at: datetime | None = None


class Connection(asyncio.Protocol):
    """One person's connection: speaks as much of NATS' protocol as it needs."""

    def __init__(self, crowd: "Crowd", person: Person, order: Order, *, asks: bool) -> None:
        self.there: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._crowd = crowd
        self._person = person
        self._order = order
        self._asks = asks
        self._greeted = False
        self._rest = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Waits for the server's first line."""
        self._transport = cast("asyncio.Transport", transport)

    def connection_lost(self, exc: Exception | None) -> None:
        """Says so to whoever waits for it to be there."""
        if not self.there.done():
            self.there.set_exception(exc or ConnectionError("the server closed the connection"))

    def close(self) -> None:
        """Hangs up without a word."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Takes what came, line by line, and payloads by their length."""
        data, at = self._rest + data, 0
        while (end := data.find(b"\r\n", at)) >= 0:
            line = data[at:end]
            if line.startswith(b"MSG "):
                size = int(line.rpartition(b" ")[2])
                if len(data) < end + size + 4:
                    break
                self._message(line, data[end + 2 : end + 2 + size])
                at = end + size + 4
                continue
            at = end + 2
            self._said(line)
        self._rest = data[at:]

    def _said(self, line: bytes) -> None:
        if line.startswith(b"INFO ") and not self._greeted:
            self._greeted = True
            self._greet()
        elif line == b"PING":
            self._write(b"PONG\r\n")
        elif line == b"PONG" and not self._asks and not self.there.done():
            self.there.set_result(None)

    def _greet(self) -> None:
        table, name = self._person.table, self._person.name
        hello = {"user": self._order.user, "pass": self._order.password, "verbose": False, "pedantic": False}
        inbox = f"_INBOX.{self._order.user}.{name}"
        listens = (
            subjects.public_view("main", table),
            subjects.player_view("main", table, name),
            subjects.balance(name),
            inbox,
        )
        said = [f"CONNECT {msgspec.json.encode(hello).decode()}"]
        said += [f"SUB {subject} {number}" for number, subject in enumerate(listens, 1)]
        self._write("\r\n".join((*said, "PING", "")).encode())
        if self._asks:
            self._ask(f"{subjects.query('table', 'main', table, 'player', name)} {inbox}")

    def _ask(self, where: str) -> None:
        """Asks for the whole picture until it is there: an answer may be lost, or say that too many ask at once."""
        if not self.there.done() and self._transport is not None and not self._transport.is_closing():
            body = encode(TableQuery()).decode()
            self._write(f"PUB {where} {len(body)}\r\n{body}\r\n".encode())
            asyncio.get_running_loop().call_later(AGAIN_S, self._ask, where)

    def _message(self, line: bytes, body: bytes) -> None:
        number = line.split(b" ")[2]
        if number == b"1":
            self._crowd.viewed(body)
        elif number == b"2":
            self._crowd.cards += 1
        elif b'"type":"table"' in body and not self.there.done():
            self.there.set_result(None)

    def _write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)


class Crowd:
    """All connections of one process, and what they have seen since the last time that was asked."""

    def __init__(self) -> None:
        self.cards = 0
        self._late_ms: list[float] = []
        self._connections: dict[Person, Connection] = {}
        self._order = Order(act="come")
        self._seen = msgspec.json.Decoder(Seen)

    def viewed(self, body: bytes) -> None:
        """Notes how late a view is, from the moment at which its commit was decided."""
        at = self._seen.decode(body).at
        if at is not None:
            self._late_ms.append((datetime.now(UTC) - at).total_seconds() * 1000)

    async def obey(self, order: Order) -> Answer:
        """Does what it is told. Raises OSError where somebody does not get in."""
        began = asyncio.get_running_loop().time()
        match order.act:
            case "come":
                self._order = order
                await self._connect(order.people, CONNECTING_MAX, asks=False)
            case "storm":
                gone = tuple(self._connections)[: order.count]
                for person in gone:
                    self._connections[person].close()
                await self._connect(gone, order.count, asks=True)
            case _:
                pass
        late_ms, self._late_ms = tuple(self._late_ms), []
        cards, self.cards = self.cards, 0
        took_s = asyncio.get_running_loop().time() - began
        return Answer(len(late_ms), cards, late_ms, len(self._connections), took_s)

    async def _connect(self, people: Sequence[Person], at_once: int, *, asks: bool) -> None:
        slots, loop = asyncio.Semaphore(max(1, at_once)), asyncio.get_running_loop()

        async def come(person: Person) -> None:
            async with slots:
                connection = Connection(self, person, self._order, asks=asks)
                await loop.create_connection(lambda: connection, self._order.host, self._order.port)
                self._connections[person] = connection
                await asyncio.wait_for(connection.there, WAIT_S)

        async with asyncio.TaskGroup() as group:
            for person in people:
                group.create_task(come(person))


async def main() -> None:
    """Obeys until there are no more orders."""
    crowd, loop, orders = Crowd(), asyncio.get_running_loop(), asyncio.StreamReader(READ_BYTES_MAX)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(orders), sys.stdin)
    read = msgspec.json.Decoder(Order)
    while line := await orders.readline():
        sys.stdout.buffer.write(msgspec.json.encode(await crowd.obey(read.decode(line))) + b"\n")
        sys.stdout.buffer.flush()


def run() -> None:
    """What a process of the crowd does."""
    uvloop.run(main())
