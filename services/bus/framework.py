"""FastStream, as a service uses it: our own connection, subscribers behind a gate, and an end that is heard of."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Any, Final

import nats.errors
import structlog
from faststream import FastStream
from faststream.nats import NatsBroker
from nats.aio.client import Client

from services.bus.gate import Gate

logger: Final = structlog.get_logger(__name__)

DRAIN_S: Final = 6.0
"""A little more than nats-py gives its subscriptions."""


class App(FastStream):
    """A FastStream application that says when it was told to end, also while it still starts."""

    told_to_end = False

    def exit(self) -> None:
        """Ends the application, once it has started."""
        self.told_to_end = True
        super().exit()


class Broker(NatsBroker):
    """A FastStream broker whose connection is opened by us, with our options, when it is started.

    Its subscribers stand behind `gate`.
    """

    def __init__(self, opened: Callable[[], Awaitable[Client]], gate: Gate) -> None:
        super().__init__(apply_types=False, decoder=_body, logger=None)
        self._opened = opened
        self._gate = gate

    async def _connect(self) -> Client:
        client = await self._opened()
        self._gate.stand_before(client)
        self.config.connect(client)
        return client

    async def stop(
        self,
        exc_type: type[BaseException] | None = None,
        exc_val: BaseException | None = None,
        exc_tb: TracebackType | None = None,
    ) -> None:
        """Drains the connection and closes it; where the server is away there is nothing to drain."""
        client = self._connection
        try:
            async with asyncio.timeout(DRAIN_S):
                await super().stop(exc_type, exc_val, exc_tb)
        except (nats.errors.Error, TimeoutError, OSError) as error:
            logger.warning("connection_not_drained", reason=str(error))
            self._connection = None
            self.config.disconnect()
            if client is not None:
                await client.close()


async def _body(message: Any) -> bytes:  # noqa: ANN401 - FastStream's own message, whose type depends on the broker
    body: bytes = message.body
    return body
