"""Who posts what, hand after hand, as players come, go, sit out and come back (R13 to R18, R21 to R29)."""

from typing import Literal

import pytest

from contracts.commands import LeaveTable, ReturnToPlay, SitOut, TakeSeat, VoidHand
from contracts.data import Chips, Seat
from contracts.events.state import Positions, Post, SeatRecord
from contracts.events.table import HandStarted, PlayerReturned
from services.aggregate.debts import debt
from services.aggregate.evolve import replace
from tests.table.cash import does
from tests.table.stories import Game, call, check, config, fold_, name

type Places = tuple[Seat, Seat | None, Seat | None]


def table(last: Places, *seats: Seat, **options: object) -> Game:
    """Between hands at 50/100: these seats play with 5000 each, and the last button and blinds were there."""
    records = {seat: SeatRecord(seat=seat, player=name(seat), stack=5000, sat=n) for n, seat in enumerate(seats, 1)}
    where = Positions(button=last[0], small_blind=last[1], big_blind=last[2])
    game = Game(config(seats=9, **options)).between_hands(records, where)  # type: ignore[arg-type]
    game.table.hands = 1
    return game


def comes(game: Game, seat: Seat, choice: Literal["wait", "post"] = "wait", chips: Chips = 5000) -> None:
    does(game, "lobby", "L1", TakeSeat(id="", player=name(seat), buy_in=chips, seat=seat, choice=choice))


def goes(game: Game, seat: Seat) -> None:
    does(game, "player", name(seat), LeaveTable(id=""))


def sits_out(game: Game, seat: Seat) -> None:
    does(game, "player", name(seat), SitOut(id=""))


def returns(game: Game, seat: Seat, choice: Literal["wait", "post"]) -> PlayerReturned:
    (event,) = does(game, "player", name(seat), ReturnToPlay(id="", choice=choice))
    assert isinstance(event, PlayerReturned)
    return event


def hand(game: Game) -> HandStarted:
    """The next hand, which everybody folds to the last player."""
    assert game.table.hand is None
    assert game.owed()
    started = game.last(HandStarted)
    game.settle()
    while game.turn is not None:
        game.when(fold_(game.turn.seat))
    return started


def at(started: HandStarted) -> Places:
    where = started.positions
    return where.button, where.small_blind, where.big_blind


def dealt(started: HandStarted) -> list[Seat]:
    return sorted(player.seat for player in started.players)


def extra(started: HandStarted) -> dict[Seat, list[tuple[str, Chips]]]:
    """What was posted besides the two blinds."""
    posted: dict[Seat, list[tuple[str, Chips]]] = {}
    for post in started.posts:
        if post.kind not in ("small_blind", "big_blind"):
            posted.setdefault(post.seat, []).append((post.kind, post.amount))
    return posted


def owed(started: HandStarted) -> dict[Seat, str]:
    """What seats still owe once this hand's blinds are posted."""
    return {record.seat: record.owes for record in started.table.seats if record.owes != "none"}


def test_a_newcomer_who_waits_comes_in_with_the_big_blind() -> None:
    """R21, R24, B09: seat 5 is dealt in when it is the big blind, and owes nothing more."""
    game = table((4, 1, 2), 1, 2, 3, 4)
    comes(game, 5)
    hands = [hand(game) for _ in range(3)]
    assert [at(each) for each in hands] == [(1, 2, 3), (2, 3, 4), (3, 4, 5)]
    assert [dealt(each) for each in hands] == [[1, 2, 3, 4], [1, 2, 3, 4], [1, 2, 3, 4, 5]]
    assert [owed(each) for each in hands] == [{5: "new"}, {5: "new"}, {}]
    assert [extra(each) for each in hands] == [{}, {}, {}]


def test_newcomers_who_post_are_in_the_next_hand_each_with_a_live_big_blind() -> None:
    """R21, R23, R27, B07: three big blinds in one hand, 350 before the first action; an unraised poster may check."""
    game = table((4, 1, 2), 1, 2, 3, 4)
    comes(game, 5, "post")
    comes(game, 6, "post")
    assert game.owed()
    started = game.last(HandStarted)
    assert (at(started), dealt(started), started.pot) == ((1, 2, 3), [1, 2, 3, 4, 5, 6], 350)
    assert started.posts[2:] == (
        Post(seat=5, kind="new_player_blind", amount=100),
        Post(seat=6, kind="new_player_blind", amount=100),
    )
    game.settle().when(fold_(4))
    assert game.offers() == {"seat": 5, "check": True, "call": None, "bet": None, "raise_to": [200, 5000]}
    game.when(check(5), check(6), fold_(1), fold_(2), check(3))
    assert owed(started) == {}


def test_a_newcomer_between_button_and_big_blind_waits_for_the_button_to_pass() -> None:
    """R22, B08: seat 2 wants to post, waits one hand, and posts in the next."""
    game = table((6, 1, 3), 1, 3, 4, 6)
    comes(game, 2, "post")
    first, second = hand(game), hand(game)
    assert (at(first), dealt(first), owed(first)) == ((1, 3, 4), [1, 3, 4, 6], {2: "new"})
    assert (at(second), dealt(second), extra(second)) == (
        (3, 4, 6),
        [1, 2, 3, 4, 6],
        {2: [("new_player_blind", 100)]},
    )


def test_a_newcomer_left_of_the_small_blind_is_the_big_blind_in_the_ordinary_way() -> None:
    """R22: and posts it once, whether willing to post or to wait."""
    for choice in ("wait", "post"):
        game = table((1, 2, 4), 1, 2, 4, 6)
        comes(game, 5, choice)
        started = hand(game)
        assert (at(started), dealt(started), extra(started), owed(started)) == ((2, 4, 5), [1, 2, 4, 5, 6], {}, {})


def test_debts_of_one_who_sits_out_do_not_grow_beyond_one_of_each() -> None:
    """R24: the big blind passes seat 3 in the first hand, the small one in the second; two rounds later the same."""
    game = table((4, 1, 2), 1, 2, 3, 4)
    sits_out(game, 3)
    hands = [hand(game) for _ in range(7)]
    assert [at(each)[2] for each in hands] == [4, 1, 2, 4, 1, 2, 4]
    assert [owed(each) for each in hands] == [{3: "missed_big"}, *[{3: "missed_both"}] * 6]
    assert all(dealt(each) == [1, 2, 4] for each in hands)


def test_who_returns_posts_the_big_blind_live_and_the_small_one_dead() -> None:
    """R25, H28, B10: 150 from the stack, of which 100 are the wager; 300 in the middle before the first action."""
    game = table((5, 1, 2), 1, 2, 3, 4, 5)
    sits_out(game, 3)
    hand(game)
    assert owed(hand(game)) == {3: "missed_both"}
    hand(game)
    assert returns(game, 3, "post") == PlayerReturned(seat=3, owes="missed_both", choice="post")
    started = hand(game)
    assert at(started) == (5, 1, 2)
    assert started.pot == 300
    three = next(player for player in started.players if player.seat == 3)
    assert (three.stack, three.street_total, three.dead) == (4850, 100, 50)
    assert owed(started) == {}


def test_who_returns_and_waits_comes_in_with_the_big_blind_and_owes_nothing_more() -> None:
    """R24, R25."""
    game = table((4, 1, 2), 1, 2, 3, 4)
    sits_out(game, 3)
    hand(game)
    hand(game)
    returns(game, 3, "wait")
    waits, comes_in = hand(game), hand(game)
    assert (at(waits), dealt(waits), owed(waits)) == ((4, 1, 2), [1, 2, 4], {3: "missed_both"})
    assert (at(comes_in), dealt(comes_in), extra(comes_in), owed(comes_in)) == ((1, 2, 3), [1, 2, 3, 4], {}, {})


def test_who_missed_the_small_blind_alone_posts_it_dead_and_is_in_without_a_wager() -> None:
    """R25: seat 2 was the big blind, sat out one hand, and comes back on a late seat."""
    game = table((4, 1, 2), 1, 2, 3, 4)
    sits_out(game, 2)
    assert owed(hand(game)) == {2: "missed_small"}
    returns(game, 2, "post")
    started = hand(game)
    assert (at(started), extra(started)) == ((3, 4, 1), {2: [("dead_blind", 50)]})
    two = next(player for player in started.players if player.seat == 2)
    assert (two.stack, two.street_total, two.dead, started.pot) == (4950, 0, 50, 200)


def test_who_sits_out_and_comes_back_before_a_blind_has_passed_owes_nothing() -> None:
    """R24."""
    game = table((4, 1, 2), 1, 2, 3, 4, 6)
    sits_out(game, 6)
    assert owed(hand(game)) == {}
    assert returns(game, 6, "wait") == PlayerReturned(seat=6, owes="none", choice="wait")
    assert dealt(hand(game)) == [1, 2, 3, 4, 6]


def test_a_newcomer_who_sits_out_still_owes_as_a_newcomer() -> None:
    """R21, R24: a big blind and no small one, however often the blinds have passed."""
    game = table((4, 1, 2), 1, 2, 3, 4)
    comes(game, 5, "post")
    sits_out(game, 5)
    for _ in range(5):
        assert owed(hand(game)) == {5: "new"}
    returns(game, 5, "post")
    started = hand(game)
    assert extra(started) in ({5: [("new_player_blind", 100)]}, {})
    assert owed(started) == {}


@pytest.mark.parametrize(
    ("chips", "posted"),
    [
        (120, [("new_player_blind", 100), ("dead_blind", 20)]),
        (100, [("new_player_blind", 100)]),
        (60, [("new_player_blind", 60)]),
    ],
)
def test_a_short_stack_posts_the_live_part_first(chips: Chips, posted: list[tuple[str, Chips]]) -> None:
    """R25, R26: as far as it goes, and the debt is paid with that."""
    game = table((4, 1, 2), 1, 2, 3, 4)
    owing = SeatRecord(seat=5, player="P5", stack=chips, sat=5, owes="missed_both", choice="post")
    game.table.seats[5] = owing
    assert game.owed()
    started = game.last(HandStarted)
    assert extra(started) == {5: posted}
    assert started.posts[-1].all_in
    assert owed(started) == {}


def test_a_short_big_blind_is_all_in_and_the_others_still_pay_the_whole_price() -> None:
    """R26, R50, H10: 60 of 100; entering costs 100, the least raise is to 200."""
    game = table((4, 1, 2), 1, 2, 3, 4)
    game.table.seats[3] = replace(game.table.seats[3], stack=60)
    assert game.owed()
    game.settle()
    assert game.last(HandStarted).posts[1] == Post(seat=3, kind="big_blind", amount=60, all_in=True)
    assert game.offers() == {"seat": 4, "check": False, "call": 100, "bet": None, "raise_to": [200, 5000]}


def test_a_short_small_blind_changes_nothing_for_the_others() -> None:
    """R26, H13: 20 of 50."""
    game = table((4, 1, 2), 1, 2, 3, 4)
    game.table.seats[2] = replace(game.table.seats[2], stack=20)
    assert game.owed()
    game.settle()
    assert game.last(HandStarted).posts[0] == Post(seat=2, kind="small_blind", amount=20, all_in=True)
    game.when(call(4), call(1))
    assert game.offers()["seat"] == 3
    assert game.offers()["check"] is True


def test_the_moving_button_goes_to_the_next_player_in_good_standing() -> None:
    """R14, B03, B04: over an empty seat, one who sits out, and one who owes."""
    game = table((1, 3, 5), 1, 3, 5, 8)
    sits_out(game, 3)
    assert at(hand(game)) == (5, 8, 1)
    game = table((1, 3, 5), 1, 3, 5, 8)
    comes(game, 2, "post")
    assert at(hand(game)) == (3, 5, 8)


def test_a_skipped_big_blind_is_forgiven() -> None:
    """R28: seat 3 leaves, and seat 8 is small blind without having been the big one; nothing is owed for it."""
    game = table((1, 3, 5), 1, 3, 5, 8, 9)
    goes(game, 3)
    first, second = hand(game), hand(game)
    assert [at(first), at(second)] == [(5, 8, 9), (8, 9, 1)]
    assert (owed(first), extra(second)) == ({}, {})


def test_a_skipped_big_blind_is_posted_in_the_next_hand() -> None:
    """R28, R14: seat 8 posts it on the button, in good standing; with that everything is as before."""
    game = table((1, 3, 5), 1, 3, 5, 8, 9, skipped_blind_policy="post", rules=2)
    goes(game, 3)
    hands = [hand(game) for _ in range(4)]
    assert [at(each) for each in hands] == [(5, 8, 9), (8, 9, 1), (9, 1, 5), (1, 5, 8)]
    assert [owed(each) for each in hands] == [{8: "skipped"}, {}, {}, {}]
    assert [extra(each) for each in hands] == [{}, {8: [("new_player_blind", 100)]}, {}, {}]


def test_before_rules_2_who_was_skipped_owes_as_one_who_sat_out() -> None:
    """R28, DESIGN 2: the button passed over such a player, and so did the next big blind over another, as ever."""
    game = table((1, 3, 5), 1, 3, 5, 8, 9, skipped_blind_policy="post")
    goes(game, 3)
    hands = [hand(game) for _ in range(2)]
    assert [at(each) for each in hands] == [(5, 8, 9), (9, 1, 5)]
    assert [owed(each) for each in hands] == [{8: "missed_big"}, {1: "missed_big"}]


def test_who_was_skipped_and_sits_out_before_posting_has_missed_a_big_blind() -> None:
    """R24, R28."""
    game = table((1, 3, 5), 1, 3, 5, 8, 9, skipped_blind_policy="post", rules=2)
    goes(game, 3)
    hand(game)
    sits_out(game, 8)
    started = hand(game)
    assert (at(started), owed(started)) == ((9, 1, 5), {8: "missed_big", 1: "skipped"})


def test_who_was_skipped_and_is_the_small_blind_posts_the_big_one_a_hand_later() -> None:
    """R22, R28: nobody posts between the button and the big blind; seat 6 came back, so seat 8 is the small blind."""
    game = table((5, 8, 9), 1, 5, 6, 8, 9, skipped_blind_policy="post", rules=2)
    game.table.seats[8] = replace(game.table.seats[8], owes="skipped")
    first, second = hand(game), hand(game)
    assert (at(first), extra(first), owed(first)) == ((6, 8, 9), {}, {8: "skipped"})
    assert (at(second), extra(second), owed(second)) == ((8, 9, 1), {8: [("new_player_blind", 100)]}, {})


def test_heads_up_nobody_posts_out_of_turn() -> None:
    """R17, R28: three are left, of whom seat 8 was skipped; when another goes, the two play on as any two."""
    game = table((1, 3, 5), 1, 3, 5, 8, skipped_blind_policy="post", rules=2)
    goes(game, 3)
    assert owed(hand(game)) == {8: "skipped"}
    goes(game, 1)
    started = hand(game)
    assert (at(started), extra(started), owed(started)) == ((8, 8, 5), {}, {})


def test_a_dead_small_blind_is_followed_by_a_button_on_its_seat() -> None:
    """R15, B06: seat 5 leaves as big blind; then no small blind, and then the button where it would have been."""
    game = table((1, 3, 5), 1, 3, 5, 8, button_mode="dead", rules=2)
    goes(game, 5)
    hands = [hand(game) for _ in range(3)]
    assert [at(each) for each in hands] == [(3, None, 8), (5, 8, 1), (8, 1, 3)]
    assert [each.positions.dead_small_blind for each in hands] == [5, None, None]
    assert [sum(post.amount for post in each.posts) for each in hands] == [100, 150, 150]
    assert all(dealt(each) == [1, 3, 8] for each in hands)


def test_before_rules_2_the_log_does_not_say_where_the_dead_small_blind_was() -> None:
    """R15, DESIGN 2: the button then goes before the big blind, as it always did."""
    game = table((1, 3, 5), 1, 3, 5, 8, button_mode="dead")
    goes(game, 5)
    hands = [hand(game) for _ in range(2)]
    assert [at(each) for each in hands] == [(3, None, 8), (7, 8, 1)]
    assert hands[0].positions.dead_small_blind is None


def test_a_dead_button_gives_everybody_the_big_blind_in_turn() -> None:
    """R15, R24, B05: seat 3 sits out; the big blind goes on from 5 to 8, and 3 owes what passes it."""
    game = table((1, 3, 5), 1, 3, 5, 8, button_mode="dead", rules=2)
    sits_out(game, 3)
    hands = [hand(game) for _ in range(4)]
    assert [at(each) for each in hands] == [(3, 5, 8), (5, 8, 1), (8, 1, 5), (1, 5, 8)]
    assert [owed(each) for each in hands] == [{}, {}, {3: "missed_big"}, {3: "missed_both"}]


def test_nobody_comes_in_on_a_dead_button() -> None:
    """R22: a newcomer on the seat where the button stands waits until it has passed."""
    game = table((1, 3, 5), 1, 3, 5, 8, button_mode="dead", rules=2)
    goes(game, 5)
    hand(game)
    comes(game, 5, "post")
    first, second = hand(game), hand(game)
    assert (at(first), dealt(first), owed(first)) == ((5, 8, 1), [1, 3, 8], {5: "new"})
    assert (at(second), extra(second)) == ((8, 1, 3), {5: [("new_player_blind", 100)]})


def test_heads_up_the_button_is_the_small_blind_and_alternates() -> None:
    """R17, B11."""
    game = table((2, 2, 6), 2, 6)
    assert [at(hand(game)) for _ in range(3)] == [(6, 6, 2), (2, 2, 6), (6, 6, 2)]


def test_from_three_to_two_nobody_is_the_big_blind_twice_running() -> None:
    """R18, B12: whoever of the three goes, by leaving or by sitting out."""
    for gone, expected in ((1, (3, 3, 2)), (2, (3, 3, 1)), (3, (2, 2, 1))):
        for how in (goes, sits_out):
            game = table((1, 2, 3), 1, 2, 3)
            how(game, gone)
            started = hand(game)
            assert at(started) == expected, (gone, how)
            assert started.positions.big_blind != 3


def test_from_two_to_three_the_third_comes_in_with_the_big_blind() -> None:
    """R17, R22: seat 4 is left of the small blind, and posts nothing besides."""
    game = table((2, 2, 6), 2, 6)
    comes(game, 4, "post")
    hands = [hand(game) for _ in range(3)]
    assert [at(each) for each in hands] == [(6, 2, 4), (2, 4, 6), (4, 6, 2)]
    assert all((dealt(each), extra(each)) == ([2, 4, 6], {}) for each in hands)


def test_from_two_to_three_the_third_waits_between_the_button_and_the_big_blind() -> None:
    """R17, R22: seat 8 sits between the button on 6 and the big blind on 2, and comes in with the next big blind."""
    game = table((2, 2, 6), 2, 6)
    comes(game, 8, "post")
    hands = [hand(game) for _ in range(3)]
    assert at(hands[0]) == (6, 6, 2)
    assert dealt(hands[0]) == [2, 6]
    assert owed(hands[0]) == {8: "new"}
    assert 8 in dealt(hands[1])
    assert extra(hands[1]) == {}
    assert hands[1].positions.big_blind == 8


def test_too_few_in_good_standing_begin_anew_without_debts() -> None:
    """R29, B13: seats 1 and 3 owe both blinds when only they are left; nobody posts anything out of turn."""
    game = table((4, 1, 2), 1, 2, 3, 4)
    sits_out(game, 3)
    hand(game)
    hand(game)
    sits_out(game, 1)
    goes(game, 2)
    goes(game, 4)
    assert debt(game.table) is None
    returns(game, 3, "post")
    assert debt(game.table) is None, "one player alone"
    returns(game, 1, "wait")
    started = hand(game)
    assert (dealt(started), extra(started), owed(started)) == ([1, 3], {}, {})
    assert at(started) in ((3, 3, 1), (1, 1, 3))


def test_a_fresh_start_moves_the_button_on_by_one_player() -> None:
    """R29, R14: the last button was seat 2; of 2, 6 and 8, who all owe, seat 6 has the next one."""
    game = table((2, 2, 4), 2, 6, 8)
    for seat in (2, 6, 8):
        game.table.seats[seat] = replace(game.table.seats[seat], owes="missed_both")
    started = hand(game)
    assert (at(started), dealt(started), extra(started), owed(started)) == ((6, 8, 2), [2, 6, 8], {}, {})


@pytest.mark.parametrize(("rules", "kept"), [(1, {8: "missed_both"}), (2, {8: "missed_both"}), (3, {})])
def test_a_fresh_start_wipes_the_debts_of_who_sits_out_too(rules: int, kept: dict[Seat, str]) -> None:
    """R29: seat 8 comes back without a debt; before rules 3 it keeps the one that it had."""
    game = table((2, 2, 4), 2, 6, 8, rules=rules)
    for seat in (2, 6, 8):
        game.table.seats[seat] = replace(game.table.seats[seat], owes="missed_both")
    sits_out(game, 8)
    started = hand(game)
    assert (dealt(started), extra(started), owed(started)) == ([2, 6], {}, kept)
    assert returns(game, 8, "wait").owes == kept.get(8, "none")


def test_a_cancelled_fresh_start_gives_back_the_debts_of_who_sits_out_too() -> None:
    """R29, R122."""
    game = table((2, 2, 4), 2, 6, 8, rules=3)
    for seat in (2, 6, 8):
        game.table.seats[seat] = replace(game.table.seats[seat], owes="missed_both")
    sits_out(game, 8)
    assert game.owed()
    assert {record.owes for record in game.table.seats.values()} == {"none"}
    does(game, "operator", "O1", VoidHand(id="", reason="a misdeal"))
    assert {record.owes for record in game.table.seats.values()} == {"missed_both"}


@pytest.mark.parametrize(("option", "expected"), [("first_to_sit", (4, 7, 2)), ("lowest_seat", (2, 4, 7))])
def test_the_first_button_is_an_option(option: str, expected: Places) -> None:
    """R13, R16, B01, B02: seats 4, 7 and 2 sat down in this order; who sits out does not count."""
    game = Game(config(first_button=option))
    records = {
        seat: SeatRecord(seat=seat, player=name(seat), stack=5000, sat=sat) for seat, sat in ((2, 4), (4, 2), (7, 3))
    }
    records[1] = SeatRecord(seat=1, player="P1", stack=5000, sat=1, sitting_out=True)
    game.between_hands(records)
    started = hand(game)
    assert (at(started), owed(started)) == (expected, {})


def test_no_hand_starts_with_fewer_than_two_who_play_with_chips() -> None:
    """R12, B14."""
    game = table((2, 2, 6), 2, 6, 8)
    sits_out(game, 6)
    game.table.seats[8] = replace(game.table.seats[8], stack=0, sitting_out=True)
    assert debt(game.table) is None
