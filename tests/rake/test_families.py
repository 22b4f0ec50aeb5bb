"""Rake schedules as files: families chosen by money, limit and stakes, and files of an operator's own (RULES 9.1)."""

from importlib.resources import files
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.codec import decode, encode
from contracts.games import BuyIn, Limit, RakeBand, RakeSchedule, Stakes, TableConfig
from contracts.plain import Faulty
from services.rake import schedules
from services.rake.families import Family, family_of
from services.rake.schedule import rake_of
from services.rake.schedules import NAMES, family
from services.table.opening import faults_of
from tests.rake.rulebook import VECTORS, schedule_of

ALONE: Final = """
id = "house-5"
version = 3
mode = "percent"
minimum = 10
round_to = 5
no_flop_no_drop = false
allocation = "main_first"
attribution = "weighted"

[[bands]]
players = [2, 4]
basis_points = 500
cap = 200

[[bands]]
players = [5, 10]
basis_points = 450
"""
FAMILY: Final = """
family = "house"
version = 2
limits = ["no_limit"]
stake = "big_blind"
mode = "step"

[[schedules]]
id = "house-low"
lowest = 100
highest = 500
bands = [{ players = [2, 10], step_pot = 100, step_rake = 5 }]

[[schedules]]
id = "house-high"
lowest = 1000
bands = [{ players = [2, 10], step_pot = 1000, step_rake = 10 }]
"""


def stakes(amount: int) -> Stakes:
    return Stakes(small_blind=amount // 2, big_blind=amount, small_bet=amount, big_bet=2 * amount)


def vector(name: str) -> tuple[RakeBand, ...]:
    return schedule_of(next(each for each in VECTORS if each["id"] == name)["schedule"]).bands


def faults(text: str) -> list[str]:
    with pytest.raises(Faulty) as raised:
        family_of(text)
    return raised.value.faults


def test_the_families_are_the_files_beside_them() -> None:
    named = {each.name.removesuffix(".toml") for each in files(schedules).iterdir() if each.name.endswith(".toml")}
    assert named == set(NAMES)
    assert [family(name).family for name in NAMES] == list(NAMES)
    with pytest.raises(KeyError):
        family("../party-fl")


@pytest.mark.parametrize("name", NAMES)
def test_a_table_of_every_size_can_be_opened_with_every_published_schedule(name: str) -> None:
    """R107, R108: each number of players has one band."""
    for row in family(name).schedules:
        config = TableConfig(
            variant="omaha8",
            limit=family(name).limits[0],
            stakes=stakes(row.lowest or 2),
            seats=10,
            buy_in=BuyIn(minimum=1),
            rake=family(name).schedule(row),
        )
        assert list(faults_of(config)) == []


@pytest.mark.parametrize(
    ("example", "name", "limit", "stake"),
    [
        ("RK1", "party-fl", "fixed_limit", 500),
        ("RK1", "party-fl", "fixed_limit", 1000),
        ("RK2", "party-pl-nl", "no_limit", 100),
        ("RK4", "prima-fl", "fixed_limit", 200),
        ("RK4", "prima-fl", "fixed_limit", 1000),
    ],
)
def test_the_rule_books_examples_are_published_schedules(example: str, name: str, limit: Limit, stake: int) -> None:
    chosen = family(name).chosen("real", limit, stakes(stake))
    assert chosen is not None
    assert chosen.bands == vector(example)


def test_the_break_points_of_the_prima_network() -> None:
    """R107 (K11): pot 5250, thresholds up to 5000: 250; at most 200 for four and five, 100 for two and three."""
    prima = family("prima-fl").chosen("real", "fixed_limit", stakes(500))
    assert prima is not None
    assert [rake_of(prima, players, 5250, flop=True).total for players in (2, 3, 4, 5, 6, 10)] == [
        100, 100, 200, 200, 250, 250,
    ]  # fmt: skip


def test_the_steps_of_bodog_and_the_percentage_of_stars() -> None:
    for name, of_9_99 in (("bodog", 49), ("stars", 49)):
        chosen = family(name).chosen("real", "pot_limit", stakes(100))
        assert chosen is not None
        assert rake_of(chosen, 6, 999, flop=True).total == of_9_99
        assert [rake_of(chosen, players, 99_999, flop=True).total for players in (2, 4, 5)] == [100, 200, 300]


def test_play_money_has_no_schedule() -> None:
    """R113."""
    assert all(family(name).chosen("play", family(name).limits[0], stakes(500)) is None for name in NAMES)


def test_a_family_has_no_schedule_for_another_limit_or_for_stakes_outside_its_chart() -> None:
    """R107: the conditions of a schedule are money, limit and stakes."""
    assert family("party-fl").chosen("real", "pot_limit", stakes(500)) is None
    assert family("prima-fl").chosen("real", "fixed_limit", stakes(199)) is None
    assert family("prima-fl").chosen("real", "fixed_limit", stakes(1001)) is None
    house = family_of(FAMILY)
    chosen = [house.chosen("real", "no_limit", stakes(stake)) for stake in (99, 100, 500, 501, 999, 1000, 10**9)]
    assert [each and each.id for each in chosen] == [
        None, "house-low", "house-low", None, None, "house-high", "house-high",
    ]  # fmt: skip


def test_a_small_bet_that_is_not_given_is_the_big_blind() -> None:
    """R66."""
    chosen = family("party-fl").chosen("real", "fixed_limit", Stakes(small_blind=250, big_blind=500))
    assert chosen is not None
    assert chosen.id == "party-fl-3-10"


def test_a_schedule_alone_is_for_every_limit_and_stake() -> None:
    house = family_of(ALONE)
    expected = RakeSchedule(
        id="house-5",
        version=3,
        mode="percent",
        bands=(
            RakeBand(players=(2, 4), basis_points=500, cap=200),
            RakeBand(players=(5, 10), basis_points=450),
        ),
        minimum=10,
        round_to=5,
        no_flop_no_drop=False,
        allocation="main_first",
        attribution="weighted",
    )
    assert [house.chosen("real", limit, stakes(stake)) for limit in house.limits for stake in (1, 10**6)] == [
        expected
    ] * 6


FIELDS: Final[dict[str, str]] = {
    "id": 'id = "house-5"',
    "version": "version = 3",
    "mode": 'mode = "percent"',
    "minimum": "minimum = 10",
    "round_to": "round_to = 5",
    "no_flop_no_drop": "no_flop_no_drop = false",
    "allocation": 'allocation = "main_first"',
    "attribution": 'attribution = "weighted"',
    "bands[0].players": "players = [2, 4]",
    "bands[0].basis_points": "basis_points = 500",
    "bands[0].cap": "cap = 200",
}
WRONG: Final = ("-1", "9223372036854775808", "1.5", "nan", "[]", "2026-01-01", "'no such'", "{ a = 1 }", "''")


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("field", FIELDS)
def test_a_field_with_a_value_that_it_cannot_have_is_named_with_what_is_accepted(field: str, wrong: str) -> None:
    """Each field of a schedule with a wrong type, 2^63 and a negative."""
    name = FIELDS[field].split(" ")[0]
    if field == "id" and wrong == "'no such'":
        wrong = "'no/such'"
    said = faults(ALONE.replace(FIELDS[field], f"{name} = {wrong}", 1))
    assert len(said) == 1
    assert said[0].startswith(f"{field}: ")
    assert " is not accepted; " in said[0]
    assert said[0].endswith(" is")


OF_FAMILIES: Final[dict[str, str]] = {
    "family": 'family = "house"',
    "version": "version = 2",
    "limits": 'limits = ["no_limit"]',
    "stake": 'stake = "big_blind"',
    "mode": 'mode = "step"',
    "schedules[0].id": 'id = "house-low"',
    "schedules[0].lowest": "lowest = 100",
    "schedules[0].highest": "highest = 500",
    "schedules[0].bands": "bands = [{ players = [2, 10], step_pot = 100, step_rake = 5 }]",
}


@pytest.mark.parametrize("wrong", WRONG)
@pytest.mark.parametrize("field", OF_FAMILIES)
def test_a_field_of_a_family_is_named_in_the_same_way(field: str, wrong: str) -> None:
    name = OF_FAMILIES[field].split(" ")[0]
    wrong = {"family": "'no/such'", "schedules[0].id": "'no/such'"}.get(field, wrong) if "such" in wrong else wrong
    if field in ("limits", "schedules[0].bands") and wrong == "[]":
        return  # an empty list has a sentence of its own
    (said,) = faults(FAMILY.replace(OF_FAMILIES[field], f"{name} = {wrong}", 1))
    assert said.startswith(f"{field}: ")
    assert " is not accepted; " in said


@settings(max_examples=60, deadline=None)
@given(
    text=st.sampled_from([ALONE, FAMILY]),
    at=st.floats(0, 1, exclude_max=True),
    cut=st.integers(0, 12),
    put=st.text(alphabet="[]{}=\"'\n ,.-0123456789abcpx_", max_size=8),
)
def test_a_file_with_a_slip_is_refused_or_is_a_family_that_a_table_can_have(
    text: str, at: float, cut: int, put: str
) -> None:
    """Nothing but `Faulty` is raised; and what is read crosses the bus as it is."""
    start = int(at * len(text))
    try:
        found = family_of(text[:start] + put + text[start + cut :])
    except Faulty as faulty:
        said = faulty.faults
        assert said
        return
    for schedule in map(found.schedule, found.schedules):
        assert decode(encode(schedule), RakeSchedule) == schedule


@pytest.mark.parametrize("required", ["id", "version", "mode", "bands[0].players"])
def test_a_field_that_is_missing_is_named(required: str) -> None:
    said = faults(ALONE.replace(FIELDS[required], "", 1))
    assert said[0].startswith(f"{required}: is missing; ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ALONE.replace("cap = 200", "capp = 200"), "bands[0].capp: there is no such field; there are players, cap, "),
        (ALONE.replace("minimum", "min_rake"), "min_rake: there is no such field; there are id, version, mode, "),
        (FAMILY.replace("highest", "most"), "schedules[0].most: there is no such field; there are id, bands, lowest, "),
        (FAMILY.replace("stake =", "money = 'play'\nstake ="), "money: 'play' is not accepted; 'real' is"),
        (FAMILY.replace("'no_limit'", "'no'").replace('"no_limit"', "1"), "limits[0]: 1 is not accepted; one of "),
        (FAMILY.replace('["no_limit"]', "[]"), "limits: an empty list is not accepted; one or more of 'no_limit', "),
        (FAMILY.split("[[schedules]]")[0] + "schedules = []", "schedules: an empty list is not accepted; "),
        (FAMILY.replace("highest = 500", "highest = 99"), "schedules[0].highest: 99 is not accepted; 100, which is "),
        (FAMILY.replace("lowest = 1000", "lowest = 500"), "schedules[1].lowest: 500 is not accepted; more than "),
        (FAMILY.replace("house-high", "house-low"), "schedules[1].id: 'house-low' is not accepted twice; "),
        (FAMILY.replace("step_rake = 5", "basis_points = 5"), "schedules[0].bands[0].step_rake: is missing; the mode "),
        (
            FAMILY.replace("step_rake = 5", "step_rake = 5, basis_points = 5"),
            "schedules[0].bands[0].basis_points: is not accepted; the mode 'step' goes by step_pot and step_rake",
        ),
        (FAMILY.replace("step_pot = 100,", "step_pot = 0,"), "schedules[0].bands[0].step_pot: 0 is not accepted; "),
        (FAMILY.replace("[2, 10]", "[1, 11]"), "schedules[0].bands[0].players[0]: 1 is not accepted; a whole number "),
        ("id = ", "this is not TOML: "),
        ("id = 1" * 10_000, "this is not TOML: "),
        ("a = " + "[" * 100_000, "this is not TOML: "),
        (f"version = {'9' * 5000}", "this is not TOML: "),
        ("", "id: is missing; "),
    ],
)
def test_a_file_that_cannot_be_meant_is_refused_in_a_sentence(text: str, said: str) -> None:
    assert any(fault.startswith(said) for fault in faults(text)), faults(text)


def test_all_that_is_wrong_is_said_at_once() -> None:
    text = ALONE.replace("version = 3", "version = 0").replace("cap = 200", "cap = -1").replace('"percent"', "5")
    assert [fault.split(":")[0] for fault in faults(text)] == ["version", "mode", "bands[0].cap"]


def test_a_family_is_read_whole() -> None:
    """What a family shares goes into each schedule."""
    house: Any = family_of(FAMILY.replace("version = 2", "version = 2\nminimum = 7\nround_to = 5"))
    assert isinstance(house, Family)
    assert [(each.version, each.minimum, each.round_to) for each in map(house.schedule, house.schedules)] == [
        (2, 7, 5),
        (2, 7, 5),
    ]
