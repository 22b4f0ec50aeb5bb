"""Who waits for a seat, and who gets it: first come, first served, and nobody for ever."""

from datetime import timedelta

from contracts.commands import (
    ChangeOptions,
    JoinWaitingList,
    LeaveTable,
    LeaveWaitingList,
    ReleaseSeat,
    ReserveSeat,
    TakeSeat,
)
from contracts.events.seats import SeatReleased, SeatReserved, WaitingListChanged
from contracts.events.state import Reservation, SeatRecord
from contracts.events.table import HandStarted, PlayerSeated
from contracts.outcomes import Allowed
from services.aggregate.debts import debt
from services.table.waiting_list import WAITING_MAX
from tests.table.cash import cash, does, opened, paid, refused
from tests.table.stories import NOON, Game, config, fold_

MINUTE = timedelta(minutes=1)


def full() -> Game:
    return opened(config(seats=2)).sit(1, 500).sit(2, 500)


def waiting(game: Game, *players: str) -> Game:
    for player in players:
        does(game, "player", player, JoinWaitingList(id=""))
    return game


def test_players_wait_in_the_order_in_which_they_came() -> None:
    game = waiting(full(), "A", "B")
    assert does(game, "lobby", "L1", JoinWaitingList(id="", player="C")) == (
        WaitingListChanged(players=("A", "B", "C")),
    )
    assert does(game, "player", "B", LeaveWaitingList(id="")) == (WaitingListChanged(players=("A", "C")),)
    assert debt(game.table) is None or debt(game.table).service == "table"  # type: ignore[union-attr]


def test_who_may_not_wait() -> None:
    game = waiting(full(), "A")
    assert refused(game, "player", "A", JoinWaitingList(id="")) == (
        "already_waiting",
        Allowed(actions=("leave_waiting_list",)),
    )
    assert refused(game, "player", "P1", JoinWaitingList(id="")) == ("already_seated", Allowed(seats=(1,)))
    assert refused(game, "player", "B", LeaveWaitingList(id="")) == (
        "not_waiting",
        Allowed(actions=("join_waiting_list",)),
    )
    free = opened(config(seats=3))
    does(free, "lobby", "L1", ReserveSeat(id="", player="K"))
    assert refused(free, "player", "K", JoinWaitingList(id="")) == (
        "seat_reserved",
        Allowed(actions=("take_seat", "release_seat"), seats=(1,)),
    )


def test_the_list_has_an_end() -> None:
    """It is stated in every hand: 100 names, and no more."""
    game = full()
    game.append("table", (WaitingListChanged(players=tuple(f"W{n}" for n in range(WAITING_MAX))),))
    assert refused(game, "player", "X", JoinWaitingList(id="")) == ("table_full", Allowed(maximum=100))


def test_a_seat_that_gets_free_is_offered_to_the_first_who_waits() -> None:
    """One commit: the seat is kept for a minute, and the player stands in the list no more."""
    game = waiting(full(), "A", "B")
    does(game, "player", "P2", LeaveTable(id=""))
    owed = debt(game.table)
    assert owed is not None
    assert (owed.service, owed.duty, owed.due) == ("table", "offer_seat", None)
    assert game.owed()
    number = game.table.n
    assert game.events[-2:] == [
        SeatReserved(reservation=Reservation(seat=2, player="A", number=number, expires=NOON + MINUTE)),
        WaitingListChanged(players=("B",)),
    ]
    jumping = refused(game, "lobby", "L1", TakeSeat(id="", player="B", buy_in=500))
    assert jumping == ("table_full", Allowed(actions=("join_waiting_list",), hand=0))
    assert does(game, "lobby", "L1", TakeSeat(id="", player="A", buy_in=500))[0] == PlayerSeated(
        record=SeatRecord(seat=2, player="A", stack=500, sat=3)
    )


def test_who_lets_the_offer_pass_gives_way_to_the_next() -> None:
    game = waiting(full(), "A", "B")
    does(game, "player", "P1", LeaveTable(id=""))
    assert game.owed()
    game.wait(60_000)
    number = game.table.n
    assert game.owed()
    assert game.owed()
    assert game.events[-3:] == [
        SeatReleased(seat=1, player="A", request=number, reason="expired"),
        SeatReserved(reservation=Reservation(seat=1, player="B", number=game.table.n, expires=NOON + 2 * MINUTE)),
        WaitingListChanged(players=()),
    ]
    does(game, "player", "B", ReleaseSeat(id=""))
    assert not game.owed()
    assert game.table.reservations == {}


def test_two_free_seats_are_offered_in_two_commits() -> None:
    """Each reservation is numbered by a commit of its own."""
    game = waiting(full(), "A", "B", "C")
    does(game, "player", "P1", LeaveTable(id=""))
    does(game, "player", "P2", LeaveTable(id=""))
    while game.owed():
        pass
    kept = game.table.reservations
    assert {seat: each.player for seat, each in kept.items()} == {1: "A", 2: "B"}
    assert kept[2].number == kept[1].number + 1
    assert game.table.waiting == ("C",)


def test_who_takes_or_has_a_seat_kept_stands_in_the_list_no_more() -> None:
    game = opened(config(seats=4)).sit(1, 500)
    game.append("table", (WaitingListChanged(players=("A", "B", "C")),))
    assert does(game, "lobby", "L1", TakeSeat(id="", player="B", buy_in=500))[0] == WaitingListChanged(
        players=("A", "C")
    )
    assert does(game, "lobby", "L1", ReserveSeat(id="", player="A"))[0] == WaitingListChanged(players=("C",))


def test_an_offered_seat_is_paid_for_by_the_cashier() -> None:
    """The request is numbered by the commit that asks for the chips, not by the one that offered the seat."""
    game = waiting(opened(cash(seats=2)), "A")
    assert game.owed()
    game.wait(10_000)
    asked = does(game, "lobby", "L1", TakeSeat(id="", player="A", buy_in=4000))
    number = game.table.n
    assert asked == (
        SeatReserved(
            reservation=Reservation(
                seat=1, player="A", number=number, expires=NOON + timedelta(seconds=70), buy_in=4000
            )
        ),
    )
    assert paid(game, number)[0] == PlayerSeated(
        record=SeatRecord(seat=1, player="A", stack=4000, sat=1), request=number
    )


def test_a_seat_is_offered_in_the_middle_of_a_hand_to_a_newcomer_who_owes() -> None:
    """R21: seat 3 was never dealt in; whoever comes in mid-hand owes a big blind, and is not in the hand."""
    game = Game(config(seats=3)).given({1: 5000, 2: 5000}, button=1)
    waiting(game, "A")
    assert game.owed()
    seated = does(game, "lobby", "L1", TakeSeat(id="", player="A", buy_in=500))
    assert seated == (PlayerSeated(record=SeatRecord(seat=3, player="A", stack=500, sat=3, owes="new")),)
    assert game.table.hand is not None
    assert set(game.table.hand.players) == {1, 2}


def test_no_seat_is_offered_that_the_next_hand_does_not_have() -> None:
    """RULES 0.1: the table is made smaller from the next hand on."""
    game = Game(config(seats=3)).given({1: 5000, 2: 5000}, button=1)
    smaller = config(seats=2)
    does(game, "operator", "O1", ChangeOptions(id="", config=smaller, reason="quiet night"))
    waiting(game, "A")
    owed = debt(game.table)
    assert owed is not None
    assert owed.duty == "act_for_player"
    game.when(fold_(1))
    assert game.owed()
    assert game.last(HandStarted).table.waiting == ("A",)
    assert game.table.reservations == {}
