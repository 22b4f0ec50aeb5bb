"""Wakes one who waits, at once or after a time, at the cost of a future."""

import asyncio


class Bell:
    """Rings for the one who waits; a ring that nobody waited for is heard at the next waiting."""

    def __init__(self) -> None:
        self._rung = False
        self._waiter: asyncio.Future[None] | None = None

    def ring(self, _: object = None) -> None:
        """Wakes whoever waits."""
        self._rung = True
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def heard(self, within_s: float) -> None:
        """Returns when it rings, or after some time."""
        if not self._rung:
            loop = asyncio.get_running_loop()
            self._waiter = loop.create_future()
            late = loop.call_later(within_s, self.ring)
            try:
                await self._waiter
            finally:
                late.cancel()
                self._waiter = None
        self._rung = False
