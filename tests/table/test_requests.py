"""Buy-ins and top-ups at a table whose chips are the cashier's: asked for, answered, and closed exactly once (R136)."""

from datetime import timedelta

import pytest

from contracts.commands import (
    CloseTable,
    ConfirmRequest,
    LeaveTable,
    ReleaseSeat,
    ReserveSeat,
    TakeSeat,
    TopUp,
)
from contracts.commit import Cause
from contracts.data import CHIPS_MAX
from contracts.events.seats import (
    SeatReleased,
    SeatReserved,
    StackToppedUp,
    TopUpQueued,
    TopUpReleased,
    TopUpRequested,
)
from contracts.events.state import Actor, Reservation, SeatRecord
from contracts.events.table import LeaveRequested, PlayerLeft, PlayerSatOut, PlayerSeated, TableClosed
from contracts.games import BuyIn
from contracts.outcomes import Allowed
from services.dealer.scripted import Script
from services.table.refusals import refused_events
from tests.table.cash import at_the_table, cash, does, opened, paid, refused, unpaid
from tests.table.stories import NOON, Game, all_in, call, check, fold_, raise_to

MINUTE = timedelta(minutes=1)
TAKE = TakeSeat(id="", player="P1", buy_in=5000, choice="post")
ASKED = SeatReserved(
    reservation=Reservation(seat=1, player="P1", number=2, expires=NOON + MINUTE, buy_in=5000, choice="post")
)


def seated(**options: object) -> Game:
    """P1 has seat 1 with 5000 chips; the buy-in was request 2."""
    game = opened(cash(**options))  # type: ignore[arg-type]
    does(game, "lobby", "L1", TAKE)
    paid(game, 2)
    return game


def two_handed(*, stacks: tuple[int, int] = (5000, 5000), script: Script = Script()) -> Game:  # noqa: B008
    """Button 1, blinds 50/100; seat 1 is to act in hand 1."""
    return Game(cash(), script).given({1: stacks[0], 2: stacks[1]}, button=1)


def top_up(game: Game, player: str, amount: int) -> int:
    """Asks for a top-up; gives the number of the request."""
    does(game, "lobby", "L1", TopUp(id="", player=player, amount=amount))
    return game.table.n


def test_a_seat_is_kept_until_the_cashier_has_paid_and_then_taken() -> None:
    """R6, R136: the request is numbered by its commit; no chips are at the table before it is paid."""
    game = opened(cash())
    assert does(game, "lobby", "L1", TAKE) == (ASKED,)
    assert (game.table.moved, at_the_table(game)) == (2, 0)
    record = SeatRecord(seat=1, player="P1", stack=5000, sat=1, choice="post")
    assert paid(game, 2) == (PlayerSeated(record=record, request=2),)
    assert (game.table.seats, game.table.reservations, game.table.moved) == ({1: record}, {}, 3)


def test_who_sits_down_has_a_full_time_bank() -> None:
    """R117."""
    assert seated(time_bank_ms=20_000).table.seats[1].time_bank == 20_000


def test_who_leaves_cannot_add_chips_any_more() -> None:
    """R120: what would be asked for now could never come in."""
    game = two_handed()
    does(game, "player", "P2", LeaveTable(id=""))
    late = refused(game, "lobby", "L1", TopUp(id="", player="P2", amount=100))
    assert late == ("illegal_action", Allowed(hand=1))


def test_the_buy_in_is_checked_before_the_cashier_is_asked() -> None:
    """R6."""
    game = opened(cash())
    small = refused(game, "lobby", "L1", TakeSeat(id="", player="P1", buy_in=3999))
    assert small == ("buy_in_out_of_range", Allowed(minimum=4000, maximum=20_000))


def test_what_is_asked_for_counts_as_if_it_were_there() -> None:
    """R143: all chips of a table together, with those that the cashier may still send, are an amount."""
    game = opened(cash(buy_in=BuyIn(minimum=1)))
    does(game, "lobby", "L1", TakeSeat(id="", player="P1", buy_in=CHIPS_MAX - 100))
    too_much = refused(game, "lobby", "L1", TakeSeat(id="", player="P2", buy_in=101))
    assert too_much == ("buy_in_out_of_range", Allowed(minimum=1, maximum=100))
    paid(game, game.table.n)
    request = top_up(game, "P1", 60)
    assert refused(game, "lobby", "L1", TakeSeat(id="", player="P2", buy_in=41))[1].maximum == 40
    paid(game, request)
    assert at_the_table(game) == CHIPS_MAX - 40


def test_a_buy_in_that_the_cashier_refuses_frees_the_seat() -> None:
    game = opened(cash())
    does(game, "lobby", "L1", TAKE)
    released = SeatReleased(seat=1, player="P1", request=2, reason="refused", message="not enough")
    assert unpaid(game, 2, "not enough") == (released,)
    assert (game.table.seats, game.table.reservations) == ({}, {})


def test_a_second_buy_in_waits_for_the_answer_to_the_first() -> None:
    game = opened(cash())
    does(game, "lobby", "L1", TAKE)
    twice = refused(game, "lobby", "L1", TAKE)
    assert twice == ("seat_reserved", Allowed(actions=("release_seat",), seats=(1,)))


@pytest.mark.parametrize("is_paid", [True, False])
def test_an_answer_is_taken_once(is_paid: bool) -> None:  # noqa: FBT001
    """The cashier asks again as long as the log shows an open request: a copy finds none, and is not written down."""
    game = opened(cash())
    does(game, "lobby", "L1", TAKE)
    answer = ConfirmRequest(id="", request=2, paid=is_paid)
    does(game, "cashier", "C1", answer)
    assert refused(game, "cashier", "C1", answer) == ("no_request", Allowed(hand=0))


@pytest.mark.parametrize("request_", [1, 2])
def test_an_answer_to_no_request_is_refused_and_not_written_down(request_: int) -> None:
    """Neither the number of a commit that asked for nothing, nor that of a reservation without chips."""
    game = opened(cash())
    does(game, "lobby", "L1", ReserveSeat(id="", player="P1"))
    answer = ConfirmRequest(id="", request=request_, paid=True)
    outcome = game.send("cashier", "C1", answer)
    assert not isinstance(outcome, tuple)
    cause = Cause(actor=Actor(kind="cashier", name="C1"), arrived=NOON, command=answer)
    assert (outcome.code, refused_events(outcome, cause)) == ("no_request", ())


def test_an_answer_after_the_reservation_ran_out_comes_too_late() -> None:
    """The cashier sees the release, and pays back what it had paid."""
    game = opened(cash())
    does(game, "lobby", "L1", TAKE)
    game.wait(60_000)
    assert game.owed()
    assert game.last(SeatReleased) == SeatReleased(seat=1, player="P1", request=2, reason="expired")
    late = refused(game, "cashier", "C1", ConfirmRequest(id="", request=2, paid=True))
    assert late == ("no_request", Allowed(hand=0))


def test_a_top_up_that_nobody_answers_is_given_up_and_another_one_may_be_asked_for() -> None:
    """Nothing waits for ever: a player is not charged long after the chips were asked for."""
    game = seated()
    request = top_up(game, "P1", 1500)
    game.wait(59_000)
    assert not game.owed()
    game.wait(1000)
    assert game.owed()
    assert game.last(TopUpReleased) == TopUpReleased(seat=1, player="P1", request=request, reason="expired")
    assert refused(game, "cashier", "C1", ConfirmRequest(id="", request=request, paid=True))[0] == "no_request"
    again = top_up(game, "P1", 600)
    assert paid(game, again) == (StackToppedUp(seat=1, amount=600, stack=5600, request=again, player="P1"),)


def test_a_player_who_thinks_better_of_it_closes_the_request() -> None:
    game = opened(cash())
    does(game, "lobby", "L1", TAKE)
    given_up = does(game, "player", "P1", ReleaseSeat(id=""))
    assert given_up == (SeatReleased(seat=1, player="P1", request=2, reason="cancelled"),)
    assert refused(game, "cashier", "C1", ConfirmRequest(id="", request=2, paid=True))[0] == "no_request"


def test_a_buy_in_that_is_paid_in_the_middle_of_a_hand_is_a_newcomers() -> None:
    """R21."""
    game = two_handed()
    does(game, "lobby", "L1", TakeSeat(id="", player="P9", buy_in=5000))
    paid(game, game.table.n)
    assert game.table.seats[3] == SeatRecord(seat=3, player="P9", stack=5000, sat=3, owes="new")


def test_a_top_up_between_hands_comes_in_when_it_is_paid() -> None:
    """R7: between the request and the answer nothing changes but that it is open."""
    game = seated()
    assert does(game, "lobby", "L1", TopUp(id="", player="P1", amount=1500)) == (
        TopUpRequested(seat=1, player="P1", request=4, amount=1500, expires=NOON + MINUTE),
    )
    assert (game.table.seats[1].request, game.table.seats[1].requested, game.table.moved) == (4, 1500, 4)
    assert paid(game, 4) == (StackToppedUp(seat=1, amount=1500, stack=6500, request=4, player="P1"),)
    assert (game.table.seats[1].stack, game.table.seats[1].request, game.table.seats[1].requested) == (6500, None, 0)


def test_a_top_up_is_checked_before_the_cashier_is_asked() -> None:
    """R7."""
    game = seated()
    much = refused(game, "lobby", "L1", TopUp(id="", player="P1", amount=15_001))
    assert much == ("buy_in_out_of_range", Allowed(minimum=1, maximum=15_000))
    assert refused(game, "lobby", "L1", TopUp(id="", player="P1", amount=0))[0] == "below_minimum"


def test_one_top_up_of_a_seat_is_open_at_a_time() -> None:
    game = seated()
    request = top_up(game, "P1", 100)
    again = refused(game, "lobby", "L1", TopUp(id="", player="P1", amount=100))
    assert again == ("illegal_action", Allowed(number=request, hand=0))
    paid(game, request)
    assert top_up(game, "P1", 100) == request + 2


def test_a_top_up_that_the_cashier_refuses_is_open_no_more() -> None:
    game = seated()
    request = top_up(game, "P1", 100)
    released = TopUpReleased(seat=1, player="P1", request=request, reason="refused", message="frozen")
    assert unpaid(game, request, "frozen") == (released,)
    assert (game.table.seats[1].stack, game.table.seats[1].request) == (5000, None)


def test_a_top_up_that_is_paid_in_a_hand_waits_for_its_end() -> None:
    """R7, C07: of 15000 paid, 12050 come in up to the maximum, and the cashier sees what is to go back to whom."""
    game = two_handed(stacks=(8000, 8000))
    request = top_up(game, "P1", 15_000)
    assert paid(game, request) == (TopUpQueued(seat=1, amount=15_000, queued=15_000, request=request),)
    game.when(fold_(1))
    assert game.last(StackToppedUp) == StackToppedUp(seat=1, amount=12_050, stack=20_000, unused=2950, player="P1")
    assert game.table.moved == game.table.n


def test_two_top_ups_of_one_hand_wait_together() -> None:
    """R7: the second is asked for when the first is paid."""
    game = two_handed()
    paid(game, top_up(game, "P1", 100))
    request = top_up(game, "P1", 200)
    assert paid(game, request) == (TopUpQueued(seat=1, amount=200, queued=300, request=request),)
    game.when(fold_(1))
    assert game.last(StackToppedUp) == StackToppedUp(seat=1, amount=300, stack=5250, player="P1")


def test_a_top_up_that_is_asked_for_in_a_hand_and_paid_after_it_comes_in_at_once() -> None:
    """R7: 12000 asked for with 19000 on the table; 1050 fit when it is paid."""
    game = two_handed(stacks=(19_000, 5000))
    request = top_up(game, "P1", 12_000)
    game.when(fold_(1))
    assert paid(game, request) == (
        StackToppedUp(seat=1, amount=1050, stack=20_000, unused=10_950, request=request, player="P1"),
    )


@pytest.mark.parametrize(("amount", "comes_in"), [(3999, 0), (4000, 4000)])
def test_a_busted_player_is_back_with_the_minimum_at_least(amount: int, comes_in: int) -> None:
    """R8: asked for in the hand, paid after it."""
    script = Script({1: ("As", "Ad"), 2: ("2c", "7d")}, ("Ac", "Kd", "9h", "8s", "3c"))
    game = two_handed(stacks=(5000, 400), script=script)
    request = top_up(game, "P2", amount)
    game.when(all_in(1), call(2))
    assert game.last(PlayerSatOut) == PlayerSatOut(seat=2, reason="no_chips")
    topped = paid(game, request)[0]
    assert topped == StackToppedUp(
        seat=2, amount=comes_in, stack=comes_in, unused=amount - comes_in, request=request, player="P2"
    )


def test_a_re_buy_is_asked_for_within_the_limits_of_a_buy_in() -> None:
    """R8."""
    game = opened(cash())
    game.between_hands({1: SeatRecord(seat=1, player="P1", stack=0, sat=1, sitting_out=True)})
    little = refused(game, "lobby", "L1", TopUp(id="", player="P1", amount=3999))
    assert little == ("buy_in_out_of_range", Allowed(minimum=4000, maximum=20_000))


def test_who_leaves_between_hands_with_a_request_open_gives_it_up() -> None:
    """R9: the request is closed before the seat is free."""
    game = seated()
    request = top_up(game, "P1", 100)
    assert does(game, "player", "P1", LeaveTable(id="")) == (
        TopUpReleased(seat=1, player="P1", request=request, reason="left"),
        PlayerLeft(seat=1, player="P1", stack=5000, at=NOON),
    )
    assert refused(game, "cashier", "C1", ConfirmRequest(id="", request=request, paid=True))[0] == "no_request"


def test_who_leaves_in_a_hand_with_a_request_open_gives_it_up_at_the_hands_end() -> None:
    """R120: facing a bet, the player folds at once; what is not answered by then does not come in."""
    game = two_handed()
    request = top_up(game, "P1", 100)
    assert does(game, "player", "P1", LeaveTable(id="")) == (LeaveRequested(seat=1),)
    more = refused(game, "lobby", "L1", TopUp(id="", player="P1", amount=100))
    assert more[0] == "illegal_action"
    game.settle()
    assert game.events[-2:] == [
        TopUpReleased(seat=1, player="P1", request=request, reason="left"),
        PlayerLeft(seat=1, player="P1", stack=4950, at=NOON),
    ]


def test_who_leaves_with_chips_queued_takes_them_along() -> None:
    """R7, R9: they never came in, and are owed to the player as they were paid."""
    game = two_handed()
    paid(game, top_up(game, "P1", 700))
    does(game, "player", "P1", LeaveTable(id=""))
    game.settle()
    assert game.last(PlayerLeft) == PlayerLeft(seat=1, player="P1", stack=4950, at=NOON, unused=700)
    assert at_the_table(game) == 5050


def test_who_leaves_in_the_big_blind_loses_it_and_nothing_more() -> None:
    """R120: seat 2 posted 100 and is raised; the request that is paid meanwhile is queued and goes back."""
    game = two_handed()
    request = top_up(game, "P2", 700)
    does(game, "player", "P2", LeaveTable(id=""))
    paid(game, request)
    game.when(raise_to(1, 300))
    assert game.last(PlayerLeft) == PlayerLeft(seat=2, player="P2", stack=4900, at=NOON, unused=700)


def test_who_leaves_all_in_takes_what_is_won_and_what_is_queued() -> None:
    """R120: seat 2 doubles up."""
    script = Script({1: ("2c", "7d"), 2: ("As", "Ad")}, ("Ac", "Kd", "9h", "8s", "3c"))
    game = two_handed(stacks=(5000, 1000), script=script)
    game.when(call(1), raise_to(2, 1000))
    paid(game, top_up(game, "P2", 4000))
    does(game, "player", "P2", LeaveTable(id=""))
    game.when(call(1))
    assert game.last(PlayerLeft) == PlayerLeft(seat=2, player="P2", stack=2000, at=NOON, unused=4000)


def test_who_leaves_between_two_streets_folds_when_it_would_be_the_turn() -> None:
    """R120, R150: no turn is open while the board is dealt."""
    game = two_handed()
    game.when(call(1), check(2))
    does(game, "player", "P1", LeaveTable(id=""))
    game.when(check(2))
    assert game.table.hand is None
    assert game.last(PlayerLeft) == PlayerLeft(seat=1, player="P1", stack=4900, at=NOON)


def test_a_table_that_closes_gives_up_all_requests_first() -> None:
    """Nobody is seated at a table that is no more; the log says why each went."""
    game = seated()
    request = top_up(game, "P1", 100)
    does(game, "lobby", "L1", TakeSeat(id="", player="P2", buy_in=4000))
    assert does(game, "operator", "O1", CloseTable(id="")) == (
        SeatReleased(seat=2, player="P2", request=request + 1, reason="table_closed"),
        TopUpReleased(seat=1, player="P1", request=request, reason="left"),
        PlayerLeft(seat=1, player="P1", stack=5000, at=NOON, reason="table_closed"),
        TableClosed(),
    )
