"""How a pot is divided."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.events.settlement import Division, PotAward, Share
from contracts.events.state import Pot
from services.settlement import high
from services.settlement.division import OddChips, award, halves, shares
from services.settlement.low import NO_LOW
from services.settlement.ranking import Worth

seats = st.lists(st.integers(1, 10), min_size=1, max_size=10, unique=True)
amounts = st.integers(0, 10**9)
units = st.sampled_from([1, 5, 25, 100])
odd_chips = st.builds(
    OddChips, button=st.integers(1, 10), unit=units, button_first=st.booleans(), to_high=st.booleans()
)

FULL_HOUSE = high.rank_of_five(["Js", "Jh", "Jd", "2c", "2s"])
FLUSH = high.rank_of_five(["Kh", "7h", "6h", "3h", "2h"])
LOW_8532A, LOW_8542A = 0b10010111, 0b10011011


def plain(division: Division) -> list[tuple[int, int, int]]:
    return [(share.seat, share.amount, share.odd_chips) for share in division.shares]


@given(amount=amounts, winners=seats, unit=units)
def test_shares_are_equal_to_a_chip_and_make_up_the_whole(amount: int, winners: list[int], unit: int) -> None:
    """R99, R100, R152: nothing is lost, nobody gets two odd chips, and the first in order get them."""
    divided = shares(amount, winners, unit)
    paid = [share.amount for share in divided]
    assert [share.seat for share in divided] == winners
    assert sum(paid) == amount
    assert max(paid) - min(paid) <= unit
    assert paid == sorted(paid, reverse=True)
    assert all(share.odd_chips <= unit for share in divided)
    assert len({share.amount - share.odd_chips for share in divided}) == 1


@given(amount=amounts, lows=st.integers(1, 9), odd=odd_chips)
def test_the_halves_make_up_the_pot_and_the_high_half_is_never_the_smaller(
    amount: int, lows: int, odd: OddChips
) -> None:
    """R101: the low half is whole chips; where the high hand gets odd quarters it also divides evenly (R102)."""
    high_half, low_half = halves(amount, lows, odd)
    assert high_half + low_half == amount
    assert high_half >= low_half
    assert low_half % (odd.unit * (lows if odd.to_high else 1)) == 0
    assert high_half - low_half < 2 * odd.unit * (lows if odd.to_high else 1)


@given(pot=amounts, odd=odd_chips, contenders=seats, data=st.data())
def test_a_pot_is_paid_in_full_to_the_best_hands_alone(
    pot: int, odd: OddChips, contenders: list[int], data: st.DataObject
) -> None:
    """R99 to R103, R112: whatever the hands are, the shares and the rake are the pot."""
    rake = data.draw(st.integers(0, pot))
    ranks = st.builds(Worth, high=st.integers(1, 3), low=st.sampled_from([LOW_8532A, LOW_8542A, NO_LOW]))
    worths = {seat: data.draw(ranks) for seat in contenders}
    paid = award(Pot(amount=pot, seats=tuple(contenders)), rake, worths, odd)
    divisions = [division for division in (paid.high, paid.low) if division is not None]
    assert rake + sum(share.amount for division in divisions for share in division.shares) == pot
    assert all(sum(share.amount for share in division.shares) == division.amount for division in divisions)
    best = min(worths[seat].high for seat in contenders)
    assert {share.seat for share in paid.high.shares} == {s for s in contenders if worths[s].high == best}
    if paid.low is not None:
        lowest = min(worths[seat].low for seat in contenders)
        assert lowest < NO_LOW
        assert {share.seat for share in paid.low.shares} == {s for s in contenders if worths[s].low == lowest}


def test_odd_chips_go_to_the_first_winners_left_of_the_button() -> None:
    """R100, H18: 350 among seats 4, 1 and 2 with the button on 2."""
    odd = OddChips(button=2)
    assert [(share.seat, share.amount) for share in shares(350, odd.order([1, 2, 4]))] == [
        (4, 117),
        (1, 117),
        (2, 116),
    ]


def test_the_order_of_odd_chips_goes_round_past_an_empty_button() -> None:
    """R15, R100: a dead button may lie on a seat that is not in the hand."""
    assert OddChips(button=10).order([1, 5, 9]) == [1, 5, 9]
    assert OddChips(button=6).order([1, 5, 9]) == [9, 1, 5]


def test_a_room_may_give_the_odd_chip_to_the_button_first() -> None:
    """R100 as an option: 53 in two, 27 to the button on seat 3 and 26 to seat 8."""
    paid = award(
        Pot(amount=55, seats=(3, 8)),
        2,
        {3: Worth(FLUSH, NO_LOW), 8: Worth(FLUSH, NO_LOW)},
        OddChips(button=3, button_first=True),
    )
    assert plain(paid.high) == [(3, 27, 1), (8, 26, 0)]


def test_a_room_may_pay_in_larger_chips() -> None:
    """R101, R152: 775 after rake in chips of 5 is 390 for the high hand and 385 for the low."""
    paid = award(
        Pot(amount=800, seats=(1, 3)),
        25,
        {1: Worth(FLUSH, LOW_8532A), 3: Worth(FULL_HOUSE, NO_LOW)},
        OddChips(button=3, unit=5),
    )
    assert paid.low is not None
    assert (plain(paid.high), plain(paid.low)) == ([(3, 390, 0)], [(1, 385, 0)])


@pytest.mark.parametrize(
    ("to_high", "highs", "lows"),
    [(False, [(3, 48, 0)], [(2, 24, 1), (7, 23, 0)]), (True, [(3, 49, 0)], [(2, 23, 0), (7, 23, 0)])],
)
def test_a_room_may_give_the_odd_chip_of_a_shared_low_to_the_high_hand(
    to_high: bool,  # noqa: FBT001
    highs: list[tuple[int, int, int]],
    lows: list[tuple[int, int, int]],
) -> None:
    """R102 and its option: a pot of 95 after rake, the low shared by seats 2 and 7."""
    worths = {2: Worth(FLUSH, LOW_8532A), 3: Worth(FULL_HOUSE, NO_LOW), 7: Worth(FLUSH, LOW_8532A)}
    paid = award(Pot(amount=100, seats=(2, 3, 7)), 5, worths, OddChips(button=1, to_high=to_high))
    assert paid.low is not None
    assert (plain(paid.high), plain(paid.low)) == (highs, lows)


def test_chips_below_the_unit_go_to_the_next_in_order() -> None:
    """R152: 18 between two in chips of 5 is three chips and 3 loose: 10 and 8."""
    assert [share.amount for share in shares(18, [4, 2], 5)] == [10, 8]


def test_the_same_winners_both_ways_share_the_pot_once() -> None:
    """R103, L06: 102 is 51 and 51, where half by half would give 52 and 50."""
    worths = {1: Worth(FLUSH, LOW_8532A), 2: Worth(FLUSH, LOW_8532A)}
    assert award(Pot(amount=102, seats=(1, 2)), 0, worths, OddChips(button=1)) == PotAward(
        amount=102,
        rake=0,
        seats=(1, 2),
        high=Division(amount=102, shares=(Share(seat=2, amount=51), Share(seat=1, amount=51)), hand="flush K-7-6-3-2"),
        scooped_low="8-5-3-2-A",
    )


def test_an_uncontested_pot_goes_to_its_owner_unseen() -> None:
    """R78, R79: nobody's hand is looked at."""
    assert award(Pot(amount=300, seats=(4,)), 10, {}, OddChips(button=1)) == PotAward(
        amount=300,
        rake=10,
        seats=(4,),
        high=Division(amount=290, shares=(Share(seat=4, amount=290),)),
        uncontested=True,
    )
