"""The judge says what is wrong at the commit that is wrong."""

from datetime import UTC, datetime, timedelta

from contracts.codec import encode
from contracts.commands import AnyCommand, OpenTable, TakeSeat
from contracts.commit import Cause, Commit
from contracts.events import AnyEvent, fact_of
from contracts.events.state import Actor
from contracts.games import BuyIn, Stakes, TableConfig
from contracts.outcomes import Rejected
from contracts.subjects import guarded
from services.aggregate.fold import commit_of
from services.bus.log import Stored
from services.table.decider import decide, owes
from tests.simulation.judge import Judge

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CONFIG = TableConfig(
    variant="holdem",
    limit="no_limit",
    stakes=Stakes(small_blind=50, big_blind=100),
    seats=6,
    buy_in=BuyIn(minimum=400),
)
COMMANDS: tuple[AnyCommand, ...] = (
    OpenTable(id="a", config=CONFIG),
    TakeSeat(id="b", player="P1", buy_in=1000, seat=1),
    TakeSeat(id="c", player="P2", buy_in=1000, seat=2),
)


def store(judge: Judge, commit: Commit) -> None:
    fact = fact_of(commit.events[-1])
    judge.stored(Stored(commit.n, guarded("main", "T1", commit.by, fact).subject, encode(commit), None))


def judged(*commands: AnyCommand) -> Judge:
    """A judge of a log in which the table service has said yes to these commands."""
    judge = Judge(lambda: NOON)
    for command in commands:
        cause = Cause(actor=Actor(kind="lobby", name="lobby"), arrived=NOON, command=command)
        events = decide(judge.table("T1"), cause, NOON)
        assert not isinstance(events, Rejected)
        store(judge, commit_of(judge.table("T1"), "table", events, NOON, cause))
    return judge


def owed(judge: Judge) -> tuple[AnyEvent, ...]:
    return owes(judge.table("T1"), NOON + timedelta(minutes=1))


def test_a_commit_that_the_rules_give_is_not_complained_of() -> None:
    judge = judged(*COMMANDS)
    store(judge, commit_of(judge.table("T1"), "table", owed(judge), NOON))
    assert judge.table("T1").hands == 1
    assert judge.violations == []


def test_a_commit_that_nobody_owed_is_found_when_it_is_stored() -> None:
    """Each commit is derived again at once, on the state before it: not only when its log is verified at the end."""
    two = judged(*COMMANDS)
    alone = judged(*COMMANDS[:2])
    store(alone, commit_of(alone.table("T1"), "table", owed(two), NOON))
    assert any("owed nothing then" in violation for violation in alone.violations)
    assert any("commit 3" in violation for violation in alone.violations)
