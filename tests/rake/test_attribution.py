"""To whom the rake is counted (R115)."""

from hypothesis import given
from hypothesis import strategies as st

from contracts.cards import SeatAmount
from services.rake.attribution import attributed


def amounts(counted: tuple[SeatAmount, ...]) -> dict[int, int]:
    return {part.seat: part.amount for part in counted}


def test_equal_parts_leave_the_rest_to_the_first_left_of_the_button() -> None:
    """R115 `dealt`: 11 among seats 2, 3, 1 (button 1)."""
    assert amounts(attributed(11, {2: 1, 3: 1, 1: 1})) == {2: 4, 3: 4, 1: 3}


def test_weighted_parts_leave_the_rest_to_the_largest_fraction() -> None:
    """R115 `weighted`: 10 by 100, 190, 1: 3.43, 6.52, 0.03 give 3, 7, 0; who has none is left out."""
    assert amounts(attributed(10, {2: 100, 3: 190, 1: 1})) == {2: 3, 3: 7}


def test_equal_fractions_go_left_of_the_button_first() -> None:
    """R115: 5 by 300, 300, 400 are 1.5, 1.5, 2."""
    assert amounts(attributed(5, {4: 300, 2: 300, 1: 400})) == {4: 2, 2: 1, 1: 2}


def test_a_player_who_put_in_nothing_bears_nothing() -> None:
    assert amounts(attributed(7, {2: 0, 3: 100, 1: 0})) == {3: 7}


def test_no_rake_is_counted_to_nobody() -> None:
    assert attributed(0, {2: 100, 3: 100}) == ()


@given(
    total=st.integers(0, 10**6),
    weights=st.dictionaries(st.integers(1, 10), st.integers(0, 10**7), min_size=2, max_size=10),
)
def test_all_of_the_rake_is_counted_each_part_within_a_unit(total: int, weights: dict[int, int]) -> None:
    """R115."""
    parts, whole = amounts(attributed(total, weights)), sum(weights.values())
    assert sum(parts.values()) == (total if whole else 0)
    assert all(abs(parts.get(seat, 0) * whole - total * weight) < max(whole, 1) for seat, weight in weights.items())
    assert all(part > 0 for part in parts.values())
