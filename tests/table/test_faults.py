import json
from pathlib import Path
from typing import Any

import pytest

from contracts.events.state import Positions, SeatRecord
from contracts.events.table import BettingClosed, UncalledBetReturned
from contracts.games import Limit, Variant
from services.dealer.scripted import Script
from services.table.button import seating
from tests.table.stories import Game, Move, config, name

LINES = (Path(__file__).parent.parent / "rules" / "faults.jsonl").read_text().splitlines()
FAULTS: list[Any] = [pytest.param(fault, id=fault["id"]) for fault in map(json.loads, LINES)]
GAMES: dict[str, tuple[Variant, Limit]] = {
    "nlhe": ("holdem", "no_limit"),
    "lhe": ("holdem", "fixed_limit"),
    "plo": ("omaha", "pot_limit"),
    "plo8": ("omaha8", "pot_limit"),
}


def dealt(fault: dict[str, Any]) -> Game:
    variant, limit = GAMES[fault["game"]]
    stakes = fault["stakes"]
    table = config(
        limit,
        variant=variant,
        blinds=(stakes["small_blind"], stakes["big_blind"]),
        bets=(stakes.get("small_bet", 0), stakes.get("big_bet", 0)),
        ante=stakes["ante"],
    )
    script = Script({int(seat): cards for seat, cards in fault["hole"].items() if cards}, fault["board"])
    game = Game(table, script).given({seat["seat"]: seat["stack"] for seat in fault["seats"]}, fault["button"])
    assert game.table.hand is not None
    assert [(post.seat, post.kind, post.amount) for post in game.table.hand.posts] == [
        (post["seat"], post["kind"], post["amount"]) for post in fault["posts"]
    ]
    return game


def move(action: dict[str, Any]) -> Move:
    return action["seat"], action["do"], action["to"] if action["do"] in ("bet", "raise") else None


@pytest.mark.parametrize("fault", FAULTS)
def test_a_situation_that_broke_other_engines_comes_out_right(fault: dict[str, Any]) -> None:
    """Options, pots, uncalled bets and the end of action, as `why` of each case explains."""
    game, expect, hand_over = dealt(fault), fault["expect"], fault["finishing"] is not None
    options = {point["after_action"]: point for point in expect.get("options_at", ())}
    pot_at = {point["after_action"]: point["pot"] for point in expect.get("pot_at", ())}
    for number in range(len(fault["actions"]) + 1):
        if number in options:
            assert offered(game) == {"seat": options[number]["seat"], **options[number]["options"]}
        if number in pot_at:
            assert game.table.hand is not None
            assert game.table.hand.pot == pot_at[number]
        if number < len(fault["actions"]):
            game.when(move(fault["actions"][number]))
    if "pots" in expect:
        closed = game.last(BettingClosed)
        assert [(pot.amount, sorted(pot.seats)) for pot in closed.pots] == [
            (pot["amount"], pot["seats"]) for pot in expect["pots"]
        ]
    if "uncalled" in expect:
        returned = game.last(UncalledBetReturned)
        assert {"seat": returned.seat, "amount": returned.amount} == expect["uncalled"]
    if hand_over:
        assert game.table.hand is None
    if hand_over and not fault["rake"]:
        assert game.stacks() == {int(seat): stack for seat, stack in fault["finishing"].items()}


def offered(game: Game) -> dict[str, object]:
    turn = game.turn
    assert turn is not None
    return {
        "seat": turn.seat,
        "fold": True,
        "check": turn.check,
        "call": turn.call,
        "raise_min": turn.minimum,
        "raise_max": turn.maximum,
    }


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if "seating" in fault.values[0]["expect"]])
def test_the_button_may_stand_at_an_empty_seat(fault: dict[str, Any]) -> None:
    """R15: nobody pays a blind twice or skips one when the small blind leaves."""
    given = fault["expect"]["seating"]
    before, after = given["before"], given["after"]
    last = Positions(button=before["button"], small_blind=before["small_blind"], big_blind=before["big_blind"])
    seats = {
        seat: SeatRecord(seat=seat, player=name(seat), stack=200, sat=seat)
        for seat in before["seats"]
        if seat != given["leaves"]
    }
    seated = seating(Game(config(button_mode="dead")).between_hands(seats, last).table)
    assert seated is not None
    assert not after["dead_small_blind"]
    assert seated.positions == Positions(
        button=after["button"], small_blind=after["small_blind"], big_blind=after["big_blind"]
    )
