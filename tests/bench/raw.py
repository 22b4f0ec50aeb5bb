"""What the log takes at most: appends of plain messages with an expectation, 64 on their way at any time."""

import asyncio
import time
from itertools import count
from typing import Final

from services.bus.jetstream import JetStreamLog

ROOM: Final = "raw"
IN_FLIGHT: Final = 64
_runs: Final = count()


async def appended(log: JetStreamLog, size_bytes: int, seconds: float) -> float:
    """Messages of one size appended a second, each table's one after the other."""
    body, until, began = b"x" * size_bytes, time.perf_counter() + seconds, time.perf_counter()
    run = next(_runs)
    counts = await asyncio.gather(*(_append(log, f"R{run}-{one}", body, until) for one in range(IN_FLIGHT)))
    return sum(counts) / (time.perf_counter() - began)


async def _append(log: JetStreamLog, table: str, body: bytes, until: float) -> int:
    sequence = appends = 0
    while time.perf_counter() < until:
        sequence = await log.append(ROOM, table, "table", "action_taken", body, sequence)
        appends += 1
    return appends
