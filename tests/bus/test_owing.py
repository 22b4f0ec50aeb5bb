"""DESIGN 3: deadlines are debts; what is due later is not looked at until it is due, however many tables there are."""

from datetime import UTC, datetime, timedelta
from typing import Final

from hypothesis import given
from hypothesis import strategies as st

from contracts.commit import Commit
from services.aggregate.debts import Debt
from services.aggregate.table import Table
from services.bus.aggregates import TABLES
from services.bus.owing import Owing
from services.bus.replica import Replica, TableReplica

NOON: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)


def after(seconds: int) -> datetime:
    return NOON + timedelta(seconds=seconds)


def owes(replica: TableReplica, owing: Owing[Table, Commit], debt: Debt | None) -> None:
    replica.debt = debt
    owing.note(replica)


def turn(seconds: int) -> Debt:
    """A turn whose time runs out so many seconds after noon."""
    return Debt("table", "act_for_player", after(seconds))


def names(found: list[TableReplica]) -> list[str]:
    return sorted(replica.state.id for replica in found)


def test_what_is_due_later_is_found_once_it_is_due_and_not_before() -> None:
    owing = Owing[Table, Commit]("table")
    for number in range(3):
        owes(Replica(TABLES, "main", f"T{number}"), owing, turn(10 * number + 10))
    assert [names(owing.due(after(second))) for second in (0, 9, 10, 25)] == [[], [], ["T0"], ["T0", "T1"]]


def test_a_turn_that_was_played_in_time_is_not_looked_at_when_its_time_would_have_run_out() -> None:
    owing, replica = Owing[Table, Commit]("table"), Replica(TABLES, "main", "T1")
    owes(replica, owing, turn(10))
    owes(replica, owing, turn(25))
    assert owing.due(after(10)) == []
    owes(replica, owing, Debt("dealer", "deal_board"))
    assert owing.due(after(60)) == []


def test_an_earlier_deadline_after_a_later_one_is_not_missed() -> None:
    owing, replica = Owing[Table, Commit]("table"), Replica(TABLES, "main", "T1")
    owes(replica, owing, turn(600))
    owes(replica, owing, turn(10))
    assert owing.due(after(10)) == [replica]


@given(
    st.lists(
        st.tuples(
            st.integers(0, 4),
            st.one_of(st.none(), st.sampled_from(("now", "dealer")), st.integers(0, 30)),
            st.integers(0, 3),
        ),
        max_size=40,
    )
)
def test_at_every_moment_exactly_those_are_found_that_owe_something_then(
    story: list[tuple[int, str | int | None, int]],
) -> None:
    """Whatever the tables come to owe one after the other, while time goes on."""
    owing, now = Owing[Table, Commit]("table"), 0
    replicas = [Replica(TABLES, "main", f"T{number}") for number in range(5)]
    for number, said, passes in story:
        debt = turn(now + said) if isinstance(said, int) else None
        if said == "now":
            debt = Debt("table", "end_hand")
        if said == "dealer":
            debt = Debt("dealer", "deal_board")
        owes(replicas[number], owing, debt)
        now += passes
        owed = [each for each in replicas if each.debt is not None and each.debt.service == "table"]
        due = [each for each in owed if each.debt is not None and each.debt.is_due(after(now))]
        assert names(owing.due(after(now))) == names(due)
