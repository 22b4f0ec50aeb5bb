"""Reading a log on: what is no part of it is passed over, as long as the log is what it was."""

import pytest

from contracts.events import fact_of
from contracts.subjects import guarded, table_pattern
from services.bus.aggregates import TABLES
from services.bus.clock import Clock
from services.bus.follower import Follower
from services.bus.log import Stored
from services.bus.memory import MemoryLog
from services.bus.rereading import WAITING_MAX
from tests.replay.playing import ROOM, Session, session

KEY = (ROOM, "nlhe-3")
STRAYS = 3 * WAITING_MAX + 1


class AskedLog(MemoryLog):
    """A log that counts how often it is `asked` for one message, and can be purged and put back at such a moment."""

    def __init__(self, played: Session) -> None:
        super().__init__()
        self.asked = 0
        self.begins_anew_at = 0
        self._played = played

    async def first(self, room: str, table: str, sequence: int = 1) -> Stored | None:
        self.asked += 1
        if self.asked == self.begins_anew_at:
            self._rooms.clear()
            self._tables.clear()
            self._facts.clear()
            self.put(0, len(self._played.commits))
        return await super().first(room, table, sequence)

    def put(self, after: int, up_to: int) -> None:
        """Stores the commits between two numbers, in silence."""
        for commit, line in list(zip(self._played.commits, self._played.lines, strict=True))[after:up_to]:
            self._append(commit.by, fact_of(commit.events[-1]), line)

    def put_strays(self) -> None:
        """Stores noise after the last commit."""
        for number in range(STRAYS):
            self._append("table", "table_paused", b"noise %d" % number)

    def _append(self, service: str, fact: str, data: bytes) -> None:
        found = self._tables[table_pattern(*KEY)]
        self.store(guarded(*KEY, service, fact), data, found[-1].sequence if found else 0)


@pytest.mark.parametrize("behind", [0, 3])
async def test_many_strays_in_a_row_cost_few_questions(behind: int) -> None:
    """Once each of them cost a request, and a log with thousands of them seconds at every start."""
    played = session("nlhe", 3, hands=4)
    log, whole = AskedLog(played), len(played.commits)
    log.put(0, whole - behind)
    log.put_strays()
    log.put(whole - behind, whole)
    follower = Follower(TABLES, log, [ROOM], Clock())
    await follower.start()
    replica = follower.replica(*KEY)
    assert (replica.state, replica.ignored, replica.halted) == (played.table, STRAYS, None)
    assert log.asked < STRAYS / 10
    await follower.stop()


@pytest.mark.parametrize("at", [1, 2])
async def test_a_log_that_begins_anew_while_strays_are_read_is_read_again(at: int) -> None:
    """Its first commits are not taken for strays."""
    played = session("nlhe", 3, hands=4)
    log, half = AskedLog(played), len(played.commits) // 2
    log.put(0, half)
    follower = Follower(TABLES, log, [ROOM], Clock())
    await follower.start()
    replica = follower.replica(*KEY)
    log.put_strays()
    log.begins_anew_at = log.asked + at
    await follower.catch_up(replica)
    assert (replica.state, replica.halted) == (played.table, None)
    await follower.stop()
