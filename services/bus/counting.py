"""Whether a log holds more than its commits: then a fold may not begin at a statement, which may be a copy (DESIGN 2).

A run of commits that was stored again looks from within like the log's end: each extends the one before it. What
gives it away is that more messages lie in the log than its commits have numbers.
"""

from typing import Final

from contracts.data import Id
from services.bus.log import Log
from services.bus.outline import outline_of

TRIES_MAX: Final = 5
"""So often the messages are counted again where another commit came while they were."""


async def holds_strays(log: Log, room: Id, name: Id) -> bool:
    """Whether messages lie in a log that are no part of it.

    They are counted after the last one was read: what comes meanwhile counts for a stray, and no stray for a commit.
    """
    counted = 0
    for _ in range(TRIES_MAX):
        tail = await log.tail(room, name)
        if tail is None or tail.sequence == counted:
            break
        counted = tail.sequence
        outline, size = outline_of(tail.data), (await log.sizes(room, name)).get(name, 0)
        if outline is not None and outline.n >= size:
            return False
    return True
