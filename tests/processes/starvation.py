"""How long processes waited for a processor: what no service can help, and no budget may hold against it."""

import asyncio
import contextlib
import os
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable, Iterable
from pathlib import Path
from typing import Final

LOOKED_S: Final = 0.1


class Waits:
    """The longest wait of any one process within any stretch of `over_s` seconds; near 0 on an idle machine.

    The kernel counts it for each process: how long it was ready to run, and did not.
    """

    def __init__(self, over_s: float) -> None:
        self.over_s = over_s
        self.longest_s = 0.0
        self._seen: defaultdict[int, deque[tuple[float, float]]] = defaultdict(deque)

    def look(self, pid: int, now_s: float) -> None:
        """Notes what a process has waited until now."""
        waited_s = _waited_s(pid)
        if waited_s is None:
            return
        seen = self._seen[pid]
        seen.append((now_s, waited_s))
        while seen[0][0] < now_s - self.over_s:
            seen.popleft()
        self.longest_s = max(self.longest_s, waited_s - seen[0][1])


@contextlib.asynccontextmanager
async def waits(of: Callable[[], Iterable[int]], over_s: float) -> AsyncIterator[Waits]:
    """Looks at these processes, and at the one that runs the test, for as long as the context lasts."""
    found = Waits(over_s)
    looking = asyncio.create_task(_look(found, of))
    try:
        yield found
    finally:
        looking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await looking


async def _look(found: Waits, of: Callable[[], Iterable[int]]) -> None:
    clock = asyncio.get_running_loop()
    while True:
        for pid in (os.getpid(), *of()):
            found.look(pid, clock.time())
        await asyncio.sleep(LOOKED_S)


def _waited_s(pid: int) -> float | None:
    """None where there is no such process any more, or the kernel does not count."""
    try:
        _, waited_ns, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
    except OSError:
        return None
    return int(waited_ns) / 1e9
