"""The settlement's side of the rule book's worked examples."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from contracts.cards import STREETS, Street
from contracts.events import AnyEvent
from contracts.games import Options, Variant
from services.settlement import high, low
from services.settlement.ranking import worth
from tests.settlement.after_betting import AfterBetting, awarded, mucked_seats, paid, shown_hands

VECTORS = Path(__file__).parent.parent / "rules" / "vectors.json"
VARIANTS: dict[str, Variant] = {"holdem": "holdem", "omaha": "omaha", "omaha8": "omaha8"}


@cache
def vectors(kind: str) -> dict[str, dict[str, Any]]:
    found = json.loads(VECTORS.read_text())["vectors"]
    return {vector["id"]: vector for vector in found if vector["kind"] == kind}


def given(vector: dict[str, Any]) -> AfterBetting:
    expect = vector["expect"]
    contenders = {seat for pot in expect["pots"] for seat in pot["eligible"]}
    # A contender who was left with nothing before the pots were paid is all-in.
    all_in = any(expect["final_stacks"][str(seat)] == expect["payouts"][str(seat)] for seat in contenders)
    all_show = vector["options"].get("muck") == "show_all" or (
        all_in and vector["options"].get("allin_reveal", "all") == "all"
    )
    return AfterBetting(
        VARIANTS[vector["game"]],
        vector["board"],
        {int(seat): cards for seat, cards in vector["hole"].items()},
        [(pot["amount"], pot["eligible"]) for pot in expect["pots"]],
        button=vector["button"],
        showing=expect["showdown_order"],
        rake=[pot["rake"] for pot in expect["pots"]],
        closed_on=closed_on(expect["log"]),
        all_show=all_show,
        options=Options(),
    )


def closed_on(log: list[str]) -> Street:
    """The street of the last action."""
    street: Street = "preflop"
    last = street
    for line in log:
        word = line.split()[0]
        if word in STREETS:
            street = word
        else:
            last = street
    return last


def outcome(vector: dict[str, Any], events: tuple[AnyEvent, ...]) -> dict[str, Any]:
    """What was emitted, in the words of the vectors."""
    award = awarded(events)
    by_seat = {str(each.seat): each.amount for each in award.payouts}
    return {
        "must_show": [hand.seat for hand in shown_hands(events)],
        "may_muck": mucked_seats(events),
        "payouts": {seat: by_seat.get(seat, 0) for seat in vector["expect"]["payouts"]},
        "pots": [
            {
                "amount": pot.amount,
                "eligible": list(pot.seats),
                "rake": pot.rake,
                "high_winners": [share.seat for share in pot.high.shares],
                "odd_chips": [
                    share.seat
                    for division in (pot.high, pot.low)
                    for share in (division.shares if division is not None else ())
                    if share.odd_chips
                ],
                "shares": {str(seat): amount for seat, amount in paid(pot).items()},
                "halves": (pot.high.amount, pot.low.amount) if pot.low is not None else None,
                "uncontested": pot.uncontested,
            }
            for pot in award.pots
        ],
    }


def expected(vector: dict[str, Any]) -> dict[str, Any]:
    expect = vector["expect"]
    return {
        "must_show": expect["must_show"],
        "may_muck": expect["may_muck"],
        "payouts": expect["payouts"],
        "pots": [
            {
                "amount": pot["amount"],
                "eligible": pot["eligible"],
                "rake": pot["rake"],
                "high_winners": pot["high_winners"],
                "odd_chips": pot.get("odd_chips", []),
                "shares": pot["shares"],
                "halves": (pot["high_half"], pot["low_half"]) if "high_half" in pot else None,
                "uncontested": pot.get("uncontested", False),
            }
            for pot in expect["pots"]
        ],
    }


@pytest.mark.parametrize("name", vectors("hand"))
def test_a_worked_hand_is_settled_as_the_rule_book_says(name: str) -> None:
    """R79 to R86, R99 to R105, R112: who shows, who mucks, who gets how much of which pot."""
    vector = vectors("hand")[name]
    assert outcome(vector, given(vector).settle()) == expected(vector)


@pytest.mark.parametrize("name", [name for name, vector in vectors("hand").items() if vector["expect"]["hands"]])
def test_hands_are_called_as_the_rule_book_calls_them(name: str) -> None:
    """R89 to R97: what every contender's hand is worth, in words."""
    vector = vectors("hand")[name]
    called: dict[str, dict[str, str | None]] = {}
    for seat in vector["expect"]["hands"]:
        value = worth(VARIANTS[vector["game"]], vector["hole"][seat], vector["board"])
        called[seat] = {"high": value.high_words()}
        if vector["game"] == "omaha8":
            called[seat]["low"] = value.low_words()
    assert called == vector["expect"]["hands"]


@pytest.mark.parametrize("case", vectors("rank_high")["HR1"]["expect"], ids=str)
def test_five_cards_rank_for_high(case: dict[str, Any]) -> None:
    """HR1; R89 to R91, R98."""
    a, b = (high.rank_of_five(case[side].split()) for side in "ab")
    assert (b > a) - (b < a) == case["result"]


@pytest.mark.parametrize("case", vectors("rank_low")["LR1"]["expect"], ids=str)
def test_five_cards_rank_for_low(case: dict[str, Any]) -> None:
    """LR1; R94 to R96."""
    a, b = (low.rank_of_five(case[side].split()) for side in "ab")
    assert (b > a) - (b < a) == case["result"]
