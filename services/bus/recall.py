"""Finds the last hands of a player at a table in its log, for the player's own record (R128)."""

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import msgspec

from contracts.data import Id
from services.aggregate.recorded import Recording, recording
from services.bus.log import Log
from services.bus.reader import commits, from_hand, last_hand

SEARCHED_MAX: Final = 500
"""So many of a table's last hands are searched for those of a player who may have been away for most of them."""
READ_AT_LEAST: Final = 10


class Recalled(msgspec.Struct, frozen=True):
    """A player's part of hands that are over, oldest first; `since` is the oldest hand that was looked at."""

    since: int
    hands: tuple[Recording, ...]


async def recall(log: Log, room: Id, table: Id, player: Id, last: int) -> Recalled:
    """A player's last hands, `last` of them at most. Raises `NotFound`, `Unreadable` or `Unavailable`."""
    newest = await last_hand(log, room, table)
    found: tuple[Recording, ...] = ()
    high = newest
    while high > 0 and len(found) < last and newest - high < SEARCHED_MAX:
        low = max(1, high - max(last - len(found), READ_AT_LEAST))
        read = [each async for each in _between(log, room, table, player, low, high)]
        found, high = (*read, *found), low - 1
    return Recalled(high + 1, found[-last:])


async def _between(log: Log, room: Id, table: Id, player: Id, low: int, high: int) -> AsyncIterator[Recording]:
    """The player's part of each hand from `low` to `high` that is over. Others get their turn between two hands."""
    current: Recording | None = None
    hand = 0
    async for commit, _ in commits(log, await from_hand(log, room, table, low)):
        if commit.hand != hand:
            if current is not None and current.ended is not None:
                yield current
            await asyncio.sleep(0)
            hand, current = commit.hand, recording(commit, player)
        elif current is not None:
            current.take(commit)
        if commit.hand > high:
            return
    if current is not None and current.ended is not None:
        yield current
