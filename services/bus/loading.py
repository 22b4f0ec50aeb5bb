"""How the tables of a room, or the ledgers, are read when a process starts: many at the same time.

A table is read from its last statement, a ledger from its first message. That such a statement is no copy of an old one
shows when its log was read: the last commit's number is as high as the count of its messages, else it is read again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Final, NamedTuple

from services.aggregate.chain import Chained, State
from services.bus.aggregates import Kind
from services.bus.log import Heads, Log, Stored, Unavailable
from services.bus.reader import NotFound, from_last_statement, from_statement, last_statements
from services.bus.replica import Replica

LOADS_MAX: Final = 32
"""How many tables are read at the same time."""


class Counted(NamedTuple):
    """How many messages each table of a room had, all those up to the sequence `until` included."""

    sizes: Mapping[str, int]
    until: int


type CatchUp[S: State, C: Chained] = Callable[[Replica[S, C]], Awaitable[None]]


async def load[S: State, C: Chained](
    of: Kind[S, C],
    log: Log,
    room: str,
    tables: Mapping[str, Replica[S, C]],
    heads: Mapping[str, Heads],
    counted: Counted,
    catch_up: CatchUp[S, C],
) -> None:
    """Brings the tables of a room, by name, up to the tail; each has to pass its `heads`. Raises `Unavailable`."""
    statements = await last_statements(of, log, room, list(tables))
    slots = asyncio.Semaphore(LOADS_MAX)

    async def read(name: str, replica: Replica[S, C]) -> None:
        async with slots:
            replica.known, replica.asked = dict(heads.get(name, {})), True
            await _load(log, replica, statements[name], counted, catch_up)

    try:
        async with asyncio.TaskGroup() as group:
            for name, replica in tables.items():
                group.create_task(read(name, replica))
    except ExceptionGroup as errors:
        if errors.split(Unavailable)[1] is not None:
            raise
        raise Unavailable(f"room {room}: {errors.exceptions[0]}") from errors  # one stands for all


async def _load[S: State, C: Chained](
    log: Log, replica: Replica[S, C], statements: Sequence[Stored], counted: Counted, catch_up: CatchUp[S, C]
) -> None:
    is_newer = any(stored.sequence > counted.until for stored in statements)
    try:
        if is_newer:
            start = await from_last_statement(replica.of, log, *replica.key)
        else:
            start = await from_statement(replica.of, log, *replica.key, statements)
    except NotFound:
        if not replica.known:
            return
    else:
        size = 0 if is_newer or start.after == 0 else counted.sizes.get(replica.state.id, 0)
        replica.begin(start.state, start.after, size)
    await catch_up(replica)
