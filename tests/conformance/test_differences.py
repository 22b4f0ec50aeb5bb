"""A hand that was altered in any one place is told apart, and the difference says where."""

from typing import Any

import pytest

from services.conformance.findings import Difference, Skipped
from tests.conformance.cases import differences, recorded, told

LIMIT = "lhe-3f4201d3008c"
"""Limit hold'em to the river: seat 9 shows and wins, seat 10 mucks."""
SIDE_POT = "plo8-25795bffddea"
"""Pot-limit Omaha 8: three hands, main and side pot, an uncalled bet."""
RAKED = "plo8-dc8ddfb09ea5"
"""Pot-limit Omaha 8 from PokerStars: betting to the river, two hands shown, a rake of 20."""


@pytest.mark.parametrize("name", [LIMIT, SIDE_POT, RAKED])
def test_an_unaltered_hand_agrees(name: str) -> None:
    assert differences(recorded(name)) == []


def test_a_chip_that_went_to_the_wrong_player_is_told() -> None:
    hand = recorded(RAKED)
    paid = dict(hand["payouts"])
    winner = next(iter(hand["payouts"]))
    hand["payouts"][winner] -= 1
    expected = {int(seat): amount for seat, amount in hand["payouts"].items()}
    got = {int(seat): amount for seat, amount in paid.items()}
    assert differences(hand) == [Difference(RAKED, "payouts", expected, got)]


@pytest.mark.parametrize(
    ("field", "value", "what"),
    [
        ("rake", 21, {"payouts", "finishing stacks"}),
        ("total_pot", 1, {"total pot"}),
        ("uncalled", {"seat": 5, "amount": 7}, {"uncalled bet"}),
        ("finishing", {"5": 1}, {"finishing stacks"}),
        ("shown", [5, 2], {"order of showing"}),
    ],
)
def test_an_altered_result_is_told(field: str, value: Any, what: set[str]) -> None:
    hand = recorded(RAKED)
    hand[field] = value
    assert set(told(hand)) == what


def test_altered_pots_are_told() -> None:
    hand = recorded(SIDE_POT)
    hand["pots"] = [4764, 87 + 1]
    assert told(hand) == ["pots"]


def test_an_action_by_the_wrong_seat_is_told_and_ends_the_comparison() -> None:
    hand = recorded(LIMIT)
    seat = hand["actions"][1]["seat"]
    hand["actions"][1]["seat"] = hand["actions"][0]["seat"]
    (difference,) = differences(hand)
    assert difference.what.startswith("action 2, preflop")
    assert difference.what.endswith("seat to act")
    assert (difference.expected, difference.got) == (hand["actions"][0]["seat"], seat)


def test_an_action_on_the_wrong_street_is_told() -> None:
    hand = recorded(LIMIT)
    hand["actions"][0]["street"] = "turn"
    assert [what.rpartition(": ")[2] for what in told(hand)] == ["street"]


def test_a_raise_outside_the_legal_range_is_told_with_the_range() -> None:
    """R67: in limit there is one size."""
    hand = recorded(LIMIT)
    wager = next(action for action in hand["actions"] if action["do"] in ("bet", "raise"))
    wager["to"] += 1
    (difference,) = differences(hand)
    assert difference.what.endswith("offered")
    assert difference.expected == {wager["do"]: wager["to"]}
    assert difference.got[wager["do"]] == [wager["to"] - 1, wager["to"] - 1]


def test_a_call_for_another_amount_is_told() -> None:
    hand = recorded(LIMIT)
    call = next(action for action in hand["actions"] if action["do"] == "call")
    call["amount"] += 1
    (difference,) = differences(hand)
    assert difference.what.endswith("offered")
    assert difference.got["call"] == call["amount"] - 1


def test_an_all_in_that_was_none_is_told() -> None:
    hand = recorded(LIMIT)
    hand["actions"][0]["all_in"] = True
    assert told(hand) == [f"action 1, preflop: seat {hand['actions'][0]['seat']} {hand['actions'][0]['do']}: all-in"]


def test_a_hand_with_its_last_action_missing_is_not_over() -> None:
    hand = recorded(LIMIT)
    hand["actions"].pop()
    assert told(hand) == ["the hand is over"]


def test_an_action_after_the_end_is_told() -> None:
    hand = recorded(LIMIT)
    hand["actions"].append(hand["actions"][-1])
    (difference,) = differences(hand)
    assert difference.what.endswith("somebody is to act")
    assert difference.got is None


def test_a_raise_that_is_not_open_any_more_is_told_and_not_played_as_a_call() -> None:
    """R55: only a raise that nobody could call is taken as an all-in call (R148); one that is closed is illegal."""
    seats = [{"seat": seat, "player": "", "stack": stack} for seat, stack in ((1, 200), (2, 16), (3, 200))]
    actions = [
        {"street": "preflop", "seat": 3, "do": "raise", "amount": 10, "to": 10, "all_in": False},
        {"street": "preflop", "seat": 1, "do": "call", "amount": 9, "to": 10, "all_in": False},
        {"street": "preflop", "seat": 2, "do": "raise", "amount": 14, "to": 16, "all_in": True},
        {"street": "preflop", "seat": 3, "do": "raise", "amount": 30, "to": 40, "all_in": False},
    ]
    hand = recorded(LIMIT) | {
        "game": "nlhe",
        "stakes": {"small_blind": 1, "big_blind": 2, "ante": 0},
        "button": 3,
        "seats": seats,
        "posts": [
            {"seat": 1, "kind": "small_blind", "amount": 1, "live": True},
            {"seat": 2, "kind": "big_blind", "amount": 2, "live": True},
        ],
        "hole": {},
        "actions": actions,
        "board": [],
        "payouts": None,
    }
    (difference,) = differences(hand)
    assert difference.what == "action 4, preflop: seat 3 raise to 40: offered"
    assert difference.got == {"fold": True, "check": False, "call": 6, "raise": [None, None]}


def test_a_different_board_changes_who_wins() -> None:
    hand = recorded(RAKED)
    before = hand["payouts"]
    hand["hole"]["2"], hand["hole"]["5"] = hand["hole"]["5"], hand["hole"]["2"]
    got = next(difference.got for difference in differences(hand) if difference.what == "payouts")
    assert got != {int(seat): amount for seat, amount in before.items()}


def test_a_record_that_cannot_be_put_on_a_table_differs() -> None:
    hand = recorded(LIMIT)
    hand["board"][0] = hand["board"][1]
    (difference,) = differences(hand)
    assert difference == Difference(
        LIMIT, "a record that can be played", None, f"the card {hand['board'][1]} is there twice"
    )


def test_a_showdown_with_unknown_cards_is_not_covered() -> None:
    hand = recorded(LIMIT)
    hand["hole"]["10"] = None
    with pytest.raises(Skipped, match=r"the cards of seats \[10\], which went to the showdown, are not known"):
        differences(hand)


def test_a_showdown_on_an_unknown_board_is_not_covered() -> None:
    hand = recorded(LIMIT)
    hand["board"] = hand["board"][:4]
    with pytest.raises(Skipped, match="of the 5 cards of the board only 4 are known"):
        differences(hand)


def test_a_difference_goes_before_unknown_cards() -> None:
    hand = recorded(LIMIT)
    hand["hole"]["10"] = None
    hand["actions"][0]["all_in"] = True
    assert len(told(hand)) == 1


def test_a_game_that_is_not_played_here_is_not_covered() -> None:
    hand = recorded(LIMIT) | {"game": "stud"}
    with pytest.raises(Skipped, match="the game 'stud' is none of nlhe"):
        differences(hand)
