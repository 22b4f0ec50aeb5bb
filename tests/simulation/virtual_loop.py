"""An event loop without a clock, sockets or threads: time jumps to the next timer, chance says who is first."""

import asyncio
from collections.abc import Callable
from contextvars import Context, ContextVar
from random import Random
from typing import Any, Final, NamedTuple, Protocol


class Standstill(NamedTuple):
    """From when to when, in loop time, a process stands still."""

    since: float
    until: float


class Owner(Protocol):
    """Whose tasks run in a context; all of them end when it crashes, and wait while it stands still."""

    name: str
    alive: bool
    context: Context
    still_until: float
    stood_still: Standstill
    deaf_until: float
    knows: int

    def adopt(self, task: asyncio.Task[Any]) -> None:
        """Is told of each task that was made on its behalf."""

    def crash(self) -> None:
        """Ends all of them, wherever they are."""


OWNER: Final[ContextVar[Owner | None]] = ContextVar("OWNER", default=None)


class _Timers:
    """In the place of a selector: no file is ever ready, and waiting takes no time."""

    def __init__(self, loop: "VirtualLoop") -> None:
        self._loop = loop

    def select(self, timeout: float | None) -> list[Any]:
        """Passes the time until the next timer."""
        if timeout is None:
            raise RuntimeError("nothing can ever happen again: every task waits for another")
        self._loop.now += timeout
        return []


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs what is ready in an order drawn from a seed.

    The order is legal: a task has one step ready at most, so the steps of each keep theirs.
    """

    def __init__(self, random: Random) -> None:
        super().__init__()
        self.now = 0.0
        self.steps = 0
        self._random = random
        self._selector = _Timers(self)
        self._clock_resolution = 1e-6

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self.now

    def call_soon[*Arguments](
        self, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> asyncio.Handle:
        """Queues a callback anywhere among those that are ready."""
        self.steps += 1
        owner = _owner_in(context)
        if owner is not None and owner.still_until > self.now:
            return self.call_at(owner.still_until, callback, *args, context=context)
        handle = super().call_soon(callback, *args, context=context)
        ready: Any = self._ready  # type: ignore[attr-defined]
        last = len(ready) - 1
        if last > 0:
            other = self._random.randrange(last + 1)
            ready[last], ready[other] = ready[other], ready[last]
        return handle

    def call_at[*Arguments](
        self, when: float, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Queues a callback for a moment; that of a process which then stands still comes when it goes on."""
        owner = _owner_in(context)
        if owner is None:
            return super().call_at(when, callback, *args, context=context)
        handles: list[asyncio.TimerHandle] = []

        def arrived() -> None:
            if owner.still_until > self.now:
                again = super(VirtualLoop, self).call_at(owner.still_until, arrived_unless_cancelled, context=context)
                handles.append(again)
            else:
                callback(*args)

        def arrived_unless_cancelled() -> None:
            if not handles[0].cancelled():
                arrived()

        handles.append(super().call_at(when, arrived, context=context))
        return handles[0]

    def create_task(self, coro: Any, *, context: Context | None = None, **options: Any) -> asyncio.Task[Any]:
        """Makes a task, and tells the owner of its context."""
        task = super().create_task(coro, context=context, **options)
        owner = _owner_in(context)
        if owner is not None:
            owner.adopt(task)
        return task

    def _process_events(self, events: list[Any]) -> None:
        assert not events

    def _write_to_self(self) -> None:
        """Nobody sleeps who would have to be woken."""


def _owner_in(context: Context | None) -> Owner | None:
    return OWNER.get() if context is None else context.get(OWNER)
