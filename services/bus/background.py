"""Work that goes on by itself, which nobody awaits: what ends it is said to the log, and what is to last goes on."""

import asyncio
import contextlib
from collections.abc import Coroutine, Iterator
from typing import Any, Final

import structlog

logger: Final = structlog.get_logger(__name__)

type Work = Coroutine[Any, Any, object]


class Background:
    """The tasks of one part of a service, each kept until it ends; `facts` say in the log whose they are."""

    def __init__(self, **facts: str | int) -> None:
        self._facts = facts
        self._tasks: set[asyncio.Task[object]] = set()

    @property
    def count(self) -> int:
        """How many have not ended."""
        return len(self._tasks)

    def begin(self, work: Work, name: str, *, at_once: bool = False) -> None:
        """Begins a task; `at_once` it has come to where it has to wait before this returns."""
        loop = asyncio.get_running_loop()
        task = (
            asyncio.Task(work, loop=loop, name=name, eager_start=True) if at_once else loop.create_task(work, name=name)
        )
        _watch(task, self._facts)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def finish(self, within_s: float) -> None:
        """Returns when all have ended, or take longer than that."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=within_s)

    def cancel(self) -> None:
        """Ends all."""
        for task in self._tasks:
            task.cancel()


def begun(work: Work, name: str, /, **facts: str | int) -> asyncio.Task[object]:
    """A task that has begun. A fault that ends it is said to the log, with the facts; its caller keeps the task."""
    task = asyncio.get_running_loop().create_task(work, name=name)
    _watch(task, facts)
    return task


@contextlib.contextmanager
def going_on(name: str, /, **facts: str | int) -> Iterator[None]:
    """A fault inside is said to the log, and ends nothing else: for one turn of what goes on for ever."""
    try:
        yield
    except Exception as error:  # noqa: BLE001 - of what is not foreseen nothing else may stop
        _failed(name, error, facts)


def _watch(task: asyncio.Task[object], facts: dict[str, str | int]) -> None:
    def done(ended: asyncio.Task[object]) -> None:
        if not ended.cancelled() and (error := ended.exception()) is not None:
            _failed(ended.get_name(), error, facts)

    task.add_done_callback(done)


def _failed(task: str, error: BaseException, facts: dict[str, str | int]) -> None:
    logger.error("task_failed", task=task, **facts, error=repr(error), exc_info=error)
