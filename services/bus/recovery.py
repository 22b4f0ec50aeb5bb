"""Where the fold of a table begins after a restart: just before its last `hand_started` (DESIGN 2)."""

from typing import Final

import msgspec

from contracts.codec import decode_commit, digest
from contracts.commit import Commit
from contracts.events.table import HandStarted, TableRestated
from services.bus.log import Log, Stored

FACTS: Final = ("hand_started", "table_restated")
ANCHORS_MAX: Final = 8
"""So many messages before a commit are looked at for the one that it extends."""


class StartingPoint(msgspec.Struct, frozen=True):
    """A fold may begin after commit `n`, whose SHA-256 is `head`, by reading what was stored after `sequence`."""

    n: int
    head: str
    sequence: int


async def starting_point(log: Log, room: str, table: str) -> StartingPoint | None:
    """Finds where to begin; None: at the first commit. Raises `Unavailable`.

    A commit that extends no message before it is not part of the log, and no place to begin.
    """
    found = [stored for fact in FACTS if (stored := await log.last_of(room, table, "table", fact)) is not None]
    for stored in sorted(found, key=lambda each: each.sequence, reverse=True):
        commit = _restating(stored)
        if commit is not None and await _anchored(log, room, table, stored.sequence, commit):
            return StartingPoint(commit.n - 1, commit.prev, stored.sequence - 1)
    return None


def _restating(stored: Stored) -> Commit | None:
    try:
        commit = decode_commit(stored.data)
    except msgspec.MsgspecError:
        return None
    restates = len(commit.events) == 1 and isinstance(commit.events[0], HandStarted | TableRestated)
    return commit if restates and commit.by == "table" else None


async def _anchored(log: Log, room: str, table: str, sequence: int, commit: Commit) -> bool:
    if commit.table != table:
        return False
    for _ in range(ANCHORS_MAX):
        stored = await log.before(room, table, sequence)
        if stored is None:
            return False
        if digest(stored.data) == commit.prev:
            return True
        sequence = stored.sequence
    return False
