"""What befalls running processes: they crash, stand still, go deaf, and lose the right time; the log goes away."""

import asyncio
from collections.abc import Callable, Collection
from random import Random
from typing import Final

from tests.simulation.chance import exponential
from tests.simulation.process import Process
from tests.simulation.weather import Weather

OUTAGE_EVERY_S: Final = 20.0
STANDSTILL_S_MAX: Final = 6.0
DEAF_S_MAX: Final = 5.0
JUMP_S_MAX: Final = 20.0
RATE_MAX: Final = 0.4
"""So many seconds a clock that runs off gains or loses in each second."""
WRONG_S_MAX: Final = 10.0


class Trouble:
    """Befalls the `processes` there are at each moment."""

    def __init__(self, weather: Weather, processes: Callable[[], Collection[Process]]) -> None:
        self._weather = weather
        self._processes = processes

    @property
    def _random(self) -> Random:
        return self._weather.random

    def _anybody(self) -> Process:
        return self._random.choice(list(self._processes()))

    def _befalls(self, fault: str) -> Process:
        self._weather.happened[fault] += 1
        return self._anybody()

    async def crashes(self) -> None:
        """Ends processes at any moment."""
        while (crash_s := self._weather.faults.crash_s) > 0:
            await asyncio.sleep(exponential(self._random, crash_s))
            if self._weather.faults.crash_s:
                self._befalls("crash_s").crash()

    async def outages(self) -> None:
        """Takes the log away from everybody."""
        while (outage_s := self._weather.faults.outage_s) > 0:
            await asyncio.sleep(self._random.uniform(0, OUTAGE_EVERY_S))
            self._weather.away = self._weather.faults.outage_s > 0
            self._weather.happened["outage_s"] += self._weather.away
            await asyncio.sleep(outage_s)
            self._weather.away = False

    async def standstills(self) -> None:
        """Stops processes, which know nothing of it until they go on."""
        while (still := self._weather.faults.still) > 0:
            await asyncio.sleep(exponential(self._random, 1 / still))
            if self._weather.faults.still:
                self._befalls("still").stand_still(self._random.uniform(0, STANDSTILL_S_MAX))

    async def deafness(self) -> None:
        """Keeps all facts from processes."""
        while (deaf := self._weather.faults.deaf) > 0:
            await asyncio.sleep(exponential(self._random, 1 / deaf))
            if self._weather.faults.deaf:
                self._befalls("deaf").deaf_until = asyncio.get_running_loop().time() + self._random.uniform(
                    0, DEAF_S_MAX
                )

    async def clocks(self) -> None:
        """Sets clocks wrong, and right again."""
        while (chance := self._weather.faults.clock_jump + self._weather.faults.clock_rate) > 0:
            await asyncio.sleep(exponential(self._random, 1 / chance))
            process, random = self._anybody(), self._random
            if random.random() * chance < self._weather.faults.clock_jump:
                self._weather.happened["clock_jump"] += 1
                process.set_clock(random.choice((-1, 1)) * random.uniform(0, random.choice((2, JUMP_S_MAX))), 0)
            elif self._weather.faults.clock_rate:
                self._weather.happened["clock_rate"] += 1
                process.set_clock(0, random.uniform(-RATE_MAX, RATE_MAX))
            asyncio.get_running_loop().call_later(random.uniform(0, WRONG_S_MAX), process.set_clock, 0, 0)
