"""How the tables of a room are read when a process starts: each from its last statement, many at the same time."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final

from services.bus.log import Heads, Log, Stored, Unavailable
from services.bus.reader import NotFound, from_statement, last_statements
from services.bus.replica import Replica

LOADS_MAX: Final = 32
"""How many tables are read at the same time."""

type CatchUp = Callable[[Replica], Awaitable[None]]


async def load(
    log: Log, room: str, tables: Mapping[str, Replica], heads: Mapping[str, Heads], catch_up: CatchUp
) -> None:
    """Brings the tables of a room, by name, up to the tail; each has to pass its `heads`. Raises `Unavailable`."""
    statements = await last_statements(log, room, list(tables))
    slots = asyncio.Semaphore(LOADS_MAX)

    async def read(name: str, replica: Replica) -> None:
        async with slots:
            await _load(log, replica, heads.get(name, {}), statements[name], catch_up)

    try:
        async with asyncio.TaskGroup() as group:
            for name, replica in tables.items():
                group.create_task(read(name, replica))
    except ExceptionGroup as errors:
        unavailable, others = errors.split(Unavailable)
        if others is not None:
            raise
        raise Unavailable(f"room {room}: {unavailable}") from errors


async def _load(log: Log, replica: Replica, heads: Heads, statements: Iterable[Stored], catch_up: CatchUp) -> None:
    replica.known, replica.asked = dict(heads), True
    try:
        start = await from_statement(log, *replica.key, statements)
    except NotFound:
        if not heads:
            return
    else:
        replica.begin(start.table, start.after)
    await catch_up(replica)
