"""Whether the log still is what a fold was read from, and how a table is read on, or anew (DESIGN 1).

A log goes back where a disk was damaged, and comes again where a table was purged and put back from its export. The
message that was read last tells: it is no longer where it was.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from contracts.codec import digest
from contracts.commit import Head
from services.aggregate.chain import Chained, State
from services.bus.log import Log, Stored
from services.bus.reader import NotFound, from_commit
from services.bus.replica import Gap, Replica

WAITING_MAX: Final = 64
"""So many messages wait at most until it is known whether what they follow on still stands."""


class Take[S: State, C: Chained](Protocol):
    """Folds a stored message into a replica; see `Replica.take`."""

    def __call__(self, replica: Replica[S, C], stored: Stored, *, in_order: bool) -> object: ...


async def stands[S: State, C: Chained](log: Log, replica: Replica[S, C]) -> bool:
    """Whether the last message that was taken still is where it was. Raises `Unavailable`."""
    sequence, last = replica.sequence, replica.last
    if last is None:
        return True
    found = await log.first(*replica.key, sequence)
    return found is not None and found.sequence == sequence and digest(found.data) == last


async def read_on[S: State, C: Chained](log: Log, replica: Replica[S, C], take: Take[S, C]) -> bool:
    """Reads a log up to its tail; False where the log is not what it was, or not what it looked like at its end.

    What does not extend the chain is passed over only while the last message stands: else the log began anew, and
    its first commits would be taken for strays. It is asked for once for many: what follows on the first of them waits
    until it is known. Where the read began at a copy of a statement, it leads nowhere. Raises `Unavailable`.
    """
    epoch, before = replica.epoch, replica.sequence
    waiting: list[Stored] = []
    async for stored in log.read(*replica.key, replica.sequence):
        if replica.is_other_than(epoch):
            return True
        if waiting or not _taken(replica, stored, take):
            waiting.append(stored)
        if len(waiting) == WAITING_MAX:
            if not await _pass_over(log, replica, waiting, take):
                return False
            waiting.clear()
    if waiting and not await _pass_over(log, replica, waiting, take):
        return False
    if replica.is_other_than(epoch):
        return True
    if replica.is_short:
        return False
    return replica.sequence != before or await stands(log, replica) or replica.epoch != epoch


def _taken[S: State, C: Chained](replica: Replica[S, C], stored: Stored, take: Take[S, C]) -> bool:
    try:
        take(replica, stored, in_order=False)
    except Gap:
        return False
    return True


async def _pass_over[S: State, C: Chained](
    log: Log, replica: Replica[S, C], waiting: Sequence[Stored], take: Take[S, C]
) -> bool:
    """Takes messages between which nothing lies; False where what they follow on does not stand, or is a copy."""
    epoch = replica.epoch
    stood = await stands(log, replica)
    for stored in waiting:
        if replica.is_other_than(epoch):
            return True
        if not stood:
            return False
        try:
            take(replica, stored, in_order=True)
        except Gap as gap:
            if replica.is_short:
                return False
            replica.halt(f"the log has a hole: {gap}")
    return True


async def read_first[S: State, C: Chained](log: Log, replica: Replica[S, C], take: Take[S, C]) -> bool:
    """Reads a log of which nothing is known yet: what its heads say comes first. Else as `read_on`."""
    await _ask_for_heads(log, replica)
    stood = await read_on(log, replica, take) and await _read_what_was_published(log, replica, take)
    replica.asked = True
    return stood


async def _read_what_was_published[S: State, C: Chained](log: Log, replica: Replica[S, C], take: Take[S, C]) -> bool:
    """Reads up to the heads that were published meanwhile: what was read may be half of a log that is put back.

    Who puts it back publishes its head before anything else.
    """
    await _ask_for_heads(log, replica)
    return not replica.known or await read_on(log, replica, take)


async def _ask_for_heads[S: State, C: Chained](log: Log, replica: Replica[S, C]) -> None:
    replica.learn((await log.heads(*replica.key)).get(replica.state.id, {}))


async def read_again[S: State, C: Chained](log: Log, fresh: Replica[S, C]) -> None:
    """Reads a log into an empty replica, from a statement before all that it has to pass. Raises `Unavailable`.

    It is halted in the end unless the chain has passed every commit that it has to.
    """
    try:
        start = await from_commit(fresh.of, log, *fresh.key, min(fresh.known, default=0))
    except NotFound:
        pass
    else:
        fresh.begin(start.state, start.after)
    stood = await read_on(log, fresh, _take)
    if not stood or not await _read_what_was_published(log, fresh, _take):
        fresh.halt("the log was changed while it was read")
    fresh.check_heads()


def only_held[S: State, C: Chained](replica: Replica[S, C], fresh: Replica[S, C]) -> dict[tuple[str, str], Head]:
    """The last commit that was folded, by room and table, if nothing else tells that the log, read again, lacks it."""
    held = replica.held
    if fresh.halted is None or held is None or held.n != max(fresh.known, default=0):
        return {}
    return {replica.key: held}


def _take[S: State, C: Chained](replica: Replica[S, C], stored: Stored, *, in_order: bool) -> object:
    return replica.take(stored, in_order=in_order)
