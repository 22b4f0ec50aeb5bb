"""How work is counted: by whom, under which labels, and what becomes of the rake of a cancelled hand."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from contracts.commands import Act, PauseTable
from contracts.commit import Commit
from contracts.events import AnyEvent, fact_of
from contracts.events.cashier import AccountOpened
from contracts.events.rake import RakeTaken
from contracts.events.table import HandEnded, HandVoided, TablePaused
from contracts.games import Money
from contracts.ledger import HOUSE, LedgerCommit
from contracts.outcomes import Accepted, Outcome, Rejected
from contracts.subjects import CommandSubject
from services.aggregate.debts import Debt
from services.aggregate.ledger import Ledger
from services.aggregate.table import Table
from services.bus.aggregates import TABLES
from services.bus.application import Service
from services.bus.families import BOUNDS_S, FAMILIES
from services.bus.follower import Follower
from services.bus.measures import Appended, Stopwatch
from services.bus.memory import MemoryLog
from services.bus.metrics import CURRENCIES_MAX, Metrics
from services.bus.process import Process
from services.bus.settings import Settings
from tests.services.room import CONFIG
from tests.watch.promtool import promtool

NOON: Final = datetime(2026, 3, 1, 12, tzinfo=UTC)
ACT: Final = Act(id="a", hand=1, turn=7, action="fold")
PAUSE: Final = PauseTable(id="p", reason="x")
BUSY: Final = Rejected(code="busy", message="later")
DONE: Final = Accepted(id="a", n=8, head="0" * 64)
ADDRESS: Final = CommandSubject("main", "T1", "player", "ann")
RAKE: Final = RakeTaken(schedule="s", version=1, players=2, base=900, computed=45, total=45, per_pot=(30, 15))
VOIDED: Final = HandVoided(number=3, seats=(), last=None, started_at=NOON, voided_at=NOON, rake_returned=(30, 15))
ENDED: Final = HandEnded(number=3, stacks=(), started_at=NOON, ended_at=NOON, rake=45)


def shown(metrics: Metrics, name: str) -> dict[tuple[str, ...], float]:
    """The series of a metric on the page, by the values of their labels in the order of their names."""
    families = text_string_to_metric_families(metrics.page().body.decode())
    samples = [sample for family in families for sample in family.samples if sample.name == name]
    return {tuple(value for _, value in sorted(sample.labels.items())): sample.value for sample in samples}


def table(money: Money = "real", currency: str = "USD") -> Table:
    return Table(room="main", id="T1", config=msgspec.structs.replace(CONFIG, money=money, currency=currency))


def stored(
    *events: AnyEvent, of: Table | None = None, debt: Debt | None = None, waited_s: float | None = 0.5
) -> Appended:
    state = of or table()
    commit = Commit(v=1, table="T1", n=9, hand=3, by="table", at=NOON, prev="0" * 64, events=events)
    return Appended(state, commit, fact_of(events[-1]), None, debt, took_s=0.002, waited_s=waited_s)


def test_the_rake_of_a_cancelled_hand_is_taken_and_returned() -> None:
    """R121: what the house keeps is the one without the other, for each kind of money and currency by itself."""
    metrics = Metrics()
    rake, dealt = metrics.of("rake"), metrics.of("table")
    rake.appended(stored(RAKE))
    dealt.appended(stored(VOIDED))
    rake.appended(stored(RAKE))
    dealt.appended(stored(ENDED))
    rake.appended(stored(RAKE, of=table("play", "EUR")))
    assert shown(metrics, "croupier_rake_chips_total") == {
        ("USD", "real", "main"): 90,
        ("EUR", "play", "main"): 45,
    }
    assert shown(metrics, "croupier_rake_returned_chips_total") == {("USD", "real", "main"): 45}
    assert shown(metrics, "croupier_hands_voided_total") == {("main",): 1}
    assert shown(metrics, "croupier_hands_ended_total") == {("main",): 1}


def test_a_lobby_cannot_make_series_without_end() -> None:
    """Tables may be opened in any currency: what comes after the first ones is added up."""
    metrics = Metrics()
    for n in range(2 * CURRENCIES_MAX):
        letters = chr(ord("A") + n // 26) + chr(ord("A") + n % 26)
        metrics.of("rake").appended(stored(RAKE, of=table("real", f"X{letters}")))
    found = shown(metrics, "croupier_rake_chips_total")
    assert len(found) == CURRENCIES_MAX + 1
    assert found["other", "real", "main"] == 45 * CURRENCIES_MAX
    assert sum(found.values()) == 45 * 2 * CURRENCIES_MAX


def test_a_commit_of_a_ledger_is_counted_in_the_house_and_plays_no_hand() -> None:
    metrics = Metrics()
    entry = AccountOpened(player="ann")
    commit = LedgerCommit(v=1, ledger="real-USD", n=9, by="cashier", at=NOON, prev="0" * 64, events=(entry,))
    ledger = Ledger(room=HOUSE, id="real-USD")
    metrics.of("cashier").appended(Appended(ledger, commit, "account_opened", None, None, took_s=0.002, waited_s=None))
    assert shown(metrics, "croupier_commits_total") == {("account_opened", HOUSE, "cashier"): 1}
    assert shown(metrics, "croupier_cause_to_commit_seconds_count") == {}
    assert shown(metrics, "croupier_append_seconds_count") == {("cashier",): 1}
    assert shown(metrics, "croupier_hands_started_total") == {}


@pytest.mark.parametrize(
    ("command", "outcome", "labels", "timed"),
    [
        (ACT, DONE, ("", "act", "accepted"), 1),
        (PAUSE, BUSY, ("busy", "pause_table", "rejected"), 1),
        (None, Rejected(code="malformed", message="?"), ("malformed", "unreadable", "rejected"), 1),
        (ACT, None, ("", "act", "dropped"), 0),
    ],
)
def test_a_command_is_counted_by_what_became_of_it(
    command: object, outcome: Outcome | None, labels: tuple[str, ...], timed: int
) -> None:
    """Nobody waits for the answer to a command that was dropped: it has no latency."""
    metrics = Metrics()
    metrics.of("table").answered(ADDRESS, command, outcome, 0.003)
    assert shown(metrics, "croupier_commands_total") == {(*labels, "main", "table"): 1}
    assert sum(shown(metrics, "croupier_command_seconds_count").values()) == timed


@pytest.mark.parametrize(
    ("subject", "kind"),
    [
        ("view.main.T1.public", "public_view"),
        ("view.main.T1.player.public", "player_view"),
        ("view.main.player.public", "public_view"),
        ("account.ann", "account_view"),
        ("_R_.x.y", "answer"),
        ("_INBOX.lobby.x", "answer"),
        ("heads.table.main.T1", "head"),
        ("ledger_heads.cashier.house.real-USD", "head"),
        ("refused.main.T1", "refusal"),
        ("ledger_refused.house.real-USD", "refusal"),
        ("anything", "other"),
    ],
)
def test_a_message_is_counted_by_what_it_is(subject: str, kind: str) -> None:
    """A player may be called `public`."""
    metrics = Metrics()
    metrics.of("views").sent(subject)
    assert shown(metrics, "croupier_messages_sent_total") == {(kind, "views"): 1}


def test_what_a_deadline_waited_for_is_told_apart() -> None:
    """It lies in the past by the time that anybody looks: that is no slowness."""
    metrics = Metrics()
    metrics.of("table").appended(stored(TablePaused(), debt=Debt("table", "act_for_player", NOON), waited_s=0.6))
    metrics.of("table").appended(stored(TablePaused(), debt=Debt("table", "end_hand"), waited_s=0.01))
    assert shown(metrics, "croupier_cause_to_commit_seconds_sum") == {
        ("deadline", "main", "table"): 0.6,
        ("debt", "main", "table"): 0.01,
    }


def test_the_sweep_is_there_for_deadlines_and_what_was_owed_at_once_is_counted_apart() -> None:
    metrics = Metrics()
    for debt in (Debt("table", "start_hand", NOON), Debt("table", "act_for_player", NOON), Debt("table", "end_hand")):
        metrics.of("table").swept("main", debt)
    assert shown(metrics, "croupier_sweep_debts_total") == {
        ("deadline", "main", "table"): 2,
        ("at_once", "main", "table"): 1,
    }


def test_two_processes_in_one_interpreter_count_apart() -> None:
    one, other = Metrics(), Metrics()
    one.of("table").swept("main", None)
    assert shown(one, "croupier_sweep_debts_total") == {("at_once", "main", "table"): 1}
    assert shown(other, "croupier_sweep_debts_total") == {}


def test_what_may_never_happen_is_there_with_0_from_the_start() -> None:
    """A series that begins with 1 shows no rise."""
    metrics = Metrics()
    metrics.of("table").begins(["main", "high"])
    assert shown(metrics, "croupier_conflicts_total") == {("main", "table"): 0, ("high", "table"): 0}
    assert set(shown(metrics, "croupier_sweep_debts_total").values()) == {0}
    assert shown(metrics, "croupier_appends_failed_total") == {("table",): 0}


async def test_an_append_is_timed_and_so_is_what_waited_for_it() -> None:
    """Clocks of two machines differ: what seems to come before its cause took no time."""
    now, clock = [NOON], asyncio.get_running_loop()
    began_s = clock.time()
    watch = Stopwatch(lambda: now[0], NOON - timedelta(seconds=2))
    early = Stopwatch(lambda: now[0], NOON + timedelta(seconds=9))
    now[0] = NOON + timedelta(seconds=1)
    took_s, waited_s = watch.read()
    assert 0 <= took_s <= clock.time() - began_s
    assert waited_s == 3.0
    metrics = Metrics()
    metrics.of("table").appended(stored(TablePaused(), waited_s=early.read()[1]))
    assert shown(metrics, "croupier_cause_to_commit_seconds_sum") == {("debt", "main", "table"): 0}
    assert Stopwatch(lambda: now[0], None).read()[1] is None


async def test_prometheus_finds_names_units_and_helps_as_they_should_be() -> None:
    process = Process(Settings())
    Service("table", process)
    process.follower = Follower(TABLES, MemoryLog(), ("main",), process.clock)
    process.measures("table").begins(["main"])
    assert promtool("check", "metrics", given=process.metrics.page().body.decode()) == ""


def test_every_metric_says_its_unit_and_has_only_labels_of_closed_lists() -> None:
    closed = {
        *(
            "service",
            "room",
            "command",
            "query",
            "outcome",
            "code",
            "fact",
            "cause",
            "debt",
            "money",
            "currency",
            "log",
        ),
        *("reason", "kind", "part", "version", "rules"),
    }
    assert len(FAMILIES) == len({family.name for family in FAMILIES})
    for family in FAMILIES:
        assert family.name.startswith("croupier_"), family.name
        assert family.help.endswith("."), family.name
        assert set(family.labels) <= closed, family.name
        if family.kind == "histogram":
            assert family.name.endswith("_seconds")
    assert list(BOUNDS_S) == sorted(BOUNDS_S)
