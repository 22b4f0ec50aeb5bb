"""(d) What many idle tables cost, how soon a room deals, and how soon it is back after a restart."""

import asyncio
import tempfile
import time
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from services.bus.settings import Settings
from services.command_line.serve import SERVICES
from tests.bench.bots import Bots
from tests.bench.processes import pids, rss_mb
from tests.bench.report import Line, rounded
from tests.bench.sizes import Sizes
from tests.bench.written import a_server, idle, leave_heads, log_of, played, write
from tests.processes.fleet import Fleet

CREW: Final = (SERVICES,)
MEMORY_MB_MAX: Final = 500
COMMITS_A_TABLE: Final = 20


async def measure(sizes: Sizes) -> list[Line]:
    """Four figures, all of one process with every service."""
    return [*await _idle(sizes), await _first_deal(sizes), await _recovery(sizes)]


async def _idle(sizes: Sizes) -> list[Line]:
    with tempfile.TemporaryDirectory(prefix="croupier-bench-") as folder:
        async with a_server(Path(folder), sync_always=False) as settings:
            empty_mb, _ = await _served(settings)
            async with log_of(settings) as log:
                commits = await write(log, (partial(idle, number) for number in range(sizes.idle)))
            full_mb, loaded_s = await _served(settings)
            async with log_of(settings) as log:
                heads = await leave_heads(log)
            with_heads_mb, with_heads_s = await _served(settings)
    notes = f"{commits} commits; {empty_mb:.0f} MB without tables; served after {loaded_s:.1f} s"
    memory = Line("d", f"memory of {sizes.idle} idle tables", rounded(full_mb - empty_mb), "MB", None, None,
                  MEMORY_MB_MAX, (), notes)  # fmt: skip
    notes = f"{heads} heads; {with_heads_mb - empty_mb:.0f} MB; {loaded_s:.1f} s without heads"
    start = Line("d", f"until {sizes.idle} tables with heads are served", rounded(with_heads_s), "s", None, None, None,
                 (), notes)  # fmt: skip
    return [memory, start]


async def _first_deal(sizes: Sizes) -> Line:
    waits: list[float] = []
    for _ in range(sizes.plays):
        with tempfile.TemporaryDirectory(prefix="croupier-bench-") as folder:
            began = time.perf_counter()
            async with (
                a_server(Path(folder), sync_always=True) as settings,
                Fleet(settings, CREW),
                Bots(settings, 1) as bots,
            ):
                await bots.first_deal()
                waits.append(time.perf_counter() - began)
    notes = "server, streams, services, table and six seats included"
    return Line("d", "from start to the first deal", rounded(median(waits)), "s", None, None, None,
                tuple(map(rounded, waits)), notes)  # fmt: skip


async def _recovery(sizes: Sizes) -> Line:
    with tempfile.TemporaryDirectory(prefix="croupier-bench-") as folder:
        async with a_server(Path(folder), sync_always=False) as settings:
            _, empty_s = await _served(settings)
            async with log_of(settings) as log:
                tables = (partial(played, number, COMMITS_A_TABLE) for number in range(sizes.recovered))
                commits = await write(log, tables)
            _, served_s = await _served(settings)
    notes = f"{commits} commits; {empty_s:.1f} s without tables"
    return Line("d", f"until {sizes.recovered} tables are served again", rounded(served_s), "s", None, None, None,
                (), notes)  # fmt: skip


async def _served(settings: Settings) -> tuple[float, float]:
    """Memory of a process that serves, in MB, and how long it took until it did."""
    async with Fleet(settings, CREW) as fleet:
        await asyncio.sleep(0.5)
        return rss_mb(pids(fleet)[0]), fleet.slowest_start_s()
