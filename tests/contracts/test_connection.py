"""A connection that neither hears nor speaks is broken, whatever ended that, and another one is opened."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest
from nats.aio.msg import Msg

from contracts.connection import PING, PONG, Connection
from contracts.sink import Sink

IN_TIME_S: Final = 20.0
"""Long before nats-py would miss the answer to a ping of its own."""
INFO: Final = b'INFO {"server_id":"S","version":"2.15.1","max_payload":1048576,"headers":true}\r\n'
UNREADABLE: Final = b"INFO {\r\n"
"""What nats-py does not foresee: its reading ends."""
WELCOME: Final = PONG
HANGS_UP: Final = b""
PINGS_FIRST: Final = PING + PONG


class Door:
    """A server that answers the first ping of each connection as it was told to, and every later one by a pong.

    `arrived` are the connections, the last one last; `ponged` counts how often its own pings were answered.
    """

    def __init__(self, welcomes: Sequence[bytes]) -> None:
        self.arrived: list[asyncio.StreamWriter] = []
        self.pinged = asyncio.Event()
        self.ponged = 0
        self.answers = True
        self._welcomes = [*welcomes]

    async def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Speaks on one connection until it ends."""
        self.arrived.append(writer)
        welcome = self._welcomes.pop(0) if self._welcomes else WELCOME
        writer.write(INFO)
        while line := await reader.readline():
            if line.startswith(b"PUB"):
                await reader.readline()
            self.ponged += line == PONG
            if line == PING:
                if welcome == HANGS_UP:
                    break
                self.pinged.set()
                if self.answers:
                    writer.write(welcome)
                welcome = PONG
        writer.close()

    def say(self, body: bytes) -> None:
        """Sends a message to the first subscription of whoever came last."""
        self.arrived[-1].write(b"MSG news 1 %d\r\n%s\r\n" % (len(body), body))


class Visitor:
    """Who is connected to a door and listens; `back` is set when a connection is there again."""

    def __init__(self, client: Connection) -> None:
        self.client = client
        self.heard: asyncio.Queue[bytes] = asyncio.Queue()
        self.back = asyncio.Event()

    async def returned(self) -> None:
        """Comes back on another connection."""
        self.back.set()

    def take(self, message: Msg) -> None:
        """Hears a message."""
        self.heard.put_nowait(message.data)


@asynccontextmanager
async def visiting(*welcomes: bytes) -> AsyncIterator[tuple[Door, Visitor]]:
    """Somebody who listens at a door that welcomes each connection in turn."""
    door, visitor = Door(welcomes), Visitor(Connection())
    sink: Any = Sink(visitor.take, lambda _, error: pytest.fail(repr(error)))
    server = await asyncio.start_server(door.take, "127.0.0.1")
    async with server:
        port = server.sockets[0].getsockname()[1]
        await visitor.client.connect(
            f"nats://127.0.0.1:{port}",
            reconnected_cb=visitor.returned,
            max_reconnect_attempts=-1,
            reconnect_time_wait=0,
        )
        await visitor.client.subscribe("news", future=sink)
        await visitor.client.flush()
        try:
            yield door, visitor
        finally:
            await visitor.client.close()


async def hears(door: Door, visitor: Visitor) -> bool:
    """Whether what is said on the last connection arrives."""
    door.say(b"hello")
    return await asyncio.wait_for(visitor.heard.get(), IN_TIME_S) == b"hello"


async def test_the_answer_to_a_ping_for_which_nobody_waits_any_more_deafens_nobody() -> None:
    async with visiting() as (door, visitor):
        door.answers = False
        door.pinged.clear()
        flushing = asyncio.ensure_future(visitor.client.flush())
        await asyncio.wait_for(door.pinged.wait(), IN_TIME_S)
        flushing.cancel()
        await asyncio.wait((flushing,))
        door.arrived[-1].write(PONG)
        assert await hears(door, visitor)
        door.answers = True
        await visitor.client.flush()
        assert len(door.arrived) == 1


async def test_where_reading_ended_another_connection_is_opened() -> None:
    async with visiting() as (door, visitor):
        door.arrived[-1].write(UNREADABLE)
        await asyncio.wait_for(visitor.back.wait(), IN_TIME_S)
        assert await hears(door, visitor)
        assert len(door.arrived) == 2


async def test_where_writing_ended_another_connection_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """What asyncio raises where a connection was lost of which nobody has read that it is."""
    async with visiting() as (door, visitor):
        transport = visitor.client._transport  # noqa: SLF001 - no other way to have it lost at this moment

        def lost(_: object) -> None:
            losing.undo()
            raise AttributeError("'NoneType' object has no attribute '_add_writer'")

        with monkeypatch.context() as losing:
            losing.setattr(transport, "writelines", lost)
            await visitor.client.publish("nobody", b"")
            await asyncio.wait_for(visitor.back.wait(), IN_TIME_S)
        assert await hears(door, visitor)
        assert len(door.arrived) == 2


async def test_who_is_not_let_in_is_not_connected_and_tries_once_more() -> None:
    async with visiting(HANGS_UP) as (door, visitor):
        assert await hears(door, visitor)
        assert len(door.arrived) == 2


async def test_who_is_not_let_in_again_is_not_connected_and_tries_once_more() -> None:
    async with visiting(WELCOME, HANGS_UP) as (door, visitor):
        door.arrived[-1].close()
        await asyncio.wait_for(visitor.back.wait(), IN_TIME_S)
        assert await hears(door, visitor)
        assert len(door.arrived) == 3


async def test_a_server_that_pings_before_it_lets_anybody_in_is_answered_and_waited_for() -> None:
    async with visiting(PINGS_FIRST, PINGS_FIRST) as (door, visitor):
        assert await hears(door, visitor)
        door.arrived[-1].close()
        await asyncio.wait_for(visitor.back.wait(), IN_TIME_S)
        assert await hears(door, visitor)
        assert len(door.arrived) == 2
        assert door.ponged == 2


async def test_a_connection_is_closed_though_the_server_is_away_and_something_waits_for_it() -> None:
    door, client, gone, closed = Door(()), Connection(), asyncio.Event(), asyncio.Event()

    async def lost() -> None:
        gone.set()

    async def over() -> None:
        closed.set()

    server = await asyncio.start_server(door.take, "127.0.0.1")
    url = f"nats://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    await client.connect(url, disconnected_cb=lost, closed_cb=over, max_reconnect_attempts=-1)
    server.close()
    door.arrived[-1].close()
    await asyncio.wait_for(gone.wait(), IN_TIME_S)
    await client.subscribe("news")
    await client.close()
    assert closed.is_set()
