"""How the tables of a room, or the ledgers, are read when a process starts: many at the same time.

A table is read from its last statement, a ledger from its first message.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Final

from services.aggregate.chain import Chained, State
from services.bus.aggregates import Kind
from services.bus.log import Heads, Log, Stored, Unavailable
from services.bus.reader import NotFound, from_statement, last_statements
from services.bus.replica import Replica

LOADS_MAX: Final = 32
"""How many tables are read at the same time."""

type CatchUp[S: State, C: Chained] = Callable[[Replica[S, C]], Awaitable[None]]


async def load[S: State, C: Chained](
    of: Kind[S, C],
    log: Log,
    room: str,
    tables: Mapping[str, Replica[S, C]],
    heads: Mapping[str, Heads],
    catch_up: CatchUp[S, C],
) -> None:
    """Brings the tables of a room, by name, up to the tail; each has to pass its `heads`. Raises `Unavailable`."""
    statements = await last_statements(of, log, room, list(tables))
    slots = asyncio.Semaphore(LOADS_MAX)

    async def read(name: str, replica: Replica[S, C]) -> None:
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


async def _load[S: State, C: Chained](
    log: Log, replica: Replica[S, C], heads: Heads, statements: Iterable[Stored], catch_up: CatchUp[S, C]
) -> None:
    replica.known, replica.asked = dict(heads), True
    try:
        start = await from_statement(replica.of, log, *replica.key, statements)
    except NotFound:
        if not heads:
            return
    else:
        replica.begin(start.state, start.after)
    await catch_up(replica)
