"""Seats that are kept for players (R4): with whom, for how long, and how that ends."""

from datetime import timedelta

import pytest

from contracts.commands import LeaveTable, ReleaseSeat, ReserveSeat, TakeSeat
from contracts.events.seats import SeatReleased, SeatReserved
from contracts.events.state import Reservation, SeatRecord
from contracts.events.table import HandStarted, PlayerSeated
from contracts.games import TableConfig
from contracts.outcomes import Allowed
from services.aggregate.debts import debt
from tests.table.cash import cash, does, opened, paid, refused
from tests.table.stories import NOON, Game, config, fold_

MINUTE = timedelta(minutes=1)
FREE = config(seats=4)


def kept(seat: int, player: str, number: int, **more: object) -> Reservation:
    fields = {"seat": seat, "player": player, "number": number, "expires": NOON + MINUTE} | more
    return Reservation(**fields)  # type: ignore[arg-type]


def test_a_seat_that_a_lobby_reserves_is_kept_for_the_player_alone() -> None:
    """R4: the number is that of the commit; another player gets the next free seat, or is told which are free."""
    game = opened(FREE)
    assert does(game, "lobby", "L1", ReserveSeat(id="", player="P1")) == (SeatReserved(reservation=kept(1, "P1", 2)),)
    assert game.table.seats == {}
    other = refused(game, "lobby", "L1", TakeSeat(id="", player="P2", buy_in=500, seat=1))
    assert other == ("seat_reserved", Allowed(seats=(2, 3, 4)))
    assert does(game, "lobby", "L1", ReserveSeat(id="", player="P2", seat=3))[0] == SeatReserved(
        reservation=kept(3, "P2", 3)
    )
    third = does(game, "lobby", "L1", TakeSeat(id="", player="P3", buy_in=500))
    assert third == (PlayerSeated(record=SeatRecord(seat=2, player="P3", stack=500, sat=1)),)


def test_a_kept_seat_is_taken_by_its_player() -> None:
    """R4, R6: the seat needs not to be named; another one is not given beside it."""
    game = opened(FREE)
    does(game, "lobby", "L1", ReserveSeat(id="", player="P1", seat=2))
    elsewhere = refused(game, "lobby", "L1", TakeSeat(id="", player="P1", buy_in=500, seat=3))
    assert elsewhere == ("seat_reserved", Allowed(actions=("release_seat",), seats=(2,)))
    seated = does(game, "lobby", "L1", TakeSeat(id="", player="P1", buy_in=500, choice="post"))
    assert seated == (PlayerSeated(record=SeatRecord(seat=2, player="P1", stack=500, sat=1, choice="post")),)
    assert game.table.reservations == {}


def test_nobody_has_two_seats_kept_or_one_beside_the_own() -> None:
    """R2: one account holds at most one seat at a table."""
    game = opened(FREE).sit(1, 500)
    does(game, "lobby", "L1", ReserveSeat(id="", player="P9"))
    twice = refused(game, "lobby", "L1", ReserveSeat(id="", player="P9"))
    assert twice == ("seat_reserved", Allowed(actions=("take_seat", "release_seat"), seats=(2,)))
    seated = refused(game, "lobby", "L1", ReserveSeat(id="", player="P1"))
    assert seated == ("already_seated", Allowed(seats=(1,)))
    held = refused(game, "lobby", "L1", ReserveSeat(id="", player="P8", seat=1))
    assert held == ("seat_taken", Allowed(seats=(3, 4)))


def test_a_table_whose_last_seat_is_kept_is_full() -> None:
    game = opened(config(seats=2)).sit(1, 500)
    does(game, "lobby", "L1", ReserveSeat(id="", player="P9"))
    full = refused(game, "lobby", "L1", TakeSeat(id="", player="P8", buy_in=500))
    assert full == ("table_full", Allowed(actions=("join_waiting_list",), hand=0))


@pytest.mark.parametrize(("kind", "who", "player"), [("player", "P1", None), ("lobby", "L1", "P1")])
def test_a_kept_seat_is_given_up(kind: object, who: str, player: str | None) -> None:
    game = opened(FREE)
    does(game, "lobby", "L1", ReserveSeat(id="", player="P1"))
    command = ReleaseSeat(id="", player=player)
    assert does(game, kind, who, command) == (  # type: ignore[arg-type]
        SeatReleased(seat=1, player="P1", request=2, reason="cancelled"),
    )
    again = refused(game, kind, who, command)  # type: ignore[arg-type]
    assert again == ("no_request", Allowed(actions=("reserve_seat",)))


@pytest.mark.parametrize("table", [FREE, cash(seats=4)])
def test_a_reservation_that_runs_out_is_a_debt_of_the_table(table: TableConfig) -> None:
    """Nothing waits for ever: after a minute the seat is free, in one commit with others that are over."""
    game = opened(table)
    does(game, "lobby", "L1", ReserveSeat(id="", player="P1"))
    does(game, "lobby", "L1", ReserveSeat(id="", player="P2"))
    game.wait(30_000)
    does(game, "lobby", "L1", ReserveSeat(id="", player="P3"))
    game.wait(29_999)
    assert not game.owed()
    game.wait(1)
    assert game.owed()
    assert game.events[-2:] == [
        SeatReleased(seat=1, player="P1", request=2, reason="expired"),
        SeatReleased(seat=2, player="P2", request=3, reason="expired"),
    ]
    assert list(game.table.reservations) == [3]
    assert not game.owed()


def test_a_seat_is_taken_in_time_as_long_as_its_release_is_not_in_the_log() -> None:
    """As for a decision: the log alone says who was first."""
    game = opened(FREE)
    does(game, "lobby", "L1", ReserveSeat(id="", player="P1"))
    game.wait(60_000)
    assert does(game, "lobby", "L1", TakeSeat(id="", player="P1", buy_in=500))
    assert not game.owed()


def test_a_reservation_runs_out_in_the_middle_of_a_hand() -> None:
    """The hand goes on: the time of the turn is over later, and what is due first is owed first."""
    game = Game(config(seats=4, act_ms=90_000)).given({1: 5000, 2: 5000}, button=1)
    does(game, "lobby", "L1", ReserveSeat(id="", player="P9"))
    game.wait(60_000)
    owed = debt(game.table)
    assert owed is not None
    assert owed.duty == "release_seat"
    assert game.owed()
    game.when(fold_(1))
    assert game.table.hand is None


def test_the_fold_from_a_hand_knows_the_seats_that_are_kept() -> None:
    """DESIGN 2: what is kept between hands stands in `hand_started`."""
    game = Game(cash()).given({1: 5000, 2: 5000}, button=1)
    does(game, "lobby", "L1", TakeSeat(id="", player="P9", buy_in=5000))
    request = game.table.n
    game.when(fold_(1))
    assert game.owed()
    started = game.last(HandStarted)
    assert started.table.reservations == (kept(3, "P9", request, buy_in=5000),)
    assert started.table.moved == game.table.moved
    assert paid(game, request)[0] == PlayerSeated(
        record=SeatRecord(seat=3, player="P9", stack=5000, sat=3, owes="new"), request=request
    )


def test_who_leaves_makes_room_for_a_reservation_at_once() -> None:
    game = opened(config(seats=2)).sit(1, 500).sit(2, 500)
    does(game, "player", "P1", LeaveTable(id=""))
    assert does(game, "lobby", "L1", ReserveSeat(id="", player="P3"))
    assert list(game.table.reservations) == [1]
