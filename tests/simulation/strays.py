"""Messages in a log that no service wrote: noise, old commits again, and commits that extend another chain."""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec

from contracts.codec import encode
from contracts.commit import Commit
from contracts.events import fact_of
from contracts.subjects import guarded, table_pattern
from tests.simulation.chance import exponential
from tests.simulation.counting_house import CountingHouse
from tests.simulation.faulty_log import FaultyLog
from tests.simulation.judge import Judge
from tests.simulation.weather import Weather

OF_LEDGERS: Final = 0.3
"""How often they are in a ledger, where there is one."""
COPIES: Final = 0.4
"""How often one is a commit that was written before."""
RUNS: Final = 0.2
"""How often those that follow on it come with it."""
RUN_MAX: Final = 30


class Strays:
    """Somebody with the rights to write into every log."""

    def __init__(
        self, weather: Weather, judge: Judge, log: FaultyLog, tables: Sequence[str], counting: CountingHouse
    ) -> None:
        self._weather = weather
        self._judge = judge
        self._log = log
        self._tables = tables
        self._counting = counting

    async def come(self) -> None:
        """Writes now and then, for ever."""
        while True:
            stray = self._weather.faults.stray
            await asyncio.sleep(exponential(self._weather.random, 1 / stray) if stray else 1)
            if self._weather.faults.stray and self._counting.tables and self._weather.random.random() < OF_LEDGERS:
                self._counting.stray()
            elif self._weather.faults.stray:
                self._stray()

    def _stray(self) -> None:
        random = self._weather.random
        table = random.choice(self._tables)
        entries = self._judge.entries.get(table)
        if not entries:
            return
        self._weather.happened["stray"] += 1
        first = random.randrange(len(entries))
        commit = entries[first].commit
        if random.random() < COPIES:
            copies = random.randint(1, RUN_MAX) if random.random() < RUNS else 1
            for entry in entries[first : first + copies]:
                self._store(table, entry.commit, encode(entry.commit))
        else:
            other = msgspec.structs.replace(commit, n=entries[-1].commit.n + 1, cause=None)
            self._store(table, commit, random.choice((b"noise", encode(other))))

    def _store(self, table: str, commit: Commit, data: bytes) -> None:
        subject = guarded("main", table, commit.by, fact_of(commit.events[-1])).subject
        self._log.stray(table_pattern("main", table), subject, data)
