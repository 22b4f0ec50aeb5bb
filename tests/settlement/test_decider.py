"""What the settlement emits, commit by commit."""

from contracts.cards import SeatAmount
from contracts.events.settlement import (
    Division,
    HandsMucked,
    HandsShown,
    PotAward,
    PotsAwarded,
    Share,
    ShownHand,
)
from contracts.games import RULES_VERSION, Options
from services.settlement import decider
from tests.settlement.after_betting import NOON, AfterBetting, awarded, shown_hands

BOARD = ["Ks", "9d", "4c", "7h", "2s"]
KINGS, ACES, QUEENS = ("Kh", "Jd"), ("Ah", "Ad"), ("Qh", "Qd")
LOW_BOARD = ["2s", "5h", "8d", "Kc", "Kd"]


def test_a_hand_won_without_showdown_shows_nothing() -> None:
    """R79: one pot, paid to the last player, and no cards."""
    story = AfterBetting("holdem", [], {}, [(250, [3])], button=1, closed_on="preflop")
    assert story.settle() == (
        PotsAwarded(
            pots=(
                PotAward(
                    amount=250,
                    rake=0,
                    seats=(3,),
                    high=Division(amount=250, shares=(Share(seat=3, amount=250),)),
                    uncontested=True,
                ),
            ),
            payouts=(SeatAmount(seat=3, amount=250),),
        ),
    )


def test_hands_are_shown_and_mucked_in_order_then_the_pots_are_paid() -> None:
    """R80, R83, R84, H26: seat 3 is beaten in both pots; seat 2, all-in, wins the main pot."""
    hole = {1: KINGS, 2: ACES, 3: QUEENS}
    story = AfterBetting("holdem", BOARD, hole, [(300, [1, 2, 3]), (400, [1, 3])], button=3, showing=[1, 3, 2])
    main = Division(amount=300, shares=(Share(seat=2, amount=300),), hand="pair A-K-9-7")
    side = Division(amount=400, shares=(Share(seat=1, amount=400),), hand="pair K-J-9-7")
    assert story.settle() == (
        HandsShown(hands=(ShownHand(seat=1, cards=KINGS, high="pair K-J-9-7"),)),
        HandsMucked(seats=(3,)),
        HandsShown(hands=(ShownHand(seat=2, cards=ACES, high="pair A-K-9-7"),)),
        PotsAwarded(
            pots=(
                PotAward(amount=300, rake=0, seats=(1, 2, 3), high=main),
                PotAward(amount=400, rake=0, seats=(1, 3), high=side),
            ),
            payouts=(SeatAmount(seat=1, amount=400), SeatAmount(seat=2, amount=300)),
        ),
    )


def test_tabled_hands_are_shown_once_before_the_board_and_without_words() -> None:
    """R85: all-in before the flop; what the hands are worth is not known yet."""
    story = AfterBetting(
        "holdem",
        BOARD,
        {1: KINGS, 2: ACES},
        [(500, [1, 2])],
        button=2,
        showing=[1, 2],
        closed_on="preflop",
        all_show=True,
    )
    shown, paid = story.settle()
    assert shown == HandsShown(hands=(ShownHand(seat=1, cards=KINGS, high=""), ShownHand(seat=2, cards=ACES, high="")))
    assert awarded((paid,)).pots[0].high.hand == "pair A-K-9-7"
    assert awarded((paid,)).payouts == (SeatAmount(seat=2, amount=500),)


def test_hands_that_may_not_be_mucked_are_all_shown_with_their_low() -> None:
    """R85, R86, R97: also the beaten one; a low stands only beside a hand that has one."""
    hole = {1: ("Ah", "3h", "Qs", "Qd"), 2: ("Kh", "Jc", "Ts", "9s"), 3: ("Jh", "Jd", "Th", "9h")}
    story = AfterBetting("omaha8", LOW_BOARD, hole, [(301, [1, 2, 3])], button=3, showing=[2, 3, 1], all_show=True)
    events = story.settle()
    assert shown_hands(events) == [
        ShownHand(seat=2, cards=hole[2], high="three of a kind K-J-8"),
        ShownHand(seat=3, cards=hole[3], high="two pairs K-J-8"),
        ShownHand(seat=1, cards=hole[1], high="two pairs K-Q-8", low="8-5-3-2-A"),
    ]
    pot = awarded(events).pots[0]
    assert pot.high == Division(amount=151, shares=(Share(seat=2, amount=151),), hand="three of a kind K-J-8")
    assert pot.low == Division(amount=150, shares=(Share(seat=1, amount=150),), hand="8-5-3-2-A")


def test_the_tables_options_decide_about_odd_chips() -> None:
    """R100, R152: chips of 25, the button first."""
    options = Options(odd_chip_unit=25, odd_chip_order="button_first")
    hole = {1: ("Kh", "Qd"), 3: ("Kd", "Qh")}
    story = AfterBetting("holdem", BOARD, hole, [(125, [1, 3])], button=1, showing=[3, 1], options=options)
    assert awarded(story.settle()).payouts == (SeatAmount(seat=1, amount=75), SeatAmount(seat=3, amount=50))


def test_deciding_changes_nothing_at_the_table() -> None:
    """The table is folded, never decided on: asked twice, the settlement owes the same."""
    story = AfterBetting("holdem", [], {}, [(250, [3])], button=1, closed_on="preflop")
    story.let_the_others_act()
    before = story.table.copy()
    first = decider.owes(story.table, NOON)
    assert story.table == before
    assert first != ()
    assert decider.owes(story.table, NOON) == first


def test_a_hand_of_unknown_rules_is_left_to_a_later_release() -> None:
    """DESIGN 2: the rules version stands in the hand, and who does not know it does not act on it."""
    story = AfterBetting("holdem", [], {}, [(250, [3])], button=1, closed_on="preflop")
    story.let_the_others_act()
    assert story.table.hand is not None
    story.table.hand.rules = RULES_VERSION + 1
    assert decider.owes(story.table, NOON) == ()
