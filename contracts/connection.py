"""The connection of a client or a service: nats-py's, that does not outlive its reading and its writing.

nats-py lets either end at what it does not foresee, and goes on to call itself connected: nothing is heard any more,
and no other connection opened. The answer to a ping that nobody waits for any more is such a thing. It also counts as
let in whom a busy server has pinged before. There is no public place for this.
"""

import asyncio
from typing import Final

from nats.aio.client import Client, Srv
from nats.aio.transport import TcpTransport

PING: Final = b"PING\r\n"
PONG: Final = b"PONG\r\n"
LINES: Final = ("nats", "tls")
"""Where a server is spoken to in lines; a web socket has none."""
UNWELCOME: Final = "the server hung up before it let anybody in"
READING: Final = "nothing is read any more"
WRITING: Final = "nothing is written any more"


class Entrance(TcpTransport):
    """Line by line nats-py reads only until it is let in; a busy server pings before it comes to that."""

    def __bool__(self) -> bool:
        """Is there before it is connected too: nats-py would put its own in the place."""
        return True

    async def readline(self) -> bytes:
        """The next line that is no ping."""
        while (line := bytes(await super().readline())) == PING:  # type: ignore[no-untyped-call]
            self.write(PONG)  # type: ignore[no-untyped-call]
        return line


class Connection(Client):
    """A connection that counts as broken, and is opened again, as soon as its reading or its writing has ended."""

    async def _connect_to_server(self, s: Srv) -> None:
        if self._transport is None and s.uri.scheme in LINES:
            self._transport = Entrance()  # type: ignore[no-untyped-call]
        await super()._connect_to_server(s)

    async def _process_connect_init(self) -> None:
        await super()._process_connect_init()
        if self.is_connected:
            return
        for begun in (self._reading_task, self._flusher_task, self._ping_interval_task):
            if begun is not None:
                begun.cancel()
        raise ConnectionResetError(UNWELCOME)

    async def _process_pong(self) -> None:
        if self._pongs and self._pongs[0].done():  # who waited was cancelled, or waited for too long
            self._pongs[0] = asyncio.get_running_loop().create_future()
        await super()._process_pong()

    async def _read_loop(self) -> None:
        await super()._read_loop()
        await self._ended(READING)

    async def _flusher(self) -> None:
        await super()._flusher()
        await self._ended(WRITING)

    async def _close(self, status: int, do_cbs: bool = True) -> None:  # noqa: FBT001, FBT002 - nats-py's own
        if not self.is_connected:  # what waits can be sent to nobody
            self._pending, self._pending_data_size = [], 0
        await super()._close(status, do_cbs)

    async def _ended(self, why: str) -> None:
        """Breaks the connection, unless it is broken or closed already, or whoever does that has cancelled this."""
        task = asyncio.current_task()
        if not self.is_connected or task is None or task.cancelling():
            return
        error = ConnectionResetError(why)
        await self._process_op_err(error)
        await self._error_cb(error)
