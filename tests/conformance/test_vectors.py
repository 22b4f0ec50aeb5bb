"""Rule vectors with anything altered are told apart, and what they ask for that is unknown here is not covered."""

import json
from typing import Any

import msgspec
import pytest

from services.conformance.findings import Skipped
from services.conformance.judging import check_case
from services.conformance.vectors import vector
from tests.conformance.cases import RULES

VECTORS: dict[str, dict[str, Any]] = {
    entry["id"]: entry for entry in json.loads((RULES / "vectors.json").read_text())["vectors"]
}


def altered(name: str, *path: Any, to: Any) -> dict[str, Any]:
    """A vector with another value at a place in it."""
    entry: dict[str, Any] = json.loads(json.dumps(VECTORS[name]))
    inner: Any = entry
    for key in path[:-1]:
        inner = inner[key]
    assert inner[path[-1]] != to
    inner[path[-1]] = to
    return entry


@pytest.mark.parametrize(
    ("name", "path", "to", "what"),
    [
        ("H25", ("expect", "payouts", "2"), 1, "payouts"),
        ("H25", ("expect", "final_stacks", "2"), 1, "final stacks"),
        ("H25", ("expect", "rake_total"), 1, "rake"),
        ("H25", ("expect", "showdown_order"), [1, 2, 3], "order of showing"),
        ("H25", ("expect", "must_show"), [1, 3], "must show"),
        ("H26", ("expect", "may_muck"), [], "may muck"),
        ("H25", ("expect", "hands", "2", "high"), "pair A-K-9-8", "hands"),
        ("H25", ("expect", "log", 2), "3:check", "log"),
        ("H25", ("expect", "pots", 1, "amount"), 401, "pots"),
        ("H25", ("expect", "pots", 1, "high_winners"), [3], "pots"),
        ("H18", ("expect", "pots", 0, "odd_chips"), [1, 4], "pots"),
        ("L08", ("expect", "pots", 0, "low_half"), 126, "pots"),
        ("H01", ("expect", "uncalled_returned", "6"), 199, "uncalled bet"),
        ("H01", ("expect", "checkpoints", 1, "legal", "call"), 299, "action 1 '1:fold': checkpoint"),
        ("H01", ("expect", "checkpoints", 1, "legal", "raise_to"), [500, 9999], "action 1 '1:fold': checkpoint"),
        ("H01", ("expect", "checkpoints", 1, "pot_total"), 451, "action 1 '1:fold': checkpoint"),
        ("H01", ("expect", "checkpoints", 1, "bet_to"), 301, "action 1 '1:fold': checkpoint"),
        ("H01", ("actions", 1), "2:fold", "action 1 '2:fold': seat to act"),
        ("H01", ("actions", 0), "6:raise_to 150", "action 0 '6:raise_to 150': accepted"),
        ("B01", ("expect", "button"), 2, "button"),
        ("B03", ("expect", "sb"), 8, "small blind"),
        ("B03", ("expect", "bb"), 1, "big blind"),
        ("B07", ("expect", "posts"), {}, "extra posts"),
        ("B08", ("expect", "dealt"), [1, 2, 3, 4, 6], "dealt in"),
        ("B08", ("expect", "waiting"), [], "waiting"),
        ("B14", ("expect", "start"), True, "a hand starts"),
        ("D01", ("expect", "hole", "2"), ["2c", "6c"], "hole cards"),
        ("D01", ("expect", "burns", 2), "2d", "burns"),
        ("D01", ("input", "deck_top_first", 30), "2c", "the cards"),
        ("D01", ("input", "deck_top_first"), [], "the cards"),
        ("D01", ("input", "order"), [1], "the cards"),
        ("D01", ("input", "order"), [1, 1], "the cards"),
        ("D01", ("expect", "board", 4), "3d", "board"),
        ("D01", ("expect", "cards_left"), 37, "cards left"),
        ("S01", ("expect", 0, "small_blind"), 250, "blinds of 500/1000"),
        ("RK1", ("expect", 1, "rake"), 51, "rake of 1000 with 6 players"),
        ("HR1", ("expect", 0, "result"), 0, "As Ks Qs Js Ts against Kh Qh Jh Th 9h"),
        ("LR1", ("expect", 0, "result"), -1, "2c 4c 5d 6d 7s against Ac 2d 4s 6h 8c"),
        ("C01", ("expect", "min"), 4000, "least buy-in"),
        ("C01", ("input", "minutes"), 120, "least buy-in"),
        ("C02", ("input", "minutes"), 119, "highest buy-in"),
        ("C04", ("expect", "max"), 12_000, "highest buy-in"),
        ("C05", ("input", "limit"), "PL", "least buy-in"),
        ("C06", ("expect", 0, "min_buyin"), 5000, "least buy-in of a lower stake of 1000"),
        ("C07", ("expect", "topup_applied"), 15_000, "chips that come in"),
        ("C07", ("expect", "stack_after_hand"), 8000, "stack after the hand"),
        ("C07", ("expect", "stack"), 11_000, "stack"),
        ("C07", ("expect", "returned_to_account"), 0, "returned to the account"),
        ("C07", ("input", "hand_result"), -3000, "stack after the hand"),
        ("C08", ("expect", "account"), 12_345, "account"),
        ("C08", ("expect", "stack"), 6789, "stack"),
        ("C09", ("expect", "account"), 5000, "account"),
        ("C09", ("expect", "pot_keeps"), 0, "what stays in the pot"),
        ("X01", ("expect", "stacks", "1"), 4100, "stacks"),
        ("X01", ("expect", "rake"), 1, "rake"),
        ("X01", ("expect", "debts"), {}, "debts"),
        ("X01", ("input", "committed", "5"), 49, "put in"),
        ("X02", ("expect", "cancel"), "accepted", "cancelling"),
        ("T01", ("expect", 0), "fold", "case 1"),
        ("T01", ("input", 1, "facing"), 0, "case 2"),
        ("T01", ("input", 2, "time_bank"), 10, "case 3"),
        ("T02", ("expect", "pots", 0), 1200, "pots"),
        ("T02", ("expect", "eligible", 0), [1, 3], "who contests them"),
        ("T02", ("input", "next_bet"), 500, "pots"),
    ],
)
def test_an_altered_vector_is_told(name: str, path: tuple[Any, ...], to: Any, what: str) -> None:
    assert what in [difference.what for difference in check_case(vector(altered(name, *path, to=to)))]


def test_a_vector_that_is_not_altered_agrees() -> None:
    names = ("H01", "H18", "H25", "H26", "L08", "B01", "B03", "B07", "B08", "B14", "D01", "S01", "RK1", "HR1", "LR1")
    assert {name: check_case(vector(VECTORS[name])) for name in names} == {name: [] for name in names}


def test_a_fresh_start_is_seen_in_the_debts_that_it_wipes() -> None:
    """R29."""
    entry = altered("B13", "expect", "fresh", to=False)
    entry["expect"]["waiting"] = [6]
    assert "players who owe a blind" in [difference.what for difference in check_case(vector(entry))]


def test_a_card_that_is_there_twice_is_dealt_as_another_of_its_rank() -> None:
    """K03 and K04 have the king of spades in a hand and on the board: a deck has one."""
    for name in ("K03", "K04"):
        cards = [card for cards in VECTORS[name]["hole"].values() for card in cards] + VECTORS[name]["board"]
        assert len(cards) != len(set(cards))
        assert check_case(vector(VECTORS[name])) == []


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [
        ("moon_phase", "full", r"the options \['moon_phase'\] are unknown here"),
        ("odd_chip", "button", r"the options \['odd_chip'\] are unknown here"),
        ("muck", "always", "an option has a value that is unknown here: Invalid enum value 'always'"),
    ],
)
def test_an_unknown_option_is_not_covered(option: str, value: str, why: str) -> None:
    with pytest.raises(Skipped, match=why):
        check_case(vector(altered("H01", "options", to={option: value})))


def test_an_option_named_at_its_only_value_is_no_matter() -> None:
    same = {"odd_chip": "left_of_button", "fold_when_can_check": True}
    assert check_case(vector(altered("H01", "options", to=same))) == []


def test_an_unknown_kind_is_not_covered() -> None:
    with pytest.raises(Skipped, match="vectors of kind 'tournament' are unknown here"):
        check_case(vector({"id": "Z1", "kind": "tournament"}))


def test_an_action_in_other_words_is_no_vector() -> None:
    with pytest.raises(msgspec.ValidationError):
        vector(altered("H01", "actions", 0, to="6:jump"))


def test_no_flop_no_drop_may_be_switched_off_by_option_or_schedule() -> None:
    """R110: everybody folds to a raise, and the pot of 250 is raked all the same."""
    for entry in (
        altered("H01", "options", to={"no_flop_no_drop": False}),
        altered("H01", "rake", to=VECTORS["H01"]["rake"] | {"no_flop_no_drop": False}),
    ):
        assert ("rake", 0, 10) in [(each.what, each.expected, each.got) for each in check_case(vector(entry))]
