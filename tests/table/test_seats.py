import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from contracts.commands import (
    CloseTable,
    LeaveTable,
    PauseTable,
    ResumeTable,
    ReturnToPlay,
    SitOut,
    TakeSeat,
    TopUp,
)
from contracts.events.seats import PostChosen, StackToppedUp, TopUpQueued
from contracts.events.state import Departure, SeatRecord
from contracts.events.table import (
    PlayerLeft,
    PlayerReturned,
    PlayerSatOut,
    PlayerSeated,
    TableClosed,
    TableOpened,
    TablePaused,
)
from contracts.games import BuyIn, Limit
from contracts.outcomes import Allowed, Rejected
from services.aggregate.evolve import replace
from services.dealer.scripted import Script
from services.table.buy_ins import buy_in_range
from services.table.hands import topped_up
from tests.table.stories import NOON, Game, all_in, call, config, fold_, raise_to

VECTORS = json.loads((Path(__file__).parent.parent / "rules" / "vectors.json").read_text())["vectors"]
RETURNS: list[Any] = [pytest.param(v, id=v["id"]) for v in VECTORS if "left_with" in v.get("input", ())]
LIMITS: dict[str, Limit] = {"NL": "no_limit", "PL": "pot_limit", "FL": "fixed_limit"}


def opened(**changes: Any) -> Game:
    game = Game(config(buy_in=BuyIn(minimum=4000, maximum=20_000), **changes))
    game.append("table", (TableOpened(config=game.config),))
    return game


def refused(outcome: object) -> tuple[str, Allowed]:
    assert isinstance(outcome, Rejected)
    return outcome.code, outcome.allowed


def test_a_player_takes_the_lowest_free_seat_unless_told_which() -> None:
    """R6, R21: at a table that has seen no hand nobody owes a blind."""
    game = opened().sit(1, 5000)
    assert game.send("lobby", "L1", TakeSeat(id="", player="P9", buy_in=4000)) == (
        PlayerSeated(record=SeatRecord(seat=2, player="P9", stack=4000, sat=2)),
    )


def test_what_stands_in_the_way_of_a_seat() -> None:
    game = opened(seats=2).sit(1, 5000)
    again = game.send("lobby", "L1", TakeSeat(id="", player="P1", buy_in=5000))
    assert refused(again) == ("already_seated", Allowed(seats=(1,)))
    taken = game.send("lobby", "L1", TakeSeat(id="", player="P2", buy_in=5000, seat=1))
    assert refused(taken) == ("seat_taken", Allowed(seats=(2,)))
    little = game.send("lobby", "L1", TakeSeat(id="", player="P2", buy_in=3999))
    assert refused(little) == ("buy_in_out_of_range", Allowed(minimum=4000, maximum=20_000))
    game.sit(2, 5000)
    full = game.send("lobby", "L1", TakeSeat(id="", player="P3", buy_in=5000))
    assert refused(full) == ("table_full", Allowed(actions=("leave_table",), hand=0))


def test_a_newcomer_at_a_running_table_owes_a_big_blind_and_may_choose_to_post_it() -> None:
    """R21."""
    game = Game(config()).given({1: 5000, 2: 5000, 3: 5000}, button=3).sit(5, 5000)
    assert (game.table.seats[5].owes, game.table.seats[5].choice) == ("new", "wait")
    chosen = game.send("player", "P5", ReturnToPlay(id="", choice="post"))
    assert chosen == (PostChosen(seat=5, choice="post"),)
    twice = game.send("player", "P5", ReturnToPlay(id="", choice="post"))
    assert refused(twice) == ("not_sitting_out", Allowed(actions=("sit_out", "leave_table")))


@pytest.mark.parametrize("vector", RETURNS)
def test_who_left_not_long_ago_comes_back_with_no_less(vector: dict[str, Any]) -> None:
    """R10, C01 to C05."""
    given = vector["input"]
    minimum, maximum = given["min_buyin"], given.get("max_buyin")
    table = config(LIMITS[given["limit"]], buy_in=BuyIn(minimum=minimum, maximum=maximum))
    game = Game(replace(table, money="real"))
    game.append("table", (TableOpened(config=game.config),))
    left = NOON - timedelta(minutes=given["minutes"])
    game.table.departures = (Departure(player="P1", stack=given["left_with"], at=left),)
    bounds = buy_in_range(game.table, game.config, "P1", NOON)
    assert (bounds.minimum, bounds.maximum) == (vector["expect"]["min"], vector["expect"].get("max"))


def test_between_hands_a_player_leaves_at_once_with_the_whole_stack() -> None:
    """R9."""
    game = opened().sit(1, 5000)
    assert game.send("player", "P1", LeaveTable(id="")) == (PlayerLeft(seat=1, player="P1", stack=5000, at=NOON),)
    gone = game.send("player", "P1", LeaveTable(id=""))
    assert refused(gone) == ("not_seated", Allowed(actions=("take_seat",), seats=tuple(range(1, 11))))


def test_sitting_out_and_coming_back_between_hands() -> None:
    """R11, R25."""
    game = opened().sit(1, 5000)
    assert game.send("lobby", "L1", SitOut(id="", player="P1")) == (PlayerSatOut(seat=1),)
    assert refused(game.send("player", "P1", SitOut(id=""))) == ("sitting_out", Allowed(actions=("return_to_play",)))
    back = game.send("player", "P1", ReturnToPlay(id="", choice="post"))
    assert back == (PlayerReturned(seat=1, owes="none", choice="post"),)


def test_a_top_up_between_hands_comes_in_at_once_up_to_the_maximum() -> None:
    """R7: what does not fit is refused before it is taken, so that a lobby books what it sent."""
    game = opened().sit(1, 18_000)
    partly = game.send("lobby", "L1", TopUp(id="", player="P1", amount=2001))
    assert refused(partly) == ("buy_in_out_of_range", Allowed(minimum=1, maximum=2000))
    topped = game.send("lobby", "L1", TopUp(id="", player="P1", amount=2000))
    assert topped == (StackToppedUp(seat=1, amount=2000, stack=20_000),)
    more = game.send("lobby", "L1", TopUp(id="", player="P1", amount=1))
    assert refused(more) == ("buy_in_out_of_range", Allowed(minimum=0, maximum=0))


@pytest.mark.parametrize("amount", [3999, 20_001])
def test_a_player_without_chips_tops_up_within_the_buy_in(amount: int) -> None:
    """R8."""
    game = opened()
    game.between_hands({1: SeatRecord(seat=1, player="P1", stack=0, sat=1, sitting_out=True)})
    topped = game.send("lobby", "L1", TopUp(id="", player="P1", amount=amount))
    assert refused(topped) == ("buy_in_out_of_range", Allowed(minimum=4000, maximum=20_000))


def test_a_top_up_asked_for_in_a_hand_waits_for_its_end() -> None:
    """R7, C07: 8000 before the hand, 11000 after it, at most 20000: of 15000 asked for 9000 come in."""
    table = config(buy_in=BuyIn(minimum=4000, maximum=20_000))
    game = Game(table).given({1: 8000, 2: 3000}, button=1)
    queued = game.send("lobby", "L1", TopUp(id="", player="P1", amount=15_000))
    assert queued == (TopUpQueued(seat=1, amount=15_000, queued=15_000),)
    record = game.table.seats[1]
    assert topped_up(game.config, record, 11_000, 15_000) == StackToppedUp(
        seat=1, amount=9000, stack=20_000, unused=6000
    )
    game.when(fold_(1))
    assert game.last(StackToppedUp) == StackToppedUp(seat=1, amount=12_050, stack=20_000, unused=2950)
    assert game.table.seats[1].top_up == 0


@pytest.mark.parametrize(("amount", "stays_out"), [(3999, True), (4000, False)])
def test_who_lost_everything_sits_out_unless_the_queued_chips_reach_the_minimum(amount: int, stays_out: bool) -> None:  # noqa: FBT001
    """R8."""
    table = config(buy_in=BuyIn(minimum=4000, maximum=20_000))
    script = Script({1: ("As", "Ad"), 3: ("2c", "7d")}, ("Ac", "Kd", "9h", "8s", "3c"))
    game = Game(table, script).given({1: 5000, 2: 5000, 3: 200}, button=3)
    game.send("lobby", "L1", TopUp(id="", player="P3", amount=amount))
    game.when(all_in(3), call(1), fold_(2))
    assert game.table.seats[3].stack == (0 if stays_out else 4000)
    assert game.table.seats[3].sitting_out is stays_out


def test_a_paused_table_plays_its_hand_out_and_starts_no_other() -> None:
    game = Game(config()).given({1: 5000, 2: 5000}, button=1)
    assert game.send("operator", "O1", PauseTable(id="")) == (TablePaused(),)
    again = game.send("operator", "O1", PauseTable(id=""))
    assert refused(again) == ("paused", Allowed(actions=("resume_table",)))
    game.when(raise_to(1, 300), fold_(2))
    assert game.table.hand is None
    assert not game.owed()
    game.send("operator", "O1", ResumeTable(id=""))
    again = game.send("operator", "O1", ResumeTable(id=""))
    assert refused(again) == ("not_paused", Allowed(actions=("pause_table",)))
    assert game.owed()
    assert game.table.hands == 2


def test_a_closed_table_has_paid_everybody_out() -> None:
    game = Game(config()).given({1: 5000, 2: 5000}, button=1)
    early = game.send("operator", "O1", CloseTable(id=""))
    assert refused(early) == ("hand_in_progress", Allowed(actions=("pause_table",), hand=1))
    game.when(fold_(1))
    closed = game.send("operator", "O1", CloseTable(id=""))
    assert closed == (
        PlayerLeft(seat=1, player="P1", stack=4950, at=NOON),
        PlayerLeft(seat=2, player="P2", stack=5050, at=NOON),
        TableClosed(),
    )
    assert refused(game.send("lobby", "L1", TakeSeat(id="", player="P3", buy_in=5000)))[0] == "table_closed"
