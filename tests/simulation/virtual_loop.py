"""An event loop without a clock, sockets or threads: time jumps to the next timer, chance says who is first."""

import asyncio
from collections import deque
from collections.abc import Callable
from contextvars import Context, ContextVar
from heapq import heappop, heappush
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


TASKS_KEPT: Final = 500
OWNER: Final[ContextVar[Owner | None]] = ContextVar("OWNER", default=None)


class VirtualLoop(asyncio.BaseEventLoop):
    """Runs what is ready in an order drawn from a seed.

    The order is legal: a task has one step ready at most, so the steps of each keep theirs.
    """

    def __init__(self, random: Random) -> None:
        super().__init__()
        self.now = 0.0
        self.steps = 0
        self._random = random
        self._waiting: deque[Any] = self._ready  # type: ignore[attr-defined]
        self._timers: list[tuple[float, int, Any]] = []
        self._timed = 0
        self._made: list[asyncio.Task[Any]] = []
        self._failures: list[str] = []
        self.set_exception_handler(self._failed)

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
        handle = asyncio.Handle(callback, args, self, context)
        waiting = self._waiting
        waiting.append(handle)
        if (number := len(waiting)) > 1:
            other = int(self._random.random() * number)
            waiting[-1], waiting[other] = waiting[other], handle
        return handle

    def call_at[*Arguments](
        self, when: float, callback: Callable[[*Arguments], object], *args: *Arguments, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Queues a callback for a moment."""
        handle = asyncio.TimerHandle(when, callback, args, self, context)
        self._wait(when, handle)
        return handle

    def _wait(self, when: float, handle: asyncio.TimerHandle) -> None:
        self._timed += 1
        heappush(self._timers, (when, self._timed, handle))

    def _run_once(self) -> None:
        """Passes the time until something is ready, and runs what is: no file ever is, and waiting takes no time."""
        waiting, timers = self._waiting, self._timers
        while timers and timers[0][2]._cancelled:  # noqa: SLF001 - a loop is told by no other way
            heappop(timers)
        if not waiting:
            if not timers:
                raise RuntimeError("nothing can ever happen again: every task waits for another")
            self.now = max(self.now, timers[0][0])
        while timers and timers[0][0] <= self.now:
            self._come(heappop(timers)[2])
        for _ in range(len(waiting)):
            handle = waiting.popleft()
            if not handle._cancelled:  # noqa: SLF001
                handle._run()  # noqa: SLF001

    def _come(self, handle: Any) -> None:
        """A moment has come; for a process that stands still it comes when that goes on."""
        if handle._cancelled:  # noqa: SLF001
            return
        owner = handle._context.get(OWNER)  # noqa: SLF001
        if owner is not None and owner.still_until > self.now:
            self._wait(owner.still_until, handle)
        else:
            self._waiting.append(handle)

    def _timer_handle_cancelled(self, _: asyncio.TimerHandle) -> None:
        """It is passed over when its moment comes."""

    def create_task(self, coro: Any, *, context: Context | None = None, **options: Any) -> asyncio.Task[Any]:
        """Makes a task, and tells the owner of its context."""
        task = super().create_task(coro, context=context, **options)
        self._made.append(task)
        if len(self._made) > TASKS_KEPT:
            self._made = [each for each in self._made if not each.done() or _is_failed(each)]
        owner = _owner_in(context)
        if owner is not None:
            owner.adopt(task)
        return task

    def failures(self) -> list[str]:
        """What was raised so far in callbacks, and in tasks whose end nobody looked at."""
        return [
            *self._failures,
            *(f"{_name(task)} failed: {task.exception()!r}" for task in self._made if _is_failed(task)),
        ]

    def _failed(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        self._failures.append(f"{context['message']}: {context.get('exception')!r}")

    def _process_events(self, events: list[Any]) -> None:
        assert not events

    def _write_to_self(self) -> None:
        """Nobody sleeps who would have to be woken."""


def _is_failed(task: asyncio.Task[Any]) -> bool:
    """Whether a task has ended with an exception that nobody has taken."""
    return task.done() and task._log_traceback  # noqa: SLF001 - asyncio tells it only as it forgets the task


def _name(task: asyncio.Task[Any]) -> str:
    owner = task.get_context().get(OWNER)
    return f"{owner.name}: {task.get_coro()!r}" if owner is not None else f"{task.get_coro()!r}"


def _owner_in(context: Context | None) -> Owner | None:
    return OWNER.get() if context is None else context.get(OWNER)
