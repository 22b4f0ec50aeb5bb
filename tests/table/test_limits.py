"""What ends by itself: a seat that is sat out too long (R11), a table that nobody plays at, and a memory (R10)."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from contracts.commands import (
    LeaveTable,
    PauseTable,
    ReserveSeat,
    ResumeTable,
    ReturnToPlay,
    SitOut,
    TakeSeat,
    TopUp,
)
from contracts.data import CHIPS_MAX
from contracts.events.seats import SeatReleased, TopUpReleased
from contracts.events.state import Departure, Positions, SeatRecord
from contracts.events.table import HandStarted, PlayerLeft, PlayerReturned, PlayerSatOut, TableClosed
from contracts.games import TableConfig
from contracts.outcomes import Rejected
from services.aggregate.debts import debt
from services.table.buy_ins import Range, buy_in_range
from services.table.hands import DEPARTURES_MAX
from tests.table.cash import LIMITS, cash, does, opened
from tests.table.stories import NOON, Game, config, fold_

MINUTES_15 = 900_000


def players(*seats: int, **changes: object) -> dict[int, SeatRecord]:
    records = {seat: SeatRecord(seat=seat, player=f"P{seat}", stack=5000, sat=seat) for seat in seats}
    return {seat: replace(record, **changes) for seat, record in records.items()}


def test_without_a_limit_the_log_does_not_say_since_when_a_player_sits_out() -> None:
    """R11: as it never did; nobody loses the seat."""
    game = opened(config()).sit(1, 5000)
    assert does(game, "player", "P1", SitOut(id="")) == (PlayerSatOut(seat=1),)
    game.wait(100 * MINUTES_15)
    assert not game.owed()


def test_who_sits_out_too_long_loses_the_seat_and_is_paid_out() -> None:
    """R11: after 15 minutes, to the millisecond."""
    game = opened(config(sit_out_ms=MINUTES_15)).sit(1, 5000).sit(2, 5000)
    does(game, "operator", "O1", PauseTable(id=""))
    assert does(game, "player", "P1", SitOut(id="")) == (PlayerSatOut(seat=1, at=NOON),)
    owed = debt(game.table)
    assert owed is not None
    assert (owed.service, owed.duty, owed.due) == ("table", "vacate_seat", NOON + timedelta(minutes=15))
    game.wait(MINUTES_15 - 1)
    assert not game.owed()
    game.wait(1)
    assert game.owed()
    assert game.events[-1] == PlayerLeft(seat=1, player="P1", stack=5000, at=game.at, reason="sat_out")
    assert not game.owed()


def test_who_comes_back_in_time_begins_anew() -> None:
    """R11."""
    game = opened(config(sit_out_ms=MINUTES_15, sit_out_blinds=2)).sit(1, 5000)
    does(game, "player", "P1", SitOut(id=""))
    game.wait(MINUTES_15 - 1)
    does(game, "player", "P1", ReturnToPlay(id=""))
    assert game.last(PlayerReturned) == PlayerReturned(seat=1, owes="none", choice="wait")
    game.wait(1000)
    assert not game.owed()
    does(game, "player", "P1", SitOut(id=""))
    record = game.table.seats[1]
    assert (record.sat_out_at, record.missed) == (game.at, 0)


def test_the_time_counts_from_the_end_of_the_hand_in_which_the_player_asked() -> None:
    """R11, R119: in a hand the player sits out only after it, and loses nothing of it meanwhile."""
    game = Game(config(sit_out_ms=MINUTES_15)).given({1: 5000, 2: 5000, 3: 5000}, button=1)
    does(game, "player", "P1", SitOut(id=""))
    game.settle().wait(20_000).when(fold_(2))
    assert game.last(PlayerSatOut) == PlayerSatOut(seat=1, at=NOON + timedelta(seconds=20))


def test_a_seat_is_not_lost_in_the_middle_of_a_hand() -> None:
    """R11: the hand of the others is played; the seat is free before the next one."""
    game = Game(config(sit_out_ms=10_000, act_ms=60_000))
    game.between_hands(players(1, 2) | players(3, sitting_out=True, sat_out_at=NOON), Positions(button=1))
    assert game.owed()
    game.settle().wait(15_000)
    owed = debt(game.table)
    assert owed is not None
    assert owed.duty == "act_for_player"
    turn = game.turn
    assert turn is not None
    game.when(fold_(turn.seat))
    assert game.owed()
    assert game.last(PlayerLeft) == PlayerLeft(seat=3, player="P3", stack=5000, at=game.at, reason="sat_out")
    assert game.owed()
    assert {record.seat for record in game.last(HandStarted).table.seats} == {1, 2}


def test_who_misses_the_big_blind_too_often_loses_the_seat() -> None:
    """R11, R24: seat 3 sits out; the big blind moves past it in hands 1 and 4, and is owed only once."""
    game = Game(config(sit_out_blinds=2, seats=4))
    sat_out = players(3, sitting_out=True)
    game.between_hands(players(1, 2, 4) | sat_out, Positions(button=4, small_blind=1, big_blind=2))
    seen = []
    for _ in range(4):
        assert game.owed()
        record = next(record for record in game.last(HandStarted).table.seats if record.seat == 3)
        assert all(other.missed == 0 for other in game.last(HandStarted).table.seats if other.seat != 3)
        seen.append((record.owes, record.missed))
        game.settle()
        while game.turn is not None:
            game.when(fold_(game.turn.seat))
    assert seen == [("missed_big", 1), ("missed_both", 1), ("missed_both", 1), ("missed_both", 2)]
    assert game.owed()
    assert game.events[-1] == PlayerLeft(seat=3, player="P3", stack=5000, at=NOON, reason="sat_out")


def test_since_when_a_player_sits_out_is_known_where_missed_blinds_are_counted() -> None:
    """R11: one limit of the two is enough."""
    game = opened(config(sit_out_blinds=2)).sit(1, 5000)
    assert does(game, "player", "P1", SitOut(id="")) == (PlayerSatOut(seat=1, at=NOON),)


def test_missed_blinds_are_not_counted_where_nobody_loses_a_seat_for_them() -> None:
    """DESIGN 2: an old log is derived again byte for byte."""
    game = Game(config(seats=4))
    sat_out = players(3, sitting_out=True)
    game.between_hands(players(1, 2, 4) | sat_out, Positions(button=4, small_blind=1, big_blind=2))
    assert game.owed()
    record = next(record for record in game.last(HandStarted).table.seats if record.seat == 3)
    assert (record.owes, record.missed) == ("missed_big", 0)


def test_who_loses_the_seat_with_a_top_up_open_gives_that_up_first() -> None:
    """R11, R136: busted, and the re-buy is not answered in time."""
    game = opened(cash(sit_out_ms=10_000))
    game.between_hands(players(1, stack=0, sitting_out=True, sat_out_at=NOON))
    does(game, "lobby", "L1", TopUp(id="", player="P1", amount=4000))
    request = game.table.n
    game.wait(10_000)
    assert game.owed()
    assert game.events[-2:] == [
        TopUpReleased(seat=1, player="P1", request=request, reason="left"),
        PlayerLeft(seat=1, player="P1", stack=0, at=game.at, reason="sat_out"),
    ]


def alone(**options: object) -> Game:
    """Hand 1 was the last one for which there were two players; seat 1 is alone."""
    game = Game(config(**options)).given({1: 5000, 2: 5000}, button=1)  # type: ignore[arg-type]
    does(game, "player", "P1", LeaveTable(id=""))
    return game.settle()


def test_a_table_breaks_when_no_hand_could_start_for_too_long() -> None:
    """R12: the last player is paid out, and told that nobody asked for it."""
    game = alone(break_ms=50_000)
    does(game, "lobby", "L1", ReserveSeat(id="", player="K"))
    reserved = game.table.n
    game.wait(49_999)
    assert not game.owed()
    game.wait(1)
    owed = debt(game.table)
    assert owed is not None
    assert (owed.service, owed.duty) == ("table", "break_table")
    assert game.owed()
    assert game.events[-3:] == [
        SeatReleased(seat=1, player="K", request=reserved, reason="table_closed"),
        PlayerLeft(seat=2, player="P2", stack=5050, at=game.at, reason="table_closed"),
        TableClosed(reason="broken"),
    ]
    assert debt(game.table) is None


def test_a_table_does_not_break_while_it_can_play_is_paused_or_may_not() -> None:
    """R12."""
    for game in (alone(), alone(break_ms=60_000), alone(break_ms=60_000)):
        if game.config.options.break_ms and game.table.status == "open":
            does(game, "operator", "O1", PauseTable(id=""))
        game.wait(120_000)
        assert not game.owed()
    game = alone(break_ms=60_000)
    does(game, "lobby", "L1", TakeSeat(id="", player="P3", buy_in=5000))
    game.wait(60_000)
    assert game.owed()
    assert isinstance(game.events[-1], HandStarted)


def test_a_paused_table_that_is_resumed_too_late_breaks() -> None:
    game = alone(break_ms=60_000)
    does(game, "operator", "O1", PauseTable(id=""))
    game.wait(120_000)
    does(game, "operator", "O1", ResumeTable(id=""))
    assert game.owed()
    assert game.table.status == "closed"


def limits(table: TableConfig, minutes_ago: int) -> Range:
    """What P1 may come back with, who left with 35000."""
    game = opened(table)
    left = NOON - timedelta(minutes=minutes_ago)
    game.table.departures = (Departure(player="P1", stack=35_000, at=left),)
    return buy_in_range(game.table, table, "P1", NOON)


def test_how_long_a_player_comes_back_with_no_less_is_an_option() -> None:
    """R10: 30 minutes at another house, none at all, or longer than any calendar goes."""
    assert limits(cash(), 119) == Range(35_000, 35_000)
    assert limits(cash(), 120) == Range(4000, 20_000)
    assert limits(cash(rathole_ms=1_800_000), 29) == Range(35_000, 35_000)
    assert limits(cash(rathole_ms=1_800_000), 30) == Range(4000, 20_000)
    assert limits(cash(rathole_ms=0), 0) == Range(4000, 20_000)
    assert limits(cash(rathole_ms=CHIPS_MAX), 10_000_000) == Range(35_000, 35_000)


@pytest.mark.parametrize(("rules", "least"), [(1, 35_000), (2, 35_000), (3, 4000)])
def test_a_player_comes_back_with_what_the_last_departure_took_away(rules: int, least: int) -> None:
    """R10: left with 35000, came back with them and lost them; before rules 3 the largest departure counts."""
    game = opened(replace(cash(rules=rules), bankroll="lobby"))
    for stack in (35_000, 0):
        game.between_hands({1: SeatRecord(seat=1, player="P1", stack=stack, sat=1)})
        does(game, "player", "P1", LeaveTable(id=""))
        game.wait(60_000)
    assert buy_in_range(game.table, game.config, "P1", game.at) == Range(least, max(least, 20_000))
    taken = game.send("lobby", "L1", TakeSeat(id="", player="P1", buy_in=4000))
    assert isinstance(taken, Rejected) is (least > 4000)


def test_a_departure_is_remembered_as_long_as_the_option_says() -> None:
    """R10: over the next hands, which restate the table, and no longer."""
    game = Game(config(rathole_ms=60_000, buy_in=LIMITS)).given({1: 5000, 2: 5000, 3: 5000}, button=3)
    does(game, "player", "P3", LeaveTable(id=""))
    game.settle().when(fold_(1)).wait(59_999)
    assert game.owed()
    assert [left.player for left in game.last(HandStarted).table.departures] == ["P3"]
    game.settle()
    assert game.turn is not None
    game.when(fold_(game.turn.seat)).wait(1)
    assert game.owed()
    assert game.last(HandStarted).table.departures == ()


def test_the_last_departures_alone_are_remembered() -> None:
    """What is stated in every hand has to fit into a message."""
    game = Game(config()).given({1: 5000, 2: 5000}, button=1)
    game.table.departures = tuple(Departure(player=f"X{n}", stack=1, at=NOON) for n in range(DEPARTURES_MAX + 5))
    game.when(fold_(1))
    assert game.owed()
    kept = game.last(HandStarted).table.departures
    assert (len(kept), kept[0].player) == (DEPARTURES_MAX, "X5")
