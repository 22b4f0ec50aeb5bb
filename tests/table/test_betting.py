import pytest

from contracts.cards import SeatAmount
from contracts.data import Chips, Seat
from contracts.events.state import Positions, Post, Pot
from contracts.events.table import ActionTaken, BettingClosed, HandStarted, StreetClosed, UncalledBetReturned
from services.table.pots import pots, uncalled
from tests.table.stories import Game, all_in, bet, call, check, config, fold_, name, raise_to

DEEP: dict[Seat, Chips] = {1: 5000, 2: 5000, 3: 5000}


def test_a_short_all_in_does_not_reopen_the_betting() -> None:
    """R55: the bettor faces 150 and may raise to 350; the raiser, facing 50, may only call or fold."""
    game = Game(config()).given({1: 5000, 2: 5000, 3: 350, 4: 5000}, button=4)
    game.when(call(3), call(4), call(1), check(2))
    game.when(bet(1, 100), raise_to(2, 200), all_in(3), fold_(4))
    assert game.offers() == {"seat": 1, "check": False, "call": 150, "bet": None, "raise_to": [350, 4900]}
    game.when(call(1))
    assert game.offers() == {"seat": 2, "check": False, "call": 50, "bet": None, "raise_to": None}


def test_a_short_big_blind_still_costs_the_full_blind() -> None:
    """R26: big blind 60 of 100: entering costs 100 and the least raise is to 200."""
    game = Game(config()).given({1: 5000, 2: 5000, 3: 60, 4: 5000}, button=1)
    assert game.offers() == {"seat": 4, "check": False, "call": 100, "bet": None, "raise_to": [200, 5000]}


def test_everybody_all_in_from_the_blinds_needs_no_decision() -> None:
    """R48: both are all-in by posting; the betting closes once the cards are dealt, and the hand runs out."""
    game = Game(config()).given({1: 30, 2: 100}, button=1)
    closed = game.last(BettingClosed)
    assert game.last(HandStarted).turn is None
    assert game.last(UncalledBetReturned).amount == 70
    assert closed == BettingClosed(
        street="preflop",
        pots=(Pot(amount=60, seats=(2, 1)),),
        contenders=(2, 1),
        showing=(2, 1),
        streets=("flop", "turn", "river"),
        tabled=True,
        all_show=True,
    )
    assert game.table.hand is None
    assert sum(game.stacks().values()) == 130


def test_an_all_in_is_a_call_where_nobody_could_answer_a_raise() -> None:
    """R148: seat 1 covers everybody, the others are all-in: `all_in` puts in the call of 1500 only."""
    game = Game(config()).given({1: 5000, 2: 800, 3: 1500}, button=1)
    game.when(call(1), all_in(2), all_in(3))
    assert game.offers() == {"seat": 1, "check": False, "call": 1400, "bet": None, "raise_to": None}
    game.when(all_in(1))
    assert (game.last(ActionTaken).action, game.last(ActionTaken).amount) == ("call", 1400)


@pytest.mark.parametrize(("reopen", "offer"), [("half", [2500, 2500]), ("full", [2000, 2000])])
def test_half_a_bet_all_in_counts_as_a_whole_one(reopen: str, offer: list[int]) -> None:
    """R70: 10/20, bet 1000, all-in 1500; by the option `full` it is only completed to 2000."""
    table = config("fixed_limit", blinds=(500, 1000), bets=(1000, 2000), fl_allin_reopen=reopen)
    game = Game(table).given({1: 90_000, 2: 2500, 3: 90_000}, button=3)
    game.when(call(3), call(1), check(2), bet(1, 1000), all_in(2))
    assert game.offers() == {"seat": 3, "check": False, "call": 1500, "bet": None, "raise_to": offer}


@pytest.mark.parametrize(("option", "to"), [("add_bet", 2450), ("full_level", 3200)])
def test_the_raise_after_a_short_all_in_that_counts(option: str, to: int) -> None:
    """R70: an all-in bet of 850 on a street of 1600: one bet more makes it 2450, two full bets 3200."""
    table = config("fixed_limit", blinds=(400, 800), bets=(800, 1600), fl_raise_after_allin=option)
    game = Game(table).given({1: 2450, 2: 90_000, 3: 90_000}, button=3)
    game.when(call(3), call(1), check(2), bet(1, 800), call(2), call(3), all_in(1))
    assert game.offers() == {"seat": 2, "check": False, "call": 850, "bet": None, "raise_to": [to, to]}


@pytest.mark.parametrize(("option", "most"), [(False, 3500), (True, 4000)])
def test_a_small_blind_counted_as_a_big_one(option: bool, most: int) -> None:  # noqa: FBT001
    """R62, P07: blinds 500/1000: the opener may make it 4000 instead of 3500."""
    game = Game(config("pot_limit", blinds=(500, 1000), pl_sb_as_bb=option)).given(dict.fromkeys(DEEP, 50_000), 1)
    assert game.offers()["raise_to"] == [2000, most]


def test_a_straddle_acts_last_and_sets_the_price() -> None:
    """R147: blinds 50/100, straddle 200: the next player calls 200 or raises to 400; the straddle has the option."""
    game = Game(config(straddle=True)).given({1: 5000, 2: 5000, 3: 5000, 4: 5000}, button=4)
    assert game.offers() == {"seat": 4, "check": False, "call": 200, "bet": None, "raise_to": [400, 5000]}
    game.when(call(4), call(1), call(2))
    assert game.offers() == {"seat": 3, "check": True, "call": None, "bet": None, "raise_to": [400, 5000]}
    game.when(check(3))
    assert game.last(StreetClosed).pots == (Pot(amount=800, seats=(1, 2, 3, 4)),)
    assert game.offers() == {"seat": 1, "check": True, "call": None, "bet": [100, 4800], "raise_to": None}


def test_who_has_put_the_cap_in_is_as_good_as_all_in() -> None:
    """R151: a cap of 1000: nobody can wager more, so the other streets have no betting."""
    game = Game(config(cap_per_hand=1000)).given(DEEP, button=1)
    assert game.offers()["raise_to"] == [200, 1000]
    game.when(all_in(1), call(2), fold_(3))
    assert game.last(BettingClosed).streets == ("flop", "turn", "river")
    assert game.last(BettingClosed).pots == (Pot(amount=2100, seats=(2, 1)),)


def test_antes_lie_in_the_levels_of_the_pots() -> None:
    """R146: all-in for 3 of an ante of 5: 9 for all three; the rest for the two who posted it in full."""
    game = Game(config(blinds=(5, 10), ante=5)).given({1: 500, 2: 500, 3: 3}, button=3)
    game.when(call(1), check(2), check(1), check(2), check(1), check(2), check(1), check(2))
    assert game.last(BettingClosed).pots == (Pot(amount=9, seats=(1, 2, 3)), Pot(amount=24, seats=(1, 2)))


def test_the_big_blinds_ante_is_dead_and_comes_after_the_blind() -> None:
    """R146: a big blind of 12 chips posts 10 live and 2 of the ante, which belong to the main pot."""
    game = Game(config(blinds=(5, 10), ante=10, ante_mode="big_blind")).given({1: 500, 2: 12, 3: 500}, button=3)
    hand = game.table.hand
    assert hand is not None
    assert hand.posts == (
        Post(seat=1, kind="small_blind", amount=5),
        Post(seat=2, kind="big_blind", amount=10),
        Post(seat=2, kind="ante", amount=2, live=False, all_in=True),
    )
    game.when(raise_to(3, 30), call(1), check(1), check(3), check(1), check(3), check(1), check(3))
    assert game.last(BettingClosed).pots == (Pot(amount=32, seats=(1, 2, 3)), Pot(amount=40, seats=(1, 3)))


def test_the_button_may_have_the_big_blind() -> None:
    """R149: then the small blind acts first on every street."""
    game = Game(config()).given({2: 5000, 5: 5000}, button=5, positions=Positions(button=5, small_blind=2, big_blind=5))
    assert game.offers()["seat"] == 2
    game.when(call(2), check(5))
    assert game.offers()["seat"] == 2


def test_chips_that_only_a_folder_has_in_go_back_to_the_folder() -> None:
    """R73: short blind 60, others fold; of the folders' 300 and 100 the 200 above the second go back."""
    game = Game(config()).given({1: 5000, 2: 5000, 3: 60, 4: 5000}, button=1)
    game.when(raise_to(4, 300), call(1), call(2))
    hand = game.table.hand
    assert hand is not None
    for seat, total in ((4, 300), (1, 100), (2, 100)):
        hand.players[seat] = type(hand.players[seat])(
            seat=seat, player=name(seat), stack=0, total=total, folded=seat != 2
        )
    assert uncalled(hand) == SeatAmount(seat=4, amount=200)
    assert pots(hand) == (Pot(amount=240, seats=(2, 3)), Pot(amount=320, seats=(2,)))
