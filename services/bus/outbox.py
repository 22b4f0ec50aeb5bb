"""Core messages that nobody waits for: answers, views, heads. They leave in order, by one task."""

import asyncio
from collections import deque
from typing import Final

import structlog
from nats.aio.client import Client

from services.bus.background import begun
from services.bus.placed import placed
from services.bus.tracing import carried

logger: Final = structlog.get_logger(__name__)

MESSAGES_MAX: Final = 100_000
BYTES_MAX: Final = 64 * 1024 * 1024
"""So many messages, of so many bytes, wait at most; the next is dropped and said to the log."""


class Outbox:
    """Sends messages over a connection as fast as it takes them."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._messages: deque[tuple[str, bytes, dict[str, str] | None]] = deque()
        self._bytes = 0
        self._sending: asyncio.Task[object] | None = None
        self.dropped = 0

    def send(self, subject: str, data: bytes) -> None:
        """Sends a message soon; never raises, never waits."""
        if len(self._messages) >= MESSAGES_MAX or self._bytes + len(data) > BYTES_MAX:
            self.dropped += 1
            waiting = {"waiting": len(self._messages), "bytes": self._bytes}
            logger.error("message_dropped", subject=subject, **placed(subject), **waiting)
            return
        self._messages.append((subject, data, carried()))
        self._bytes += len(data)
        if self._sending is None or self._sending.done():
            self._sending = begun(self._send(), "outbox")

    async def close(self) -> None:
        """Sends what waits."""
        if self._sending is not None:
            await self._sending

    async def _send(self) -> None:
        while self._messages:
            subject, data, headers = self._messages.popleft()
            self._bytes -= len(data)
            try:
                await self._client.publish(subject, data, headers=headers)
            except Exception as error:  # noqa: BLE001 - whoever misses the message asks again
                logger.warning("message_not_sent", subject=subject, **placed(subject), error=repr(error))
        self._sending = None
