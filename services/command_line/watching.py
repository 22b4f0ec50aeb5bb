"""`croupier watch`: tells a table's hands while they are played, with the cards that the table sees."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Annotated, Final

from cyclopts import Parameter, validators

from contracts.codec import encode
from contracts.commit import Commit
from contracts.data import Id
from contracts.events.table import HandEnded, HandStarted, HandVoided
from services.bus import reader
from services.bus.aggregates import TABLES
from services.bus.log import Log, Stored, Unavailable
from services.bus.reading import Reading, TableReading
from services.command_line.numbers import Whole
from services.command_line.sources import opened, table_name
from services.command_line.where import NOWHERE, Where
from services.replay.narration import told

LOOK_S: Final = 1.0
"""The log is looked at so often even if no fact came: one may be lost."""


def watch(
    table: str,
    /,
    *,
    hands: Annotated[
        Whole | None,
        Parameter(help="End when so many hands have ended; default: never.", validator=validators.Number(gte=1)),
    ] = None,
    where: Where = NOWHERE,
    json: Annotated[bool, Parameter(name="--json", negative=(), help="Print one JSON document a line.")] = False,
) -> int:
    """Tell a table's hands while they are played, from the hand in progress on, until Ctrl-C."""
    return asyncio.run(_watch(where, table_name(table), hands, json=json))


async def _watch(where: Where, table: Id, hands: int | None, *, json: bool) -> int:
    ended = 0
    async with opened(where) as room:
        start = await _start(room.log, where.room, table)
        reading = Reading(TABLES, start.state.copy())
        async with aclosing(_commits(room.log, reading, start.after)) as commits:
            async for commit, data in commits:
                _print(reading, commit, data, json=json)
                reading.fold(commit, data)
                ended += sum(isinstance(event, HandEnded | HandVoided) for event in commit.events)
                if ended == hands:
                    break
    return 0


async def _start(log: Log, room: Id, table: Id) -> reader.TableStart:
    """Where the hand in progress begins, or the table where it has played none. Raises `NotFound`."""
    last = await reader.last_hand(log, room, table)
    return await (
        reader.from_hand(log, room, table, last) if last else reader.from_the_beginning(TABLES, log, room, table)
    )


async def _commits(log: Log, reading: TableReading, after: int) -> AsyncGenerator[tuple[Commit, bytes]]:
    """Every commit that is next, as soon as it is stored; the caller folds it. A server that is away is waited for."""
    news = asyncio.Event()

    def hear(stored: Stored) -> None:
        news.set()

    following = await log.follow(reading.state.room, hear)
    try:
        while True:
            news.clear()
            with suppress(Unavailable):
                async for stored in log.read(reading.state.room, reading.state.id, after):
                    after = stored.sequence
                    commit = reading.next_of((stored.subject, stored.data))
                    if commit is not None:
                        yield commit, stored.data
            with suppress(TimeoutError):
                await asyncio.wait_for(news.wait(), LOOK_S)
    finally:
        await following.stop()


def _print(reading: TableReading, commit: Commit, data: bytes, *, json: bool) -> None:
    lines = told(reading.state, [(commit, data)], {})
    if json:
        for line in lines:
            print(encode(line).decode(), flush=True)
        return
    if any(isinstance(event, HandStarted) for event in commit.events):
        print()
    print(*lines, sep="\n", flush=True)
