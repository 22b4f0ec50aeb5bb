import json
from pathlib import Path
from typing import Any

import pytest

from contracts.data import Chips
from contracts.events.state import Owed, Positions, SeatRecord
from contracts.events.table import BettingClosed, UncalledBetReturned
from contracts.games import Limit, RakeBand, RakeSchedule
from services.aggregate.evolve import replace
from services.dealer.scripted import Script
from services.table.blinds import small_blind_guideline
from services.table.button import seating
from tests.table.stories import Game, Move, config, name

VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parent.parent / "rules" / "vectors.json").read_text())[
    "vectors"
]
LIMITS: dict[str, Limit] = {"NL": "no_limit", "PL": "pot_limit", "FL": "fixed_limit"}
POSTS: dict[str, Owed] = {"bb": "new", "bb+dead_sb": "missed_both", "dead_sb": "missed_small"}


def of_kind(kind: str) -> list[Any]:
    return [pytest.param(vector, id=vector["id"]) for vector in VECTORS if vector["kind"] == kind]


def dealt(vector: dict[str, Any]) -> Game:
    options = {key: value for key, value in vector["options"].items() if key != "rake_allocation"}
    stakes = vector["stakes"]
    table = config(
        LIMITS[vector["limit"]],
        variant=vector["game"],
        blinds=(stakes["sb"], stakes["bb"]),
        bets=(stakes.get("small_bet", 0), stakes.get("big_bet", 0)),
        **options,
    )
    rake = vector["rake"]
    if rake is not None:
        bands = tuple(
            RakeBand(
                players=tuple(band["players"]),
                cap=band.get("cap"),
                step_pot=band.get("step_pot", 0),
                step_rake=band.get("step_rake", 0),
                basis_points=band.get("bp", 0),
            )
            for band in rake["bands"]
        )
        schedule = RakeSchedule(
            id="vector",
            version=1,
            mode=rake["mode"],
            bands=bands,
            minimum=rake.get("min_rake", 0),
            no_flop_no_drop=vector["options"].get("no_flop_no_drop", True),
            allocation=vector["options"].get("rake_allocation", "proportional"),
        )
        table = replace(table, rake=schedule, money="play" if rake.get("play_money") else "real")
    holes = {int(seat): cards for seat, cards in vector["hole"].items()}
    held = {card for cards in holes.values() for card in cards}
    board = ["Kc" if card in held else card for card in vector["board"]]  # K03 and K04 have a king of spades twice
    stacks = {seat["seat"]: seat["stack"] for seat in vector["seats"]}
    posting = {seat["seat"]: POSTS[seat["post"]] for seat in vector["seats"] if "post" in seat}
    return Game(table, Script(holes, board)).given(stacks, vector["button"], posting)


def move(text: str) -> Move:
    seat, _, words = text.partition(":")
    action, _, amount = words.partition(" ")
    names: dict[str, Any] = {"raise_to": "raise", "allin": "all_in"}
    return int(seat), names.get(action, action), int(amount) if amount else None


@pytest.mark.parametrize("vector", of_kind("hand"))
def test_a_worked_hand_offers_what_the_rules_say_and_ends_in_their_pots(vector: dict[str, Any]) -> None:
    """Every hand of the rule book: options at each checkpoint, uncalled bet, pots, order of showing, stacks."""
    game, expect = dealt(vector), vector["expect"]
    checkpoints = {point["before_action"]: point for point in expect["checkpoints"]}
    for number, action in enumerate(vector["actions"]):
        if number in checkpoints:
            assert_checkpoint(game, checkpoints[number])
        game.when(move(action))
    assert game.table.hand is None
    closed = game.last(BettingClosed)
    returned = {event.seat: event.amount for event in game.events if isinstance(event, UncalledBetReturned)}
    assert returned == {int(seat): amount for seat, amount in expect["uncalled_returned"].items()}
    assert [(pot.amount, sorted(pot.seats)) for pot in closed.pots] == [
        (pot["amount"], sorted(pot["eligible"])) for pot in expect["pots"]
    ]
    assert list(closed.showing) == expect["showdown_order"]
    assert game.stacks() == {int(seat): stack for seat, stack in expect["final_stacks"].items()}


def assert_checkpoint(game: Game, point: dict[str, Any]) -> None:
    hand, legal = game.table.hand, dict(point["legal"])
    assert hand is not None
    assert legal.pop("fold")
    assert game.offers() == {"seat": point["to_act"], **legal}
    assert (hand.street, hand.pot, hand.betting.level) == (point["street"], point["pot_total"], point["bet_to"])


@pytest.mark.parametrize("vector", of_kind("button"))
def test_button_and_blinds_of_the_next_hand(vector: dict[str, Any]) -> None:
    """R12 to R18, R21 to R25, R29."""
    given, expect = vector["input"], vector["expect"]
    options = {"button_mode": given.get("mode", "moving"), "first_button": given.get("first_button", "first_to_sit")}
    last = given["prev"] and Positions(
        button=given["prev"]["button"], small_blind=given["prev"]["sb"], big_blind=given["prev"]["bb"]
    )
    seats = {
        int(seat): SeatRecord(
            seat=int(seat),
            player=name(int(seat)),
            stack=5000,
            sat=record["since"],
            sitting_out=not record["active"],
            owes=record["debt"],
            choice=record["choice"],
        )
        for seat, record in given["seats"].items()
    }
    seated = seating(Game(config(**options)).between_hands(seats, last).table)
    if not expect["start"]:
        assert seated is None
        return
    assert seated is not None
    found = {
        "start": True,
        "fresh": seated.fresh,
        "button": seated.positions.button,
        "sb": seated.positions.small_blind,
        "bb": seated.positions.big_blind,
        "posts": {str(seat): posted(owed) for seat, owed in seated.extra.items()},
        "dealt": list(seated.dealt),
    }
    assert found == {key: value for key, value in expect.items() if key != "waiting"}
    assert list(seated.waiting) == expect["waiting"]


def posted(owed: Owed) -> str:
    return {"new": "bb", "missed_big": "bb", "missed_both": "bb+dead_sb", "missed_small": "dead_sb", "none": ""}[owed]


@pytest.mark.parametrize("vector", of_kind("blind_guideline"))
def test_the_small_blind_is_half_the_lower_stake_rounded_down(vector: dict[str, Any]) -> None:
    """R19."""
    expected: dict[Chips, Chips] = {row["lower"]: row["small_blind"] for row in vector["expect"]}
    assert {lower: small_blind_guideline(lower) for lower in expected} == expected
