"""Messages that keep arriving, until nobody wants them any more."""

import asyncio
from collections.abc import Callable
from typing import Any, Self, cast

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from contracts.sink import Sink
from services.bus.placed import placed

_log = structlog.get_logger(__name__)


class Subscribed:
    """Messages that keep arriving."""

    def __init__(self, client: Client, subscription: Subscription) -> None:
        self.subscription = subscription
        self._client = client

    @classmethod
    async def to(cls, client: Client, subject: str, take: Callable[[Msg], None], queue: str = "") -> Self:
        """Hands each message to `take` as it is read; one that goes wrong there is told to the log."""
        sink = cast("asyncio.Future[Any]", Sink(take, _not_taken))
        return cls(client, await client.subscribe(subject, queue=queue, future=sink))

    async def stop(self) -> None:
        """Delivers nothing more."""
        if not (self._client.is_closed or self._client.is_draining):
            await self.subscription.unsubscribe()


def _not_taken(message: Msg, error: Exception) -> None:
    _log.error("message_not_taken", subject=message.subject, **placed(message.subject), exc_info=error)
