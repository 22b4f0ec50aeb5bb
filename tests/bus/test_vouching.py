"""What a service publishes of its tables' heads: never less than it knows, and each loss once."""

from contracts.codec import decode, encode
from contracts.commit import Head
from contracts.events import AnyEvent, fact_of
from contracts.events.table import TableOpened, TablePaused, TableResumed
from services.aggregate.fold import commit_of, fold
from services.aggregate.table import Table
from services.bus.aggregates import TABLES
from services.bus.clock import Clock, utc_now
from services.bus.follower import Follower
from services.bus.memory import MemoryLog
from services.bus.vouching import Vouching
from tests.replay.playing import NLHE

KEY = ("main", "T1")


class Appending:
    """A log that somebody else appends to, followed by this process; `published` is what it said of heads."""

    def __init__(self) -> None:
        self.log = MemoryLog()
        self.follower = Follower(TABLES, self.log, ["main"], Clock())
        self.published: list[tuple[str, Head]] = []
        self.vouching = Vouching("table", self.follower, self._publish)
        self._table = Table(room="main", id="T1")
        self._sequence = 0

    def _publish(self, subject: str, head: bytes) -> None:
        self.published.append((subject, decode(head, Head)))

    async def append(self, event: AnyEvent) -> Head:
        """Appends a commit, and waits until it is folded here."""
        commit = commit_of(self._table, "table", (event,), utc_now())
        data = encode(commit)
        fold(self._table, commit, data)
        self._sequence = await self.log.append("main", "T1", "table", fact_of(event), data, self._sequence)
        await self.follower.catch_up(self.follower.replica(*KEY))
        return Head(n=commit.n, hash=self._table.head)


async def test_a_head_that_waited_does_not_take_back_a_later_one() -> None:
    """A replica's own head went out up to a second late, over the one of another replica that had gone on."""
    room = Appending()
    first = await room.append(TableOpened(config=NLHE))
    room.vouching.note(KEY, first, at_once=True)
    assert room.published == [("heads.table.main.T1", first)]
    second = await room.append(TablePaused())
    room.vouching.note(KEY, second, at_once=False)
    room.vouching.publish_due()
    third = await room.append(TableResumed())  # by another replica
    assert len(room.published) == 1
    await room.vouching.leave_all(room.log)
    assert room.log.published == {KEY: {third.n: third.hash}}


async def test_a_commit_that_is_lost_is_published_once() -> None:
    room = Appending()
    lost = await room.append(TableOpened(config=NLHE))
    room.follower.lost[KEY] = lost
    room.vouching.publish_due()
    room.vouching.publish_due()
    assert room.published == [("heads.table.main.T1", lost)]
    await room.vouching.leave_all(room.log)
    assert room.log.published == {}
