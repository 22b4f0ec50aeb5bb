"""Hands are found without an index, and a fold may begin at any of them."""

import pytest
from structlog.testing import capture_logs

from contracts.codec import encode
from contracts.commands import PauseTable, ResumeTable
from contracts.commit import Commit
from contracts.events.table import HandStarted, TableRestated
from contracts.subjects import ANY, guarded, read_commit
from services.aggregate.table import RESTATE_AFTER_COMMITS, Table
from services.bus import reader
from services.bus.aggregates import TABLES
from services.bus.clock import Clock
from services.bus.follower import Follower, TableFollower
from services.bus.log import Stored
from services.bus.memory import MemoryLog
from services.bus.reading import Reading
from services.bus.replica import Watcher
from services.replay.verification import Verification, verify
from tests.replay.playing import GAMES, NLHE, ROOM, Session, session


class CountingLog(MemoryLog):
    """Counts the questions of a search."""

    def __init__(self, messages: list[Stored]) -> None:
        super().__init__()
        self.probes = 0
        for message in messages:
            _, room, table, service, fact = message.subject.split(".")
            address = guarded(room, table, service, fact)
            last = self._tables[address.guard]
            self.store(address, message.data, last[-1].sequence if last else 0)

    async def next_of(self, room: str, table: str, service: str, fact: str, sequence: int) -> Stored | None:
        self.probes += 1
        return await super().next_of(room, table, service, fact, sequence)


def log_of(*played: Session) -> CountingLog:
    return CountingLog([message for each in played for message in each.log.messages])


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", range(3))
def test_the_fold_from_any_hand_started_equals_the_fold_from_the_first_commit(game: str, seed: int) -> None:
    """DESIGN 2: a statement carries all that the fold keeps between hands."""
    played = session(game, seed, hands=6)
    reading = Reading(TABLES, Table(room=ROOM, id=played.table.id))
    statements = 0
    for index, (commit, message) in enumerate(zip(played.commits, played.messages, strict=True)):
        if isinstance(commit.events[0], HandStarted):
            anchor = Table(room=ROOM, id=played.table.id, n=commit.n - 1, head=commit.prev, at=reading.state.at)
            begun = Reading(TABLES, anchor)
            for later in played.messages[index:]:
                begun.take(later)
            assert begun.state == played.table
            statements += 1
        reading.take(message)
    assert statements >= 6
    assert reading.state == played.table


def test_the_fold_from_a_restatement_equals_the_fold_from_the_first_commit() -> None:
    """DESIGN 2: a table that goes 1,000 commits without a hand restates itself."""
    played = Session()
    played.open(NLHE)
    assert played.sit("alice", 5000) is None
    for _ in range(RESTATE_AFTER_COMMITS // 2):
        for command in (PauseTable, ResumeTable):
            played.send("operator", "floor", lambda key, hand, command=command: command(id=key, hand=hand))  # type: ignore[misc]
    played.settle()
    assert played.sit("bob", 5000) is None
    played.play(2)
    index = next(n for n, commit in enumerate(played.commits) if isinstance(commit.events[0], TableRestated))
    commit = played.commits[index]
    before = played.commits[index - 1]
    reading = Reading(TABLES, Table(room=ROOM, id="T1", n=commit.n - 1, head=commit.prev, at=before.at))
    for message in played.messages[index:]:
        reading.take(message)
    assert reading.state == played.table
    assert list(verify(played.messages, Verification(Table(room=ROOM, id="T1")))) == []


async def test_every_hand_is_found_in_a_few_probes() -> None:
    """The search halves the log: nine probes for a thousand hands."""
    played = session("nlhe", seed=4, hands=16)
    log = log_of(played)
    for hand in range(1, played.table.hands + 1):
        log.probes = 0
        start = await reader.from_hand(log, ROOM, played.table.id, hand)
        commits = [commit async for commit, _ in reader.commits(log, start, hand)]
        assert commits == [commit for commit in played.commits if commit.hand == hand]
        assert log.probes <= 9


async def test_a_hand_is_found_among_the_messages_of_other_tables(nlhe: Session, lo8: Session) -> None:
    log = log_of(lo8, nlhe)
    start = await reader.from_hand(log, ROOM, nlhe.table.id, 3)
    commits = [commit async for commit, _ in reader.commits(log, start, 3)]
    assert commits == [commit for commit in nlhe.commits if commit.hand == 3]


async def test_a_partial_read_is_anchored_on_the_commit_before_it(nlhe: Session) -> None:
    start = await reader.from_hand(log_of(nlhe), ROOM, nlhe.table.id, 4)
    before = next(commit for commit in reversed(nlhe.commits) if commit.hand == 3)
    assert (start.state.n, start.state.at) == (before.n, before.at)
    assert start.state.config is None


async def test_a_message_that_is_no_part_of_the_log_does_not_mislead_the_search(nlhe: Session) -> None:
    """DESIGN 1: what does not extend the chain is passed over, also where it says that it is a hand."""
    table = nlhe.table.id
    log = log_of(nlhe)
    third = next(commit for commit in nlhe.commits if commit.hand == 3)
    forged = encode(third)
    address = guarded(ROOM, table, "table", "hand_started")
    log.store(address, forged, log.messages[-1].sequence)
    for hand in range(1, nlhe.table.hands + 1):
        start = await reader.from_hand(log, ROOM, table, hand)
        commits = [commit async for commit, _ in reader.commits(log, start, hand)]
        assert commits == [commit for commit in nlhe.commits if commit.hand == hand]
    assert await reader.last_hand(log, ROOM, table) == nlhe.table.hands


def runs_of_copies(played: Session) -> list[range]:
    """Which commits are stored again: a hand's beginning, a hand and more, a whole log, and one that only begins so."""
    begins = [index for index, commit in enumerate(played.commits) if isinstance(commit.events[0], HandStarted)]
    whole = range(len(played.commits))
    return [
        range(begins[2] - 1, begins[2] + 1),
        range(begins[-1] - 1, begins[-1] + 1),
        range(begins[0] - 1, begins[2] + 5),
        whole,
        whole[: begins[-1] + 1],
    ]


def with_copies(played: Session, run: range) -> CountingLog:
    """A log at whose end a run of its commits lies once more."""
    return CountingLog([*played.log.messages, *(played.log.messages[index] for index in run)])


@pytest.mark.parametrize("which", range(5))
async def test_a_run_of_copies_is_not_taken_for_the_end_of_a_log(nlhe: Session, which: int) -> None:
    """DESIGN 2: each copy extends the one before it, so that the statement among them looks like the last one."""
    table = nlhe.table.id
    log = with_copies(nlhe, runs_of_copies(nlhe)[which])
    reading = await reader.folded(log, await reader.from_last_statement(TABLES, log, ROOM, table))
    assert reading.state == nlhe.table
    for hand in range(1, nlhe.table.hands + 1):
        start = await reader.from_hand(log, ROOM, table, hand)
        assert [commit async for commit, _ in reader.commits(log, start, hand)] == [
            commit for commit in nlhe.commits if commit.hand == hand
        ]
    for n in (6, 40, len(nlhe.commits)):
        reading = await reader.folded(log, await reader.from_commit(TABLES, log, ROOM, table, n))
        assert reading.state == nlhe.table
    start = await reader.from_moment(log, ROOM, table, nlhe.commits[-1].at)
    assert (await reader.folded(log, start)).state == nlhe.table


@pytest.mark.parametrize("heads", [True, False], ids=["with heads", "without heads"])
@pytest.mark.parametrize("which", range(5))
async def test_a_process_that_starts_does_not_take_a_run_of_copies_for_the_end_of_a_log(
    nlhe: Session, which: int, *, heads: bool
) -> None:
    """It would act on an old hand, and call the rest lost where somebody published a head."""
    table = nlhe.table.id
    log = with_copies(nlhe, runs_of_copies(nlhe)[which])
    if heads:
        log.published[ROOM, table] = {nlhe.table.n: nlhe.table.head}
    with capture_logs() as lines:
        follower = await started(log)
    replica = follower.replica(ROOM, table)
    assert (replica.state, replica.halted, replica.sequence) == (nlhe.table, None, log.messages[-1].sequence)
    assert {line["event"] for line in lines} == {"message_ignored"}


@pytest.mark.parametrize("which", range(4))
async def test_what_is_appended_after_a_run_of_copies_is_read_by_who_starts(nlhe: Session, which: int) -> None:
    """The copies lead nowhere: what follows them extends the commit before them."""
    table, run = nlhe.table.id, runs_of_copies(nlhe)[which]
    messages, index = nlhe.log.messages, len(nlhe.commits) - 3
    run = range(run.start, min(run.stop, index))
    log = CountingLog([*messages[:index], *(messages[each] for each in run), *messages[index:]])
    with capture_logs() as lines:
        follower = await started(log)
    replica = follower.replica(ROOM, table)
    assert (replica.state, replica.halted, replica.sequence) == (nlhe.table, None, log.messages[-1].sequence)
    assert {line["event"] for line in lines} == {"message_ignored"}


class GrowsWhenCounted(CountingLog):
    """To which much comes as soon as its messages were counted."""

    def __init__(self, messages: list[Stored], coming: list[Stored]) -> None:
        super().__init__(messages)
        self.coming = coming

    async def sizes(self, room: str, table: str = ANY) -> dict[str, int]:
        found = await super().sizes(room, table)
        coming, self.coming = self.coming, []
        for message in coming:
            address = read_commit(message.subject)
            assert address is not None
            self.store(guarded(*address), message.data, len(self.messages))
        return found


async def test_a_hand_that_begins_while_a_process_starts_may_have_its_copies_too(nlhe: Session) -> None:
    """What is newer than the count cannot be judged by it."""
    messages = nlhe.log.messages
    begin = max(index for index, commit in enumerate(nlhe.commits) if isinstance(commit.events[0], HandStarted))
    log = GrowsWhenCounted(messages[: begin - 1], [*messages[begin - 1 :], *messages[begin - 1 : begin + 1]])
    replica = (await started(log)).replica(ROOM, nlhe.table.id)
    assert (replica.state, replica.halted, replica.sequence) == (nlhe.table, None, log.messages[-1].sequence)


async def test_a_process_that_starts_reads_an_honest_table_from_its_last_hand(nlhe: Session) -> None:
    log = log_of(nlhe)
    folded: list[int] = []
    await started(log, lambda _, commit, __: folded.append(commit.n))
    begins = [commit.n for commit in nlhe.commits if isinstance(commit.events[0], HandStarted)]
    assert folded == list(range(begins[-1], len(nlhe.commits) + 1))


async def started(log: MemoryLog, *watchers: Watcher[Table, Commit]) -> TableFollower:
    follower: TableFollower = Follower(TABLES, log, (ROOM,), Clock())
    follower.watchers += watchers
    await follower.start()
    await follower.stop()
    return follower


async def test_a_hand_that_was_not_played_is_said_not_to_be_there(nlhe: Session) -> None:
    log = log_of(nlhe)
    with pytest.raises(reader.NotFound, match=f"has no hand 99: it has played {nlhe.table.hands}"):
        await reader.from_hand(log, ROOM, nlhe.table.id, 99)
    with pytest.raises(reader.NotFound, match="there is no table nowhere in room main"):
        await reader.from_hand(log, ROOM, "nowhere", 1)


async def test_a_table_is_folded_from_its_last_statement(nlhe: Session) -> None:
    log = log_of(nlhe)
    start = await reader.from_last_statement(TABLES, log, ROOM, nlhe.table.id)
    reading = await reader.folded(log, start)
    assert start.state.n > len(nlhe.commits) - 40
    assert reading.state == nlhe.table


async def test_reading_begins_at_the_statement_before_a_commit(nlhe: Session) -> None:
    log = log_of(nlhe)
    for n in (1, 6, 40, len(nlhe.commits)):
        start = await reader.from_commit(TABLES, log, ROOM, nlhe.table.id, n)
        first = start.state.n + 1
        begins = [commit.n for commit in nlhe.commits if commit.n <= n and isinstance(commit.events[0], HandStarted)]
        assert first == (begins[-1] if begins else 1)
