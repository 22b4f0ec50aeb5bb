"""What a fold has missed, and what a log has lost, found out while the process runs."""

import asyncio
from collections.abc import Callable
from typing import Final

import structlog

from services.aggregate.chain import Chained, State
from services.bus.clock import Clock
from services.bus.follower import Follower
from services.bus.jetstream import JetStreamLog
from services.bus.log import Unavailable
from services.bus.logging import Seldom
from services.bus.streams import StreamDiffers

logger: Final = structlog.get_logger(__name__)

STREAMS_S: Final = 10.0
"""How often the streams are checked while the process runs."""


class Audit[S: State, C: Chained]:
    """Compares a fold with its log, the clock with the server's, and now and then the streams with what they must be.

    `end` is told why the process can go on no more.
    """

    def __init__(
        self, follower: Follower[S, C], log: JetStreamLog, clock: Clock, seldom: Seldom, end: Callable[[str], None]
    ) -> None:
        self._follower = follower
        self._log = log
        self._clock = clock
        self._seldom = seldom
        self._end = end
        self._loop = asyncio.get_running_loop()
        self._checked_s = self._loop.time()

    async def once(self) -> None:
        """Looks once; a log that does not answer is told, and looked at again the next time."""
        try:
            self._clock.observe(await self._log.server_time())  # finds out too whether this log has a leader
            await self._follower.audit()
            if self._loop.time() - self._checked_s >= STREAMS_S:
                await self._log.check_streams()
                self._checked_s = self._loop.time()
        except Unavailable as error:
            self._seldom.say(logger.warning, "log_unavailable", error=str(error))
        except StreamDiffers as error:
            self._end(f"the streams are not as they must be: {error}")
