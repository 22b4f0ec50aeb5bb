"""A table's log is purged and put back while processes begin to read it: half a log is never taken for the whole."""

from collections.abc import Sequence

import pytest

from contracts.events import fact_of
from contracts.subjects import ANY, guarded, table_pattern
from services.bus.aggregates import TABLES
from services.bus.clock import Clock
from services.bus.follower import Follower, TableFollower
from services.bus.log import Heads
from services.bus.memory import MemoryLog
from tests.replay.playing import ROOM, Session, session

KEY = (ROOM, "nlhe-3")


class PutBack(MemoryLog):
    """A log that is purged, and put back in part, right after somebody has asked for heads for the nth time.

    As `croupier repair` does it, the head is published before the purge.
    """

    def __init__(self, played: Session, half: int, *, at: int, whole_before: bool) -> None:
        super().__init__()
        self._played = played
        self._half = half
        self._left = at
        self._n = 0
        if whole_before:
            self.put(len(played.commits))

    def put(self, up_to: int) -> None:
        """Stores the commits up to this one, and tells those who follow."""
        for commit, line in list(zip(self._played.commits, self._played.lines, strict=True))[self._n : up_to]:
            address = guarded(ROOM, KEY[1], commit.by, fact_of(commit.events[-1]))
            found = self._tables[table_pattern(*KEY)]
            self.publish(self.store(address, line, found[-1].sequence if found else 0))
        self._n = up_to

    def _purge(self) -> None:
        self._rooms.clear()
        self._tables.clear()
        self._facts.clear()
        self._n = 0

    async def heads(self, room: str, table: str = ANY) -> dict[str, Heads]:
        found = await super().heads(room, table)
        self._left -= 1
        if self._left == 0:
            self.published[KEY] = {len(self._played.commits): self._played.table.head}
            self._purge()
            self.put(self._half)
        return found


def halves(played: Session) -> Sequence[int]:
    """After the first commit, in the middle, and before the last one."""
    return 1, len(played.commits) // 2, len(played.commits) - 1


async def _whole_in_the_end(log: PutBack, follower: TableFollower, played: Session) -> None:
    replica = follower.replica(*KEY)
    await follower.audit()
    n, half = len(played.commits), replica.state.n
    assert not replica.ready, f"half a log, up to commit {half} of {n}, was taken for the whole"
    log.put(n)
    for _ in range(3):
        await follower.audit()
    assert (replica.halted, replica.ready) == (None, True)
    assert replica.state == played.table
    await follower.stop()


@pytest.mark.parametrize("which", range(3))
async def test_a_process_that_starts_while_a_log_is_put_back_does_not_act_on_half_of_it(which: int) -> None:
    """It had asked for the heads before the repair published its own, and read the log after the purge."""
    played = session("nlhe", 3, hands=4)
    log = PutBack(played, halves(played)[which], at=1, whole_before=True)
    follower = Follower(TABLES, log, [ROOM], Clock())
    await follower.start()
    await _whole_in_the_end(log, follower, played)


@pytest.mark.parametrize("which", range(3))
async def test_a_process_that_first_hears_of_a_table_while_its_log_is_put_back_does_not_act_on_half_of_it(
    which: int,
) -> None:
    played = session("nlhe", 3, hands=4)
    log = PutBack(played, halves(played)[which], at=3, whole_before=False)
    follower = Follower(TABLES, log, [ROOM], Clock())
    await follower.start()
    await follower.catch_up(follower.replica(*KEY))
    await _whole_in_the_end(log, follower, played)


@pytest.mark.parametrize("which", range(3))
async def test_a_table_that_is_read_again_while_its_log_is_put_back_does_not_go_on_from_half_of_it(which: int) -> None:
    """This process had fallen behind: what it holds itself is in the half that was put back already."""
    played = session("nlhe", 3, hands=4)
    half = halves(played)[which]
    log = PutBack(played, half, at=5, whole_before=False)
    follower = Follower(TABLES, log, [ROOM], Clock())
    await follower.start()
    log.put(max(1, half - 2))
    await follower.audit()
    replica = follower.replica(*KEY)
    assert replica.state.n == max(1, half - 2)
    await follower.refold(replica)
    await _whole_in_the_end(log, follower, played)
