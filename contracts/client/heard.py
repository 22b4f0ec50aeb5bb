"""A subscription that outlives the connection on which it began."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Any, cast

import nats.errors
from nats.aio.client import Client as Nats
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from contracts.sink import Sink

type Tell = Callable[[Exception], None]
"""Is told what went wrong."""


class Heard:
    """A subscription that lasts over any number of connections, until it is `stopped`."""

    def __init__(
        self, forget: Callable[["Heard"], None], subject: str, take: Callable[[Msg], None], tell: Tell
    ) -> None:
        self.subject = subject
        self.tell = tell
        self._forget = forget
        self._sink = Sink(take, _not_taken)
        self._client: Nats | None = None
        self._subscription: Subscription | None = None

    async def start(self, client: Nats) -> None:
        """Listens on this connection, if it does not yet."""
        if self._client is not client:
            self._client = client
            self._subscription = await client.subscribe(self.subject, future=cast("asyncio.Future[Any]", self._sink))

    async def stop(self) -> None:
        """Listens no more."""
        self._forget(self)
        if self._subscription is not None:
            with contextlib.suppress(nats.errors.Error):  # where there is no connection, there is no subscription
                await self._subscription.unsubscribe()


def _not_taken(message: Msg, error: Exception) -> None:
    """Told to the event loop: a library has no log of its own."""
    context = {"message": f"a message on {message.subject} was not taken", "exception": error}
    asyncio.get_running_loop().call_exception_handler(context)
