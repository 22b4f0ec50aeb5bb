"""What the rake service owes at the end of a hand: the worked examples K01 to K11, and hands without rake."""

from typing import Any

import pytest
from msgspec.structs import replace

from contracts.cards import SeatAmount
from contracts.events.rake import RakeTaken
from contracts.events.table import OptionsChanged
from contracts.games import RULES_VERSION
from services.aggregate.table import Table
from services.rake import decider
from tests.rake.hands import NOON, betting_over, commit
from tests.rake.rulebook import VECTORS, schedule_of

RAKED = [vector for vector in VECTORS if vector["kind"] == "hand" and vector.get("rake")]
STEPS = schedule_of(next(vector for vector in VECTORS if vector["id"] == "RK2")["schedule"])


def raked(table: Table) -> RakeTaken:
    (event,) = decider.owes(table, NOON)
    assert isinstance(event, RakeTaken)
    return event


@pytest.mark.parametrize("vector", RAKED, ids=[vector["id"] for vector in RAKED])
def test_the_pots_are_raked_as_the_rule_book_shows(vector: dict[str, Any]) -> None:
    """R106 to R113: the rake of each pot, with the players that the example deals in."""
    allocation = vector["options"].get("rake_allocation", "proportional")
    expected = vector["expect"]
    event = raked(
        betting_over(
            schedule_of(vector["rake"], allocation=allocation),
            [pot["amount"] for pot in expected["pots"]],
            {seat["seat"]: 100 for seat in vector["seats"]},
            flop=any(line.startswith("flop") for line in expected["log"]),
            money="play" if vector["rake"].get("play_money") else "real",
        )
    )
    assert event.per_pot == tuple(pot["rake"] for pot in expected["pots"])
    assert (event.total, event.players) == (expected["rake_total"], len(vector["seats"]))


def test_the_rule_book_rakes_these_hands() -> None:
    assert [vector["id"] for vector in RAKED] == ["H01", "K01", "K03", "K04", "K06", "K08", "K09", "K10"]


def test_a_hand_says_by_what_it_was_raked() -> None:
    """R114: schedule and version, players, base, raw amount, cap, final amount, allocation."""
    assert raked(betting_over(STEPS, (9000, 3000), {2: 4000, 3: 4000, 1: 4000})) == RakeTaken(
        schedule="party-pl-nl",
        version=1,
        players=3,
        base=12000,
        computed=600,
        cap=200,
        total=200,
        per_pot=(150, 50),
        attribution=(
            SeatAmount(seat=2, amount=67),
            SeatAmount(seat=3, amount=67),
            SeatAmount(seat=1, amount=66),
        ),
    )


def test_a_weighted_attribution_counts_what_each_put_in_dead_posts_too() -> None:
    """R115: seat 2 put in 100 live and 50 dead of 400."""
    schedule = replace(STEPS, attribution="weighted")
    event = raked(betting_over(schedule, (400,), {2: 100, 3: 100, 1: 150}, dead={2: 50}))
    assert event.total == 20
    assert event.attribution == (
        SeatAmount(seat=2, amount=8),
        SeatAmount(seat=3, amount=5),
        SeatAmount(seat=1, amount=7),
    )


def test_a_hand_without_a_flop_is_recorded_with_no_rake() -> None:
    """R110, R114 (K05)."""
    assert raked(betting_over(STEPS, (250,), {2: 50, 3: 100, 1: 100}, flop=False)) == RakeTaken(
        schedule="party-pl-nl", version=1, players=3, base=250, computed=0, total=0, per_pot=(0,)
    )
    drops = replace(STEPS, no_flop_no_drop=False)
    assert raked(betting_over(drops, (250,), {2: 50, 3: 100, 1: 100}, flop=False)).total == 12


@pytest.mark.parametrize(
    "table",
    [
        betting_over(None, (4000, 250), {2: 2000, 3: 2000, 1: 250}),
        betting_over(STEPS, (4000, 250), {2: 2000, 3: 2000, 1: 250}, money="play"),
    ],
    ids=["no schedule", "play money"],
)
def test_a_table_that_is_not_raked_still_says_so(table: Table) -> None:
    """R113, R114."""
    assert raked(table) == RakeTaken(
        schedule=None, version=0, players=3, base=4250, computed=0, total=0, per_pot=(0, 0)
    )


def test_the_rake_is_owed_once_and_only_when_the_betting_is_over() -> None:
    table = betting_over(STEPS, (4000,), {2: 2000, 3: 2000})
    assert decider.owes(commit(table, raked(table)), NOON) == ()
    assert decider.owes(Table(room="main", id="T1"), NOON) == ()
    table.hand = None
    assert decider.owes(table, NOON) == ()


def test_a_hand_of_newer_rules_is_left_alone() -> None:
    """DESIGN 2: a service that does not know a hand's rules does not act on it."""
    assert decider.owes(betting_over(STEPS, (4000,), {2: 2000, 3: 2000}, rules=RULES_VERSION + 1), NOON) == ()


def test_a_schedule_that_is_changed_during_a_hand_takes_its_rake_from_the_next_one_on() -> None:
    """RULES 0.1, R114: the hand is raked, and says so, by the schedule under which it was dealt."""
    table = betting_over(STEPS, (4000,), {2: 2000, 3: 2000})
    assert table.config is not None
    later = replace(table.config, rake=replace(STEPS, id="later", version=2, mode="percent"))
    event = raked(commit(table, OptionsChanged(config=later)))
    assert (event.schedule, event.version, event.total) == (STEPS.id, STEPS.version, raked(table).total)
