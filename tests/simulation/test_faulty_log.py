"""What every log promises when answers are late and the server is away, told to the simulator's log in memory.

`tests/bus/test_log_faults.py` tells the same to one server and to three.
"""

import asyncio
from contextvars import Context
from random import Random
from typing import Any

import pytest

from services.bus.log import Conflict, InDoubt, Stored, Unavailable
from tests.bus.test_log import Followed, say, sent_again, told
from tests.simulation.faults import NONE, Faults
from tests.simulation.faulty_log import LOST_S, FaultyLog
from tests.simulation.test_mended import in_virtual_time
from tests.simulation.virtual_loop import OWNER, Owner, Standstill
from tests.simulation.weather import LATE_S_MAX, Weather

SLOW = Faults(delay_s=1000 * LATE_S_MAX, late=1.0)
"""Whatever is sent is on its way for longer than a writer waits."""


class Writer:
    """A process that writes, reads and follows, and never crashes."""

    name = "writer"
    alive = True
    context = Context()
    still_until = deaf_until = 0.0
    stood_still = Standstill(0.0, 0.0)
    knows = 0

    def adopt(self, task: asyncio.Task[Any]) -> None:
        """Its tasks end with the test."""

    def crash(self) -> None:
        raise AssertionError("no fault crashes it")


class Unwatched:
    """Looks at nothing: what must hold is asserted by the tests."""

    def decided(self, owner: Owner, name: str, data: bytes, /) -> None: ...

    def sent(self, owner: Owner, name: str, data: bytes, expected: int, /) -> None: ...

    def doubted(self, owner: Owner, name: str, data: bytes, expected: int, /) -> None: ...

    def stored(self, message: Stored, /) -> None: ...


def in_memory() -> FaultyLog:
    """An empty log without faults so far, of whose processes this one is the writer."""
    OWNER.set(Writer())
    return FaultyLog(Weather(Random(1), NONE), Unwatched())


def test_an_append_whose_time_was_up_lands_late_and_once() -> None:
    async def story() -> list[str]:
        log, followed = in_memory(), Followed()
        await log.follow("main", followed)
        first = await say(log, "T1", "one", 0)
        log.weather.faults = SLOW
        with pytest.raises(InDoubt):
            await say(log, "T1", "mine", first)
        log.weather.faults = NONE
        assert await told(log.read("main", "T1")) == ["one"]
        await followed.sequences(2)
        await sent_again(log, "mine", first)
        return await told(log.read("main", "T1"))

    assert in_virtual_time(story()) == ["one", "mine"]


def test_an_append_that_is_sent_again_before_the_late_one_is_stored_once() -> None:
    async def story() -> list[str]:
        log = in_memory()
        first = await say(log, "T1", "one", 0)
        log.weather.faults = SLOW
        with pytest.raises(InDoubt):
            await say(log, "T1", "mine", first)
        log.weather.faults = NONE
        second = await say(log, "T1", "mine", first)
        await asyncio.sleep(LATE_S_MAX)
        with pytest.raises(Conflict):
            await say(log, "T1", "mine", first)
        await say(log, "T1", "three", second)
        return await told(log.read("main", "T1"))

    assert in_virtual_time(story()) == ["one", "mine", "three"]


def test_after_an_outage_a_log_is_written_read_and_followed_as_before() -> None:
    async def story() -> None:
        log, followed = in_memory(), Followed()
        await log.follow("main", followed)
        first = await say(log, "T1", "one", 0)
        await followed.sequences(1)
        log.weather.away = True
        with pytest.raises(InDoubt):
            await say(log, "T1", "lost", first)
        with pytest.raises(Unavailable):
            await log.tail("main", "T1")
        log.weather.away = False
        second = await say(log, "T1", "two", first)
        await asyncio.sleep(LOST_S)
        assert await followed.sequences(2) == [first, second]
        assert await told(log.read("main", "T1")) == ["one", "two"]

    in_virtual_time(story())
