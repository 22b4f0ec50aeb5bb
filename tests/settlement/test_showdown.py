"""Who must show, and who may muck."""

from hypothesis import given
from hypothesis import strategies as st

from contracts.events.state import Pot
from services.settlement.low import NO_LOW
from services.settlement.ranking import Worth
from services.settlement.showdown import must_show

BEST, MIDDLING, WORST = Worth(10, NO_LOW), Worth(20, NO_LOW), Worth(30, NO_LOW)
GOOD_LOW, POOR_LOW = 0b00011111, 0b11111000


def pots(*seats: tuple[int, ...]) -> list[Pot]:
    return [Pot(amount=100, seats=each) for each in seats]


def test_the_first_in_order_always_shows() -> None:
    """R84: also with the worst hand; who is beaten by it or by a later one may muck."""
    assert must_show([3, 1, 2], pots((1, 2, 3)), {1: BEST, 2: MIDDLING, 3: WORST}) == {3, 1}


def test_a_hand_that_ties_must_show() -> None:
    """R84: it shares the pot."""
    assert must_show([1, 2], pots((1, 2)), {1: BEST, 2: BEST}) == {1, 2}


def test_a_hand_beaten_for_high_must_show_its_best_low() -> None:
    """R84, R97: it wins or shares the low half."""
    worths = {1: Worth(10, POOR_LOW), 2: Worth(20, GOOD_LOW), 3: Worth(30, POOR_LOW), 4: Worth(40, NO_LOW)}
    assert must_show([1, 2, 3, 4], pots((1, 2, 3, 4)), worths) == {1, 2}


def test_no_low_ties_with_no_low() -> None:
    """R84: where nobody shown has a low, not having one either is nothing to show."""
    assert must_show([1, 2], pots((1, 2)), {1: BEST, 2: WORST}) == {1}


def test_any_low_must_show_where_none_was_shown() -> None:
    """R84, R97."""
    assert must_show([1, 2], pots((1, 2)), {1: BEST, 2: Worth(30, POOR_LOW)}) == {1, 2}


def test_a_winner_of_the_side_pot_alone_must_show() -> None:
    """R84, R97: seat 2 is beaten in the main pot by seat 3, who is not in the side pot."""
    assert must_show([3, 1, 2], pots((1, 2, 3), (1, 2)), {3: BEST, 1: WORST, 2: MIDDLING}) == {3, 1, 2}


def test_an_uncontested_pot_asks_for_no_cards() -> None:
    """R78, R84: seat 2 wins the last pot unseen, and is beaten in the only one that is contested."""
    assert must_show([1, 2], pots((1, 2), (2,)), {1: BEST, 2: WORST}) == {1}


@given(data=st.data(), order=st.permutations(range(1, 7)))
def test_whoever_wins_anything_has_shown(data: st.DataObject, order: list[int]) -> None:
    """R84: in every contested pot the best high and the best low are among the hands shown."""
    ranks = st.builds(Worth, high=st.integers(1, 4), low=st.sampled_from([GOOD_LOW, POOR_LOW, NO_LOW]))
    worths = {seat: data.draw(ranks) for seat in order}
    sizes = sorted(data.draw(st.sets(st.integers(2, 6), min_size=1)), reverse=True)
    contested = pots(*(tuple(range(1, size + 1)) for size in sizes))
    shows = must_show(order, contested, worths)
    for pot in contested:
        best = min(worths[seat].high for seat in pot.seats)
        lowest = min(worths[seat].low for seat in pot.seats)
        winners = {s for s in pot.seats if worths[s].high == best or worths[s].low == lowest < NO_LOW}
        assert winners <= shows
