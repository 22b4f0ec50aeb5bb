"""The judge says what is wrong at the commit that is wrong."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from contracts.codec import encode
from contracts.commands import (
    AnyCommand,
    ChangeOptions,
    Connected,
    Disconnected,
    OpenTable,
    TakeSeat,
    TopUp,
    VoidHand,
)
from contracts.commit import Cause, Commit
from contracts.events import AnyEvent, fact_of
from contracts.events.state import Actor
from contracts.games import BuyIn, Options, Stakes, TableConfig
from contracts.outcomes import Rejected
from contracts.subjects import ActorKind, CommandSubject, guarded
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
        ask(judge, command)
    return judge


def ask(judge: Judge, command: AnyCommand, kind: ActorKind = "lobby") -> None:
    """Has a command accepted."""
    table = judge.table("T1")
    cause = Cause(actor=Actor(kind=kind, name="lobby"), arrived=NOON, command=command)
    events = decide(table, cause, NOON)
    assert not isinstance(events, Rejected), events
    store(judge, commit_of(table, "table", events, NOON, cause))


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


def with_a_top_up(rules: int) -> tuple[Judge, TopUp]:
    """Hand 1 is played, and a lobby adds chips after it."""
    opens = OpenTable(id="a", config=replace(CONFIG, options=Options(rules=rules)))
    judge, top_up = judged(opens, *COMMANDS[1:]), TopUp(id="t", hand=1, player="P1", amount=500)
    next_hand(judge)
    ask(judge, top_up)
    return judge, top_up


def flaps(judge: Judge, number: int) -> None:
    """So many times a lobby says who is connected."""
    for n in range(number):
        ask(judge, (Connected if n % 2 else Disconnected)(id=f"p{n}", hand=judge.table("T1").hands, player="P2"))


def changes(judge: Judge, number: int) -> None:
    """So many times an operator says by which options the next hand is played."""
    table = judge.table("T1")
    assert table.config is not None
    for n in range(number):
        ask(judge, ChangeOptions(id=f"o{n}", hand=table.hands, config=table.config, reason="the same"), "operator")


def next_hand(judge: Judge) -> None:
    """The hand in progress is cancelled, by a command that lasts, and the next one starts."""
    table = judge.table("T1")
    if table.hand is not None:
        ask(judge, VoidHand(id=f"v{table.hands}", hand=table.hands, reason="a misdeal"), "operator")
    store(judge, commit_of(table, "table", owed(judge), NOON))


def complains_of_a_stale_top_up(judge: Judge, command: TopUp) -> bool:
    """Whether the judge lets no copy of this accepted command be refused."""
    table = judge.table("T1")
    judge.delivered("r", CommandSubject("main", "T1", "lobby", "lobby"), command, NOON)
    refused = Rejected(code="stale", message="", id=command.id, n=table.n, head=table.head)
    assert judge.violations == []
    judge.answered("r", encode(refused))
    return any("is refused (stale) and is the cause" in violation for violation in judge.violations)


@pytest.mark.parametrize(
    ("rules", "others", "number", "complains"),
    [
        (3, changes, 797, True),
        (3, changes, 798, False),
        (3, flaps, 900, True),
        (2, flaps, 198, True),
        (2, flaps, 199, False),
        (1, changes, 199, False),
    ],
)
def test_only_what_too_many_others_outlast_may_be_forgotten(
    rules: int, others: Callable[[Judge, int], None], number: int, *, complains: bool
) -> None:
    """DESIGN 4: two hands are cancelled after the top-up, by commands that last; the second is one of the last two."""
    judge, top_up = with_a_top_up(rules)
    others(judge, number)
    next_hand(judge)
    next_hand(judge)
    assert complains_of_a_stale_top_up(judge, top_up) is complains


@pytest.mark.parametrize("rules", [1, 2])
def test_before_rules_3_commands_of_the_last_two_hands_have_no_other_forgotten(rules: int) -> None:
    judge, top_up = with_a_top_up(rules)
    next_hand(judge)
    flaps(judge, 300)
    next_hand(judge)
    assert complains_of_a_stale_top_up(judge, top_up)
