"""Whether this process stood still: one that wakes up must not accept what others refused meanwhile (DESIGN 4)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

logger: Final = structlog.get_logger(__name__)

TICK_S: Final = 0.1
STALL_S_MAX: Final = 0.5


class StallGuard:
    """Notices that the event loop stood still for longer than `STALL_S_MAX`.

    From then on `stalled` until `ping` has been answered: what the server sent meanwhile has then been read, and
    dropped. `ping` raises what it likes when there is no answer, and is tried again.
    """

    def __init__(self, ping: Callable[[], Awaitable[None]]) -> None:
        self._ping = ping
        self._last: float | None = None
        self._stalled = False
        self._task: asyncio.Task[None] | None = None

    @property
    def stalled(self) -> bool:
        """Whether commands have to be dropped."""
        if self._last is not None and asyncio.get_running_loop().time() - self._last > STALL_S_MAX:
            self._stalled = True
        return self._stalled

    def start(self) -> None:
        """Watches from now on."""
        self._last = asyncio.get_running_loop().time()
        self._task = asyncio.create_task(self._watch(), name="stall-guard")

    def stop(self) -> None:
        """Watches no more."""
        if self._task is not None:
            self._task.cancel()

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            if self.stalled:
                self._last = asyncio.get_running_loop().time()
                await self._recover()
            self._last = asyncio.get_running_loop().time()

    async def _recover(self) -> None:
        logger.warning("process_stalled", longer_than_ms=round(STALL_S_MAX * 1000))
        try:
            await self._ping()
        except Exception as error:  # noqa: BLE001 - whatever went wrong, the PING was not answered
            logger.warning("ping_unanswered", error=repr(error))
        else:
            self._stalled = False
