"""A service's part in what people are shown: it listens to what all its replicas show, and repeats what is missing."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Hashable, Iterable
from typing import Final

import msgspec
import structlog
from nats.aio.msg import Msg

from services.bus.application import Service
from services.bus.background import begun, going_on
from services.bus.showing import Showing
from services.bus.subscribed import Subscribed

LOOK_S: Final = 0.05

logger: Final = structlog.get_logger(__name__)


class Glance(msgspec.Struct):
    """All that has to be read of what is shown to know which it is."""

    n: int


type Heard[K: Hashable] = Callable[[str, bytes], tuple[K, int] | None]
"""Reads which message of which key a subject and a body are; None for what is none."""


@contextlib.asynccontextmanager
async def shown[K: Hashable](service: Service, patterns: Iterable[str], heard: Heard[K]) -> AsyncIterator[Showing[K]]:
    """What the service shows on these subjects of its own account, for as long as it is connected."""
    if service.client is None:
        message = f"{service.user} is not connected"
        raise RuntimeError(message)
    client, clock = service.client, asyncio.get_running_loop()
    showing: Showing[K] = Showing(service.publish, service.random, service.tracer)

    def hear(message: Msg) -> None:
        found = heard(message.subject, message.data)
        if found is not None:
            showing.heard(*found, clock.time())

    async def look() -> None:
        repeated = unheard = 0
        while True:
            await asyncio.sleep(LOOK_S)
            if client.is_connected and not service.guard.stalled:
                with going_on("showing", service=service.user):
                    showing.look(clock.time())
            if (showing.repeated, showing.unheard) != (repeated, unheard):
                told = {"repeated": showing.repeated - repeated, "unheard": showing.unheard - unheard}
                service.process.seldom.say(logger.info, "shown_again", service=service.user, **told)
                repeated, unheard = showing.repeated, showing.unheard

    listening = [await Subscribed.to(client, pattern, hear) for pattern in patterns]
    looking = begun(look(), "showing", service=service.user)
    try:
        yield showing
    finally:
        looking.cancel()
        for each in listening:
            await each.stop()
