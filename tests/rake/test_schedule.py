"""How much a schedule takes, and from which pots: RK1 to RK4 of the rule book, and properties."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from contracts.games import RakeBand, RakeSchedule
from services.rake.schedule import NO_RAKE, Rake, allocated, rake_of
from tests.rake.rulebook import VECTORS, schedule_of

CALCULATED = [vector for vector in VECTORS if vector["kind"] == "rake_calc"]
FIVE_PERCENT = RakeSchedule(
    id="pct5", version=1, mode="percent", bands=(RakeBand(players=(2, 10), basis_points=500, cap=300),)
)
BY_THE_STEP = RakeSchedule(
    id="step", version=1, mode="step", bands=(RakeBand(players=(2, 10), step_pot=20, step_rake=1, cap=300),), minimum=10
)
PRIMA = RakeSchedule(
    id="prima",
    version=1,
    mode="breakpoints",
    bands=(RakeBand(players=(2, 10), thresholds=((2000, 100), (3000, 150), (5000, 250))),),
)

bands = st.builds(
    RakeBand,
    players=st.just((2, 10)),
    cap=st.none() | st.integers(0, 500),
    step_pot=st.integers(0, 1000),
    step_rake=st.integers(0, 2000),
    basis_points=st.integers(0, 20_000),
)
schedules = st.builds(
    RakeSchedule,
    id=st.just("any"),
    version=st.just(1),
    mode=st.sampled_from(["step", "percent"]),
    bands=st.tuples(bands),
    minimum=st.integers(0, 50),
    round_to=st.sampled_from([1, 5, 100]),
    allocation=st.sampled_from(["proportional", "main_first"]),
)
pot_lists = st.lists(st.integers(0, 10**7), min_size=1, max_size=9).map(tuple)


@pytest.mark.parametrize("vector", CALCULATED, ids=[vector["id"] for vector in CALCULATED])
def test_the_rake_is_what_the_rule_book_calculates(vector: dict[str, Any]) -> None:
    """R107, R108, R109."""
    schedule = schedule_of(vector["schedule"])
    taken = [
        {**case, "rake": rake_of(schedule, case["dealt"], case["pot"], flop=True).total} for case in vector["expect"]
    ]
    assert taken == vector["expect"]


def test_the_rule_book_calculates_four_schedules() -> None:
    assert [vector["id"] for vector in CALCULATED] == ["RK1", "RK2", "RK3", "RK4"]


def test_the_band_goes_by_the_players_dealt_in() -> None:
    """R108 (K02): two players, pot 18000: cap 100."""
    schedule = schedule_of(CALCULATED[0]["schedule"])
    assert rake_of(schedule, 2, 18000, flop=True) == Rake(computed=900, cap=100, total=100)
    assert rake_of(schedule, 5, 18000, flop=True) == Rake(computed=900, cap=300, total=300)


def test_players_whom_no_band_covers_are_not_raked() -> None:
    """R108."""
    schedule = replace(FIVE_PERCENT, bands=(RakeBand(players=(3, 10), basis_points=500),))
    assert rake_of(schedule, 2, 18000, flop=True) == NO_RAKE


def test_a_rake_below_the_minimum_is_not_taken() -> None:
    """R109 (K03, K04): nine cents are none, ten are taken."""
    assert rake_of(BY_THE_STEP, 3, 190, flop=True) == Rake(computed=9, cap=300, total=0)
    assert rake_of(BY_THE_STEP, 3, 200, flop=True) == Rake(computed=10, cap=300, total=10)


def test_no_flop_no_drop() -> None:
    """R110 (K05): pot 250: nothing without a flop; 12 where the schedule drops all the same."""
    assert rake_of(BY_THE_STEP, 3, 250, flop=False) == NO_RAKE
    assert rake_of(BY_THE_STEP, 3, 250, flop=True).total == 12
    assert rake_of(replace(BY_THE_STEP, no_flop_no_drop=False), 3, 250, flop=False).total == 12


def test_a_break_point_is_reached_by_a_pot_of_its_size() -> None:
    """R107 (K11): pot 5250, thresholds up to 5000: 250."""
    assert rake_of(PRIMA, 6, 5250, flop=True) == Rake(computed=250, cap=None, total=250)
    assert rake_of(PRIMA, 6, 2999, flop=True).total == 100
    assert rake_of(PRIMA, 6, 1999, flop=True).total == 0


def test_a_percentage_is_rounded_down_to_the_units_of_the_schedule() -> None:
    """R107: 5% of 1999 is 99; in units of 25 it is 75."""
    assert rake_of(FIVE_PERCENT, 6, 1999, flop=True).total == 99
    assert rake_of(replace(FIVE_PERCENT, round_to=25), 6, 1999, flop=True).total == 75


def test_a_rake_never_takes_more_than_there_is() -> None:
    """R144: a schedule that asks for 300 of a pot of 200 gets 200."""
    greedy = replace(PRIMA, bands=(RakeBand(players=(2, 10), thresholds=((100, 300),)),))
    assert rake_of(greedy, 6, 200, flop=True) == Rake(computed=300, cap=None, total=200)


@pytest.mark.parametrize(
    ("allocation", "expected"), [("proportional", (105, 117, 78)), ("main_first", (300, 0, 0))], ids=["K07", "K08"]
)
def test_pots_bear_the_rake_by_size_or_main_pot_first(allocation: Any, expected: tuple[int, ...]) -> None:
    """R111."""
    assert allocated(replace(FIVE_PERCENT, allocation=allocation), 300, (4000, 4500, 3000)) == expected


def test_what_the_main_pot_cannot_bear_side_pots_do() -> None:
    """R111, R144."""
    assert allocated(replace(FIVE_PERCENT, allocation="main_first"), 300, (120, 100, 3000)) == (120, 100, 80)


def test_an_empty_pot_bears_no_rest() -> None:
    """R144: 10 of 33 each and an empty main pot: 3, 3, 3 and the one left over from the first that has chips."""
    assert allocated(FIVE_PERCENT, 10, (0, 33, 33, 33)) == (0, 4, 3, 3)


@given(schedule=schedules, pots=pot_lists, players=st.integers(2, 10))
def test_no_pot_bears_more_than_it_holds_and_all_bear_the_whole(
    schedule: RakeSchedule, pots: tuple[int, ...], players: int
) -> None:
    """R144: 0 <= rake_i <= pot_i, and they sum up to the rake."""
    rake = rake_of(schedule, players, sum(pots), flop=True)
    per_pot = allocated(schedule, rake.total, pots)
    assert len(per_pot) == len(pots)
    assert sum(per_pot) == rake.total
    assert all(0 <= taken <= pot for taken, pot in zip(per_pot, pots, strict=True))
    assert rake.total == 0 or rake.total >= min(schedule.minimum, sum(pots))
    assert rake.cap is None or rake.total <= rake.cap


@given(pots=pot_lists, share=st.fractions(0, 1))
@example(
    pots=(2, 1, 1), share=Fraction(1, 2)
)  # floors 1, 0, 0: the main pot bears the rest, a whole unit above its part
def test_a_proportional_rake_is_within_a_unit_of_the_exact_part(pots: tuple[int, ...], share: Any) -> None:
    """R111."""
    total = int(sum(pots) * share)
    per_pot = allocated(FIVE_PERCENT, total, pots)
    assert all(abs(taken * sum(pots) - total * pot) <= sum(pots) for taken, pot in zip(per_pot, pots, strict=True))


@given(schedule=schedules, players=st.integers(2, 10), smaller=st.integers(0, 10**6), more=st.integers(0, 10**6))
def test_a_bigger_pot_never_pays_less(schedule: RakeSchedule, players: int, smaller: int, more: int) -> None:
    """R107: steps and percentages rise with the pot."""
    of_smaller = rake_of(schedule, players, smaller, flop=True).total
    assert of_smaller <= rake_of(schedule, players, smaller + more, flop=True).total
