"""When a connection leaves a server that answers nothing, or nothing that helps: it may have lost its peers.

A server without a quorum keeps its clients. It says nothing, or that all this cannot be done now, for as long as it is
cut off; nats-py stays where it is.
"""

import asyncio
from typing import Final

import structlog
from nats.aio.client import Client

logger: Final = structlog.get_logger(__name__)


class Patience:
    """Waits for one kind of answer; after `limit_s` in which none was any good, the connection moves on."""

    def __init__(self, client: Client, limit_s: float) -> None:
        self._client = client
        self._limit_s = limit_s
        self._since: float | None = None

    def rewarded(self) -> None:
        """An answer was good."""
        self._since = None

    async def tried(self, asked_s: float, reason: str) -> None:
        """What was asked at loop time `asked_s` got no answer, or none that helps."""
        if not self._client.is_connected:
            self._since = None
            return
        if self._since is None:
            self._since = asked_s
        if asyncio.get_running_loop().time() - self._since >= self._limit_s:
            self._since = None
            logger.warning("server_left", reason=reason)
            await self._client.force_reconnect()
