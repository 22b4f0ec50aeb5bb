"""PartyPoker's schedules, as RULES 9.1 prints them."""

import pytest

from contracts.games import Limit, RakeBand, Stakes
from services.rake.schedule import rake_of
from services.rake.schedules import party
from tests.rake.rulebook import VECTORS, schedule_of


def fixed(small_bet: int) -> Stakes:
    return Stakes(small_blind=small_bet // 2, big_blind=small_bet, small_bet=small_bet, big_bet=2 * small_bet)


def blinds(big_blind: int) -> Stakes:
    return Stakes(small_blind=big_blind // 2, big_blind=big_blind)


def example(name: str) -> tuple[RakeBand, ...]:
    return schedule_of(next(vector for vector in VECTORS if vector["id"] == name)["schedule"]).bands


@pytest.mark.parametrize(
    ("small_bet", "name", "of_100_dollars", "caps"),
    [
        (2, "party-fl-002-015", (50, 50, 50), (50, 50, 50)),
        (15, "party-fl-002-015", (50, 50, 50), (50, 50, 50)),
        (25, "party-fl-025-1", (100, 100, 100), (100, 100, 100)),
        (100, "party-fl-025-1", (100, 100, 100), (100, 100, 100)),
        (200, "party-fl-2", (100, 200, 300), (100, 200, 300)),
        (300, "party-fl-3-10", (100, 200, 300), (100, 200, 300)),
        (1000, "party-fl-3-10", (100, 200, 300), (100, 200, 300)),
        (1500, "party-fl-15-30", (100, 200, 300), (100, 200, 300)),
        (3000, "party-fl-15-30", (100, 200, 300), (100, 200, 300)),
        (5000, "party-fl-50-250", (100, 100, 100), (200, 200, 500)),
        (25000, "party-fl-50-250", (100, 100, 100), (200, 200, 500)),
    ],
)
def test_fixed_limit_tables_go_by_the_lower_bet(
    small_bet: int, name: str, of_100_dollars: tuple[int, ...], caps: tuple[int, ...]
) -> None:
    """Pots of $100 and $1,000 with 2, 3 and 5 players dealt in."""
    schedule = party("fixed_limit", fixed(small_bet))
    assert schedule.id == name
    assert tuple(rake_of(schedule, players, 10_000, flop=True).total for players in (2, 3, 5)) == of_100_dollars
    assert tuple(rake_of(schedule, players, 100_000, flop=True).total for players in (2, 3, 5)) == caps


@pytest.mark.parametrize("limit", ["no_limit", "pot_limit"])
@pytest.mark.parametrize(
    ("big_blind", "name", "of_20_dollars", "caps"),
    [
        (2, "party-pl-nl-002-010", (100, 100, 100), (100, 100, 100)),
        (10, "party-pl-nl-002-010", (100, 100, 100), (100, 100, 100)),
        (25, "party-pl-nl-025-25", (100, 100, 100), (100, 200, 300)),
        (2500, "party-pl-nl-025-25", (100, 100, 100), (100, 200, 300)),
        (3000, "party-pl-nl-30-200", (100, 100, 100), (200, 200, 500)),
        (20000, "party-pl-nl-30-200", (100, 100, 100), (200, 200, 500)),
        (40000, "party-pl-nl-400", (100, 100, 100), (200, 500, 500)),
    ],
)
def test_pot_limit_and_no_limit_tables_go_by_the_big_blind(
    limit: Limit, big_blind: int, name: str, of_20_dollars: tuple[int, ...], caps: tuple[int, ...]
) -> None:
    """Pots of $20 and $1,000 with 2, 3 and 5 players dealt in."""
    schedule = party(limit, blinds(big_blind))
    assert schedule.id == name
    assert tuple(rake_of(schedule, players, 2_000, flop=True).total for players in (2, 3, 5)) == of_20_dollars
    assert tuple(rake_of(schedule, players, 100_000, flop=True).total for players in (2, 3, 5)) == caps


def test_half_a_step_pays_nothing_and_high_limits_pay_by_bigger_steps() -> None:
    """R107: $15/30 heads-up $0.50 per $20, with more players $1 per $20."""
    schedule = party("fixed_limit", fixed(1500))
    assert [rake_of(schedule, players, 3_999, flop=True).total for players in (2, 3, 5)] == [50, 100, 100]
    assert rake_of(schedule, 5, 1_999, flop=True).total == 0


def test_only_pot_limit_and_no_limit_have_the_ten_cent_minimum() -> None:
    """R109."""
    assert (party("pot_limit", blinds(100)).minimum, party("fixed_limit", fixed(200)).minimum) == (10, 0)
    assert rake_of(party("pot_limit", blinds(10)), 3, 190, flop=True).total == 0


def test_the_rule_books_examples_are_these_schedules() -> None:
    """RK1 and RK2."""
    assert party("fixed_limit", fixed(500)).bands == example("RK1")
    assert party("no_limit", blinds(100)).bands == example("RK2")


def test_stakes_between_two_ranges_belong_to_the_lower_one() -> None:
    assert party("fixed_limit", fixed(150)).id == "party-fl-025-1"
    assert party("fixed_limit", fixed(1)).id == "party-fl-002-015"
    assert party("no_limit", blinds(100_000)).id == "party-pl-nl-400"


@pytest.mark.parametrize("stake", [2, 25, 200, 300, 1500, 3000, 5000, 40000])
def test_every_number_of_players_has_exactly_one_band(stake: int) -> None:
    """R108."""
    for schedule in (party("fixed_limit", fixed(stake)), party("no_limit", blinds(stake))):
        covered = [players for band in schedule.bands for players in range(band.players[0], band.players[1] + 1)]
        assert covered == list(range(2, 11))
