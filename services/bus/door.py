"""Questions over HTTP, for probes: does the process live (`/live`), and is it ready for work (`/ready`)? And pages.

The answer comes from the event loop that does the work, so a process whose loop stands still does not answer.
FastStream has an ASGI application for this, but it wants a web server and a port for each service, and here a process
holds several; a few GETs need neither.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Final

import msgspec
import structlog

from services.bus.health import Health

logger: Final = structlog.get_logger(__name__)

REQUEST_S_MAX: Final = 2.0
REQUEST_BYTES_MAX: Final = 8 * 1024
OPEN_MAX: Final = 32
"""So many probes are heard at the same time."""
_PHRASES: Final = {200: "OK", 404: "Not Found", 500: "Internal Server Error", 503: "Service Unavailable"}


class Live(msgspec.Struct, frozen=True):
    """What `/live` says: the event loop turns; `reason` says why the process should be started anew."""

    live: bool
    reason: str = ""


class Page(msgspec.Struct, frozen=True):
    """What is found at a path, and of which type it is."""

    content_type: str
    body: bytes


type Pages = Mapping[str, Callable[[], Page]]
"""What is found at paths of their own, made anew each time that somebody asks: `/metrics`."""


class Door:
    """Answers probes from what `live` and `ready` say at that moment, and shows `pages`."""

    def __init__(self, live: Callable[[], Live], ready: Callable[[], Health], pages: Pages | None = None) -> None:
        self._live = live
        self._ready = ready
        self._pages = dict(pages or {})
        self._open = 0
        self.port = 0
        """Where it listens: the one that was wanted, or for 0 a free one."""

    @contextlib.asynccontextmanager
    async def at(self, host: str, port: int) -> AsyncIterator[None]:
        """Answers at this address. Raises OSError where it is taken."""
        server = await asyncio.start_server(self._hear, host, port, limit=REQUEST_BYTES_MAX)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield
        finally:
            server.close()

    async def _hear(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            if self._open <= OPEN_MAX:
                with contextlib.suppress(TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
                    async with asyncio.timeout(REQUEST_S_MAX):
                        head = await reader.readuntil(b"\r\n\r\n")
                        writer.write(self._answer_or_fault(head))
                        await writer.drain()
        finally:
            self._open -= 1
            writer.close()

    def _answer_or_fault(self, head: bytes) -> bytes:
        try:
            return self._answer(head)
        except Exception:  # a fault in one page must not look like a process that ended
            logger.exception("page_failed", said=head.partition(b"\r\n")[0].decode("latin-1"))
            return _response(500, b"{}")

    def _answer(self, head: bytes) -> bytes:
        method, _, rest = head.partition(b" ")
        path = rest.split(b" ")[0].split(b"?")[0].decode("latin-1") if method == b"GET" else ""
        if path == "/live":
            live = self._live()
            return _response(200 if live.live else 503, msgspec.json.encode(live))
        if path == "/ready":
            ready = self._ready()
            return _response(200 if ready.ready else 503, msgspec.json.encode(ready))
        if path in self._pages:
            page = self._pages[path]()
            return _response(200, page.body, page.content_type)
        listed = msgspec.json.encode({"paths": ["/live", "/ready", *self._pages]})
        return _response(200 if path == "/" else 404, listed)


def _response(status: int, body: bytes, content_type: str = "application/json") -> bytes:
    head = (
        f"HTTP/1.1 {status} {_PHRASES[status]}\r\nContent-Type: {content_type}\r\n"
        f"Content-Length: {len(body)}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
