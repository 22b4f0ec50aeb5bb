"""Seats, stakes, rakes and house rules of other rooms, at a table of ours."""

from typing import Any

import msgspec
import pytest

from contracts.games import Options, Stakes
from services.conformance import rakes, rooms
from services.conformance.findings import Skipped
from services.conformance.recorded import Recorded, RecordedDispute
from services.conformance.seating import at_table
from tests.conformance.cases import differences, recorded, told


def hand(name: str = "lhe-3f4201d3008c", **changes: Any) -> Recorded:
    return msgspec.convert(recorded(name) | changes, Recorded, str_keys=True)


def test_seat_0_is_played_as_the_free_seat_10() -> None:
    """Only the order round the table matters: seat 0 lies between 9 and 1, and so does seat 10."""
    placed = at_table(hand("lhe-96545664a997"))
    assert {0, 10} & {seated.seat for seated in hand("lhe-96545664a997").seats} == {0}
    assert {0, 10} & {seated.seat for seated in placed.seats} == {10}
    assert 0 not in {action.seat for action in placed.actions}
    assert at_table(placed) == placed


def crowded(button: int) -> dict[str, Any]:
    """Ten players on seats 0 and 2 to 10; all fold to the big blind."""
    seats = [0, *range(2, 11)]
    folds = [seat for seat in seats if seat != 3]
    order = sorted(folds, key=lambda seat: (seat - 4) % 11)
    return {
        "id": "crowded",
        "game": "nlhe",
        "stakes": {"small_blind": 1, "big_blind": 2},
        "button": button,
        "seats": [{"seat": seat, "stack": 100} for seat in seats],
        "posts": [
            {"seat": 2, "kind": "small_blind", "amount": 1, "live": True},
            {"seat": 3, "kind": "big_blind", "amount": 2, "live": True},
        ],
        "hole": {},
        "actions": [
            {"street": "preflop", "seat": seat, "do": "fold", "amount": 0, "to": 1 if seat == 2 else 0}
            for seat in order
        ],
        "board": [],
        "uncalled": {"seat": 3, "amount": 1},
        "payouts": {"3": 2},
        "finishing": {str(seat): 100 + (seat == 3) - (seat == 2) for seat in seats},
        "total_pot": 2,
        "rake": 0,
    }


def test_seats_0_and_10_together_are_numbered_anew() -> None:
    assert told(crowded(button=0)) == []


def test_eleven_places_do_not_fit_a_table() -> None:
    """Ten players, and the button on the eleventh, empty place."""
    with pytest.raises(Skipped, match="11 places are in use, a table has 10"):
        differences(crowded(button=1))


def test_blinds_posted_in_full_go_before_the_name_of_the_stakes() -> None:
    """A table called 10/20 at which 15 and 30 were posted: the least raise is 30."""
    assert rooms.config(hand("nlhe-3a7a78842ef9")).stakes == Stakes(
        small_blind=15, big_blind=30, small_bet=30, big_bet=60
    )


def test_a_short_all_in_blind_does_not_lower_the_stakes() -> None:
    short = hand("nlhe-128804386b48", dispute=None)
    assert [post.amount for post in short.posts] == [15, 20]
    assert rooms.config(short).stakes == Stakes(small_blind=15, big_blind=30, small_bet=30, big_bet=60)


@pytest.mark.parametrize(
    ("rule", "options"),
    [
        ("heads-up: this room leaves the button with the big blind", {"heads_up_button": "big_blind"}),
        ("limit: ... this room lets the next raise go to two full bets (32)", {"fl_raise_after_allin": "full_level"}),
        ("odd chip after rake: this room gives it to the player on the button", {"odd_chip_order": "button_first"}),
        ("smallest chip: 775 is paid 375 and 400, in units of 25; in cents it is 388", {"odd_chip_unit": 25}),
        ("the odd chip of the shared low goes to the high hand", {"odd_quarter_chip": "high"}),
        ("cap per hand: a player who has put the cap in (30 big blinds here)", {"cap_per_hand": 60}),
        ("short all-in big blind: the amount to call is the full big blind", {}),
    ],
)
def test_a_dispute_names_the_option_of_its_room(rule: str, options: dict[str, Any]) -> None:
    disputed = hand(dispute=None)
    disputed = msgspec.structs.replace(disputed, dispute=RecordedDispute(rule=rule))
    default = rooms.config(hand()).options
    assert rooms.config(disputed).options == msgspec.structs.replace(default, **options)
    assert default == Options(act_ms=rooms.ACT_MS)


def test_without_its_option_a_disputed_hand_differs() -> None:
    """The odd chip of 53 goes to the button in that room, and to the left of it by the usual rule."""
    disputed = recorded("lo-8e2816746384")
    assert told(disputed) == []
    assert told(disputed | {"dispute": None}) == ["payouts", "finishing stacks"]


def test_an_ante_of_one_player_is_dead_and_antes_of_all_make_levels() -> None:
    """R146: an ante posted for the whole table is no part of anybody's wager or level."""
    assert rooms.config(hand("nlhe-0895ff3560d2")).options.ante_mode == "big_blind"
    assert rooms.config(hand("nlhe-49112371ec7e", dispute=None)).options.ante_mode == "each"


@pytest.mark.parametrize(
    ("rule", "pots", "shares"),
    [
        ("in proportion to the pots, remainder from the last pot", [100, 101], [4, 6]),
        ("42 from the main pot, 65 from the side pot; rake derived (pot less payouts)", [550, 1300], [42, 65]),
        ("1 from the main pot, 2 from side pot 1, 7 from side pot 2", [50, 50, 50], [1, 2, 7]),
        ("all from the side pot", [50, 50], [0, 10]),
        ("taken from the only pot", [100], None),
        ("in proportion to the pots, remainder from the main pot", [100, 101], None),
        ("all from the main pot", [100, 101], None),
    ],
)
def test_a_rake_that_no_schedule_divides_like_that_is_given_by_pot(
    rule: str, pots: list[int], shares: list[int] | None
) -> None:
    """None: the rake service divides it like that by itself."""
    assert rakes.shares(hand(rake=10, rake_rule=rule), pots) == shares


def test_a_rate_that_is_named_is_taken_by_the_rake_service() -> None:
    schedule = rakes.schedule(hand(rake=1980, total_pot=39600, rake_rule="5 % of the pot, no cap"))
    assert schedule is not None
    assert (schedule.mode, schedule.bands[0].basis_points) == ("percent", 500)


def test_a_street_of_which_only_the_board_was_written_down_was_checked() -> None:
    """Two sources left out a flop or turn without a bet; the pot did not grow on it."""
    silent = recorded("nlhe-3907ab21eb17")
    assert {action["street"] for action in silent["actions"]} == {"preflop", "turn"}
    assert told(silent) == []
    assert told(silent | {"board": []}) != []


def test_after_a_second_straddle_the_seat_left_of_it_acts_first() -> None:
    """R147: a straddle of 4 and one of 8 over blinds of 1/2; the first to act calls 8 or raises to 16."""
    hand = crowded(button=0) | {"id": "straddled", "payouts": None, "uncalled": None, "actions": []}
    hand["posts"] += [
        {"seat": 4, "kind": "straddle", "amount": 4, "live": True},
        {"seat": 5, "kind": "straddle", "amount": 8, "live": True},
    ]
    for seated in hand["seats"]:
        seated["seat"] = seated["seat"] or 1
    hand["button"] = 1
    options = {"fold": True, "check": False, "call": 8, "raise_min": 16, "raise_max": 100}
    hand["expect"] = {"options_at": [{"after_action": 0, "seat": 6, "options": options}]}
    assert told(hand) == []


def test_a_dispute_by_a_rule_that_nobody_knows_is_not_covered_where_it_differs() -> None:
    """A rule without an option of ours is named; a hand that agrees without one agrees."""
    disputed = recorded("lo-8e2816746384")
    disputed["dispute"] = {"rule": "the dealer keeps every odd chip", "pokerkit": ""}
    with pytest.raises(Skipped, match="no option is known for the rule of that room: the dealer keeps every odd chip"):
        differences(disputed)
    assert told(recorded("lhe-3f4201d3008c") | {"dispute": {"rule": "left-handed dealing"}}) == []


def test_a_dispute_that_our_rules_settle_may_not_differ() -> None:
    disputed = recorded("nlhe-0ee4ccf125b1")
    assert "short all-in big blind" in disputed["dispute"]["rule"]
    disputed["finishing"][next(iter(disputed["finishing"]))] += 1
    assert told(disputed) == ["finishing stacks"]
