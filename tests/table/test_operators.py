"""What operators do at a table: remove a player, correct a stack, change the options, close it (R124, RULES 0.1)."""

from typing import Any

import pytest
from msgspec.structs import replace

from contracts.commands import (
    AdjustStack,
    ChangeOptions,
    CloseTable,
    ConfirmRequest,
    JoinWaitingList,
    LeaveTable,
    LeaveWaitingList,
    PauseTable,
    ReleaseSeat,
    RemovePlayer,
    ReserveSeat,
    ResumeTable,
    SitOut,
    TakeSeat,
)
from contracts.data import CHIPS_MAX
from contracts.events.seats import SeatReleased, StackAdjusted, WaitingListChanged
from contracts.events.state import SeatRecord
from contracts.events.table import (
    HandStarted,
    LeaveRequested,
    OptionsChanged,
    PlayerLeft,
    PlayerSatOut,
    TableClosed,
)
from contracts.games import BuyIn, Stakes, TableConfig
from contracts.outcomes import Allowed, Rejected
from contracts.subjects import ActorKind
from tests.table.cash import at_the_table, cash, does, opened, refused
from tests.table.stories import NOON, Game, config, fold_

WHY = "see ticket 17"
OPEN = config(seats=6, buy_in=BuyIn(minimum=100, maximum=20_000))


def remove(player: str) -> RemovePlayer:
    return RemovePlayer(id="", player=player, reason=WHY)


def adjust(player: str, amount: int) -> AdjustStack:
    return AdjustStack(id="", player=player, amount=amount, reason=WHY, reference="T-17")


def change(table: TableConfig) -> ChangeOptions:
    return ChangeOptions(id="", config=table, reason=WHY)


@pytest.mark.parametrize(("kind", "who"), [("operator", "O1"), ("cashier", "C1")])
def test_a_player_is_removed_between_hands_with_the_whole_stack(kind: ActorKind, who: str) -> None:
    """R9: an operator does it, or the cashier for a frozen account; the log says that the player did not ask."""
    game = opened(OPEN).sit(1, 5000)
    gone = does(game, kind, who, remove("P1"))
    assert gone == (PlayerLeft(seat=1, player="P1", stack=5000, at=NOON, reason="removed"),)
    assert refused(game, kind, who, remove("P1")) == ("not_seated", Allowed(hand=0))


def test_a_player_is_removed_in_mid_hand_as_one_who_leaves() -> None:
    """R120: folds at once if it is the player's turn, and is paid out when the hand has ended."""
    game = Game(OPEN).given({1: 5000, 2: 5000}, button=1)
    assert does(game, "operator", "O1", remove("P1")) == (LeaveRequested(seat=1, removed=True),)
    assert refused(game, "operator", "O1", remove("P1")) == ("illegal_action", Allowed(hand=1))
    game.settle()
    assert game.last(PlayerLeft) == PlayerLeft(seat=1, player="P1", stack=4950, at=NOON, reason="removed")


def test_who_is_removed_has_no_seat_kept_and_waits_for_none() -> None:
    """A frozen player must not come back by an offer."""
    game = opened(config(seats=2)).sit(1, 500)
    does(game, "lobby", "L1", ReserveSeat(id="", player="A"))
    does(game, "player", "B", JoinWaitingList(id=""))
    assert does(game, "cashier", "C1", remove("A")) == (
        SeatReleased(seat=2, player="A", request=3, reason="cancelled"),
    )
    assert does(game, "cashier", "C1", remove("B")) == (WaitingListChanged(players=()),)


@pytest.mark.parametrize("amount", [1, 700, -1, -4999])
def test_a_stack_is_corrected_between_hands(amount: int) -> None:
    """R124: the reason and the reference stay in the log with the command."""
    game = opened(OPEN).sit(1, 5000)
    adjusted = StackAdjusted(seat=1, player="P1", amount=amount, stack=5000 + amount)
    assert does(game, "operator", "O1", adjust("P1", amount)) == (adjusted,)
    assert at_the_table(game) == 5000 + amount


def test_who_has_nothing_left_after_a_correction_sits_out() -> None:
    """R8, R124."""
    game = opened(replace(OPEN, options=replace(OPEN.options, sit_out_ms=60_000))).sit(1, 5000)
    assert does(game, "operator", "O1", adjust("P1", -5000)) == (
        StackAdjusted(seat=1, player="P1", amount=-5000, stack=0),
        PlayerSatOut(seat=1, reason="no_chips", at=NOON),
    )


CORRECTIONS = Allowed(minimum=-5000, maximum=CHIPS_MAX - 5000)


@pytest.mark.parametrize(
    ("amount", "answer"),
    [
        (0, ("below_minimum", CORRECTIONS)),
        (-5001, ("above_maximum", CORRECTIONS)),
        (CHIPS_MAX - 4999, ("above_maximum", CORRECTIONS)),
    ],
)
def test_no_stack_is_corrected_beyond_its_bounds(amount: int, answer: tuple[str, Allowed]) -> None:
    """R124, R143: never below 0, and all chips of a table together are an amount."""
    assert refused(opened(OPEN).sit(1, 5000), "operator", "O1", adjust("P1", amount)) == answer


def test_no_stack_is_corrected_in_a_hand() -> None:
    """R124: not even of one who is not dealt in: the table is to be paused first."""
    game = Game(OPEN).given({1: 5000, 2: 5000}, button=1)
    assert refused(game, "operator", "O1", adjust("P1", 1)) == (
        "hand_in_progress",
        Allowed(actions=("pause_table",), hand=1),
    )
    does(game, "operator", "O1", PauseTable(id=""))
    game.when(fold_(1))
    assert does(game, "operator", "O1", adjust("P1", 50))
    does(game, "operator", "O1", ResumeTable(id=""))
    assert game.owed()
    assert game.last(HandStarted).table.seats[0].stack == 5000


def test_options_change_at_once_between_hands() -> None:
    """RULES 0.1."""
    game = opened(OPEN).sit(1, 5000)
    then = replace(OPEN, stakes=Stakes(small_blind=100, big_blind=200))
    assert does(game, "operator", "O1", change(then)) == (OptionsChanged(config=then),)
    assert (game.table.config, game.table.next_config) == (then, None)


def test_options_change_in_a_hand_from_the_next_one_on() -> None:
    """RULES 0.1: this hand is played at 50/100, the next one at 100/200; of two changes the last one counts."""
    game = Game(OPEN).given({1: 5000, 2: 5000}, button=1)
    then = replace(OPEN, stakes=Stakes(small_blind=100, big_blind=200))
    does(game, "operator", "O1", change(replace(OPEN, stakes=Stakes(small_blind=1, big_blind=2))))
    does(game, "operator", "O1", change(then))
    assert (game.table.config, game.table.next_config) == (OPEN, then)
    assert game.offers()["raise_to"] == [200, 5000]
    game.when(fold_(1))
    assert (game.table.config, game.table.next_config) == (then, None)
    assert game.owed()
    started = game.last(HandStarted)
    assert [post.amount for post in started.posts] == [100, 200]
    assert started.table.config == then


def test_the_rules_of_a_table_are_raised_and_never_lowered() -> None:
    """DESIGN 2: an operator raises them once every service runs a release that knows them."""
    game = opened(OPEN)
    raised = replace(OPEN, options=replace(OPEN.options, rules=2))
    assert does(game, "operator", "O1", change(raised))
    assert refused(game, "operator", "O1", change(OPEN)) == ("malformed", Allowed(actions=("change_options",)))
    later = replace(OPEN, options=replace(OPEN.options, rules=4))
    assert refused(game, "operator", "O1", change(later)) == ("unsupported_version", Allowed(versions=(1, 2, 3)))


def test_rules_that_were_raised_in_a_hand_are_not_lowered_in_it_again() -> None:
    """The change that is to come is the one to compare with."""
    game = Game(OPEN).given({1: 5000, 2: 5000}, button=1)
    does(game, "operator", "O1", change(replace(OPEN, options=replace(OPEN.options, rules=2))))
    assert refused(game, "operator", "O1", change(OPEN))[0] == "malformed"


def test_the_reference_of_an_adjustment_is_kept_and_compared_with_nothing() -> None:
    """deploy/RUNBOOK.md, A correction: the id alone tells that an adjustment was made already."""
    game = opened(OPEN).sit(1, 5000)
    first = AdjustStack(id="a", player="P1", amount=50, reason=WHY, reference="case-17")
    assert does(game, "operator", "O1", first)
    assert does(game, "operator", "O1", replace(first, id="b")) == (
        StackAdjusted(seat=1, player="P1", amount=50, stack=5100),
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"bankroll": "cashier"}, "the bankroll stays lobby"),
        ({"money": "real"}, "the chips stay play USD"),
        ({"currency": "EUR"}, "the chips stay play USD"),
        ({"stakes": Stakes(small_blind=3, big_blind=2)}, "the small blind of 3 is above the big blind of 2"),
        ({"buy_in": BuyIn(minimum=5, maximum=4)}, "the least buy-in of 5 is above the highest of 4"),
    ],
)
def test_what_no_change_may_touch(changes: dict[str, Any], said: str) -> None:
    """R5: money of two kinds never mixes."""
    game = opened(OPEN)
    outcome = game.send("operator", "O1", change(replace(OPEN, **changes)))
    assert isinstance(outcome, Rejected)
    assert (outcome.code, outcome.allowed) == ("malformed", Allowed(actions=("change_options",)))
    assert said in outcome.message
    assert game.table.config == OPEN


def test_no_change_takes_a_seat_away_that_is_held_or_kept() -> None:
    """A moment later it may be free, and the same change be accepted."""
    game = opened(OPEN).sit(1, 5000).sit(6, 5000)
    does(game, "lobby", "L1", ReserveSeat(id="", player="K", seat=5))
    smaller = change(replace(OPEN, seats=4))
    assert refused(game, "operator", "O1", smaller) == (
        "seat_taken",
        Allowed(actions=("change_options",), minimum=6),
    )
    outcome = game.send("operator", "O1", smaller)
    assert isinstance(outcome, Rejected)
    assert "the seats 5, 6 are held or kept: 6 seats at least" in outcome.message


def test_a_table_that_will_be_smaller_seats_nobody_beyond_its_end() -> None:
    """The seats are there until the hand has ended, and must not be taken any more."""
    game = Game(OPEN).given({1: 5000, 2: 5000}, button=1)
    does(game, "operator", "O1", change(replace(OPEN, seats=3)))
    beyond = refused(game, "lobby", "L1", TakeSeat(id="", player="P9", buy_in=500, seat=4))
    assert beyond == ("seat_taken", Allowed(seats=(3,)))


def test_who_sits_out_when_a_limit_is_set_has_the_whole_time() -> None:
    """R11: since when a player sat out was not written down; it counts from the change on."""
    game = opened(OPEN).sit(1, 5000).sit(2, 5000)
    does(game, "player", "P1", SitOut(id=""))
    assert game.last(PlayerSatOut).at is None
    limited = replace(OPEN, options=replace(OPEN.options, sit_out_ms=60_000))
    game.wait(1000)
    assert does(game, "operator", "O1", change(limited)) == (
        OptionsChanged(config=limited),
        PlayerSatOut(seat=1, at=game.at),
    )
    game.wait(59_999)
    assert not game.owed()
    game.wait(1)
    assert game.owed()
    assert set(game.table.seats) == {2}


def test_a_change_does_not_prolong_the_time_of_who_sits_out_already() -> None:
    """R11: since when is in the log, and stays."""
    limited = replace(OPEN, options=replace(OPEN.options, sit_out_ms=60_000))
    game = opened(limited).sit(1, 5000)
    does(game, "player", "P1", SitOut(id=""))
    game.wait(1000)
    longer = replace(OPEN, options=replace(OPEN.options, sit_out_ms=90_000))
    assert does(game, "operator", "O1", change(longer)) == (OptionsChanged(config=longer),)
    assert game.table.seats[1].sat_out_at == NOON


def test_who_sits_out_at_the_end_of_the_hand_before_a_limit_has_the_whole_time() -> None:
    """R11: the hand ends, the player sits out, and the new options hold, in one commit."""
    game = Game(OPEN).given({1: 5000, 2: 5000, 3: 5000}, button=1)
    does(game, "player", "P1", SitOut(id=""))
    does(game, "operator", "O1", change(replace(OPEN, options=replace(OPEN.options, sit_out_ms=60_000))))
    game.settle().when(fold_(2))
    assert game.last(PlayerSatOut) == PlayerSatOut(seat=1, at=NOON)


def test_a_closing_table_releases_what_it_keeps_and_pays_everybody_out() -> None:
    """Under rules 1, whose logs do not say why a player left, the log reads as it always did."""
    game = opened(config(seats=2)).sit(1, 500)
    does(game, "lobby", "L1", ReserveSeat(id="", player="A"))
    does(game, "player", "B", JoinWaitingList(id=""))
    assert does(game, "operator", "O1", CloseTable(id="")) == (
        SeatReleased(seat=2, player="A", request=3, reason="table_closed"),
        WaitingListChanged(players=()),
        PlayerLeft(seat=1, player="P1", stack=500, at=NOON),
        TableClosed(),
    )
    assert (game.table.seats, game.table.reservations, game.table.waiting) == ({}, {}, ())


@pytest.mark.parametrize("table", [config(rules=2), cash(buy_in=BuyIn(minimum=1))])
def test_since_rules_2_and_under_the_cashier_a_table_that_closes_says_so_to_each_player(table: TableConfig) -> None:
    game = opened(table)
    game.between_hands({1: SeatRecord(seat=1, player="P1", stack=500, sat=1)})
    assert does(game, "operator", "O1", CloseTable(id=""))[0] == PlayerLeft(
        seat=1, player="P1", stack=500, at=NOON, reason="table_closed"
    )


@pytest.mark.parametrize(
    ("kind", "command", "actors"),
    [
        ("lobby", remove("P1"), ("operator", "cashier")),
        ("lobby", adjust("P1", 1), ("operator",)),
        ("player", change(OPEN), ("operator",)),
        ("operator", LeaveTable(id="", player="P1"), ("player", "lobby")),
        ("player", ReserveSeat(id="", player="P1"), ("lobby",)),
        ("player", ReleaseSeat(id="", player="P2"), ("lobby",)),
        ("player", JoinWaitingList(id="", player="P2"), ("lobby",)),
        ("player", LeaveWaitingList(id="", player="P2"), ("lobby",)),
        ("lobby", ReleaseSeat(id=""), ("player",)),
        ("lobby", JoinWaitingList(id=""), ("player",)),
        ("lobby", LeaveWaitingList(id=""), ("player",)),
        ("operator", ConfirmRequest(id="", request=1, paid=True), ("cashier",)),
    ],
)
def test_who_may_not_send_what(kind: ActorKind, command: Any, actors: tuple[str, ...]) -> None:
    assert refused(opened(OPEN).sit(1, 500), kind, "P1", command) == ("not_allowed", Allowed(actors=actors))
