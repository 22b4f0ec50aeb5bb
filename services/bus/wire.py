"""Reads what the server sends, at what half of a service's time would else go into.

nats-py tries each line against eight patterns, moves its buffer after each message, checks header names by character
and runs a coroutine for every message. Here a message's line is split, and what is meant for a `Sink` goes to it at
once. All else, and whatever looks unusual, is left to nats-py. There is no public place for this: a test compares what
the two read.
"""

from typing import Final

from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.sink import Sink

_END: Final = b"\r\n"
_MESSAGE: Final = (b"MSG ", b"HMSG ")
_BARE_STATUS: Final = 32  # the blank after `NATS/1.0` when a status follows


def plain_headers(headers: bytes) -> dict[str, str] | None:
    """Headers without a status, one `name: value` a line; None for others, which nats-py has to read."""
    if headers[8] == _BARE_STATUS:
        return None
    try:
        return dict([line.split(": ", 1) for line in headers[10:-4].decode().split("\r\n")])
    except ValueError:
        return None


class QuickParser:
    """Stands in the place of a client's own parser."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._thorough = client._ps  # noqa: SLF001
        self._rest = b""

    def reset(self) -> None:
        """Forgets what was half read: the connection is a new one."""
        self._rest = b""
        self._thorough.reset()

    async def parse(self, data: bytes = b"") -> None:
        """Takes the next bytes; raises what nats-py raises for what is not its protocol."""
        buffer = self._rest + data if self._rest else data
        self._rest = b""
        at = 0
        while (end := buffer.find(_END, at)) >= 0:
            if not buffer.startswith(_MESSAGE, at):
                await self._thorough.parse(buffer[at : end + 2])
                at = end + 2
                continue
            line = buffer[at:end].split(b" ")
            start = end + 2
            stop = start + int(line[-1])
            if len(buffer) < stop + 2:
                break
            split = start + int(line[-2]) if line[0] == b"HMSG" else start
            await self._message(line, buffer[start:split], buffer[split:stop])
            at = stop + 2
        self._rest = buffer[at:]

    async def _message(self, line: list[bytes], headers: bytes, payload: bytes) -> None:
        subject, sid = line[1], int(line[2])
        reply = line[3] if len(line) == (6 if headers else 5) else b""
        client = self._client
        subscription = client._subs.get(sid)  # noqa: SLF001
        sink: object = subscription._future if subscription is not None else None  # noqa: SLF001
        read = plain_headers(headers) if headers else None
        if subscription is None or not isinstance(sink, Sink) or (headers and read is None):
            await client._process_msg(sid, subject, reply, payload, headers)  # noqa: SLF001
            return
        client.stats["in_msgs"] += 1
        client.stats["in_bytes"] += len(payload)
        subscription._received += 1  # noqa: SLF001
        sink.set_result(Msg(client, subject.decode(), reply.decode(), payload, read, _sid=sid))


def quicken(client: Client) -> Client:
    """Has a client read quickly from now on."""
    client._ps = QuickParser(client)  # type: ignore[assignment]  # noqa: SLF001
    thorough = client._process_headers  # noqa: SLF001

    async def process_headers(headers: bytes) -> dict[str, str] | None:
        read = plain_headers(headers) if headers else None
        return read if read is not None else await thorough(headers)

    client._process_headers = process_headers  # type: ignore[method-assign]  # noqa: SLF001
    return client
