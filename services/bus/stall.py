"""Whether this process stood still: one that wakes up must not accept what others refused meanwhile (DESIGN 4)."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Final

import structlog
from nats.aio.client import Client

from services.bus.background import begun
from services.bus.connection import settle

logger: Final = structlog.get_logger(__name__)

TICK_S: Final = 0.1
STALL_S_MAX: Final = 0.5


async def caught_up(client: Client, broken: asyncio.Event, unhandled: Callable[[], int]) -> None:
    """Returns when all that the server has sent until now has been read, and no request of it is `unhandled`.

    `broken` is set by whoever hears that the connection breaks. Raises ConnectionError then: nats-py would wait ten
    seconds for an answer that cannot come, and the process be deaf for so long.
    """
    broken.clear()
    if not client.is_connected:
        raise ConnectionError("there is no connection")
    await _unless(broken, settle(client))
    while unhandled():  # noqa: ASYNC110 - nothing tells when nats-py's queues are empty
        await asyncio.sleep(0)
    await _unless(broken, settle(client))  # time for the last one that was taken out of a queue


async def _unless(broken: asyncio.Event, work: Coroutine[None, None, None]) -> None:
    working, breaking = asyncio.ensure_future(work), asyncio.ensure_future(broken.wait())
    await asyncio.wait((working, breaking), return_when=asyncio.FIRST_COMPLETED)
    breaking.cancel()
    if not working.done():
        working.cancel()
        raise ConnectionError("the connection broke")
    working.result()


class StallGuard:
    """Notices that the event loop stood still for longer than `STALL_S_MAX`.

    From then on `stalled` until `ping` has been answered: what the server sent meanwhile has then been read, and
    dropped. `ping` raises what it likes when there is no answer, and is tried again.
    """

    def __init__(self, ping: Callable[[], Awaitable[None]]) -> None:
        self._ping = ping
        self._stalls = 0
        self._last: float | None = None
        self._stalled = False
        self._task: asyncio.Task[object] | None = None

    @property
    def stalled(self) -> bool:
        """Whether commands have to be dropped."""
        late = self._last is not None and asyncio.get_running_loop().time() - self._last > STALL_S_MAX
        if late and not self._stalled:
            self._stalled = True
            self._stalls += 1
        return self._stalled

    @property
    def stalls(self) -> int:
        """How often the process has stood still: what was taken in hand at another count must be dropped."""
        _ = self.stalled  # whoever asks first notices
        return self._stalls

    def start(self) -> None:
        """Watches from now on."""
        self._last = asyncio.get_running_loop().time()
        self._task = begun(self._watch(), "stall-guard")

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
