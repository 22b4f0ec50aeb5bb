from contracts.commands import Act, LeaveTable, ReturnToPlay, SitOut
from contracts.events.state import SeatRecord
from contracts.events.table import (
    ActionTaken,
    BettingClosed,
    HandEnded,
    LeaveRequested,
    PlayerLeft,
    PlayerReturned,
    PlayerSatOut,
    SitOutRequested,
    TurnExtended,
)
from contracts.outcomes import Rejected
from services.table import decider
from tests.table.stories import NOON, Game, call, check, config, fold_, raise_to

SECONDS_30 = 30_000


def three_handed() -> Game:
    """Button 3, blinds 1 and 2; seat 3 is to act."""
    return Game(config()).given({1: 5000, 2: 5000, 3: 5000}, button=3)


def test_nothing_is_owed_while_the_player_has_time() -> None:
    """R116."""
    game = three_handed().wait(SECONDS_30 - 1)
    assert decider.owes(game.table, game.at) == ()


def test_who_runs_out_of_time_facing_a_bet_folds_and_sits_out_afterwards() -> None:
    """R116, T01."""
    game = three_handed().wait(SECONDS_30).settle()
    action = game.last(ActionTaken)
    assert (action.seat, action.action, action.timed_out, action.took_ms) == (3, "fold", True, SECONDS_30)
    assert game.turn is not None
    assert game.turn.seat == 1
    game.when(fold_(1))
    assert game.last(PlayerSatOut) == PlayerSatOut(seat=3, reason="timed_out")
    assert game.table.seats[3].sitting_out
    assert not game.table.seats[3].away


def test_who_runs_out_of_time_facing_nothing_checks_and_folds_the_next_time() -> None:
    """R116, R119: the check is free, and from then on the player is away."""
    game = three_handed().when(call(3), call(1)).wait(SECONDS_30).settle()
    action = game.last(ActionTaken)
    assert (action.seat, action.action, action.timed_out) == (2, "check", True)
    game.when(check(1))
    action = game.last(ActionTaken)
    assert (action.seat, action.action, action.timed_out) == (2, "fold", False)


def test_a_decision_is_in_time_as_long_as_its_time_out_is_not_in_the_log() -> None:
    """R116: the log alone says who was first, the player or the clock."""
    game = three_handed()
    turn = game.table.hand.turn_number if game.table.hand is not None else None
    assert turn is not None
    game.wait(SECONDS_30)
    assert not isinstance(game.send("player", "P3", Act(id="late", turn=turn, action="call")), Rejected)
    action = game.last(ActionTaken)
    assert (action.seat, action.action, action.timed_out, action.took_ms) == (3, "call", False, SECONDS_30)


def test_a_decision_after_the_time_out_is_refused() -> None:
    """R116: the clock was first."""
    game = three_handed()
    turn = game.table.hand.turn_number if game.table.hand is not None else None
    assert turn is not None
    game.wait(SECONDS_30).settle()
    refused = game.send("player", "P3", Act(id="late", turn=turn, action="call"))
    assert isinstance(refused, Rejected)
    assert refused.code == "not_your_turn"


def test_a_turn_that_ran_out_during_an_outage_begins_anew() -> None:
    """R123: the services were away for ten minutes; the player has the whole time again, and then times out."""
    game = Game(config(rules=2)).given({1: 5000, 2: 5000, 3: 5000}, button=3).wait(600_000)
    assert game.owed()
    assert game.events[-1] == TurnExtended(seat=3, extra_ms=600_000, reason="resumed")
    assert decider.owes(game.table, game.wait(SECONDS_30 - 1).at) == ()
    action = game.wait(1).settle().last(ActionTaken)
    assert (action.seat, action.action, action.timed_out, action.took_ms) == (3, "fold", True, 630_000)


def test_a_turn_that_is_resumed_leaves_the_time_bank_as_it_was() -> None:
    """R117, R123: the outage was nobody's time; 31 s after it a second of the bank is gone."""
    game = Game(config(rules=2, time_bank_ms=20_000)).between_hands(
        {seat: SeatRecord(seat=seat, player=f"P{seat}", stack=5000, sat=seat) for seat in (1, 2)}
    )
    assert game.owed()
    game.settle().wait(600_000)
    assert game.owed()
    action = game.wait(31_000).when(fold_(1)).last(ActionTaken)
    assert (action.bank_ms, action.bank_left) == (1000, 19_000)


def test_a_time_out_that_is_a_little_late_is_none_the_less_one() -> None:
    """R116: replicas look within a second; nobody gets more time because a machine was slow."""
    action = Game(config(rules=2)).given({1: 5000, 2: 5000, 3: 5000}, button=3).wait(SECONDS_30 + 10_000).settle()
    assert (action.last(ActionTaken).action, action.last(ActionTaken).timed_out) == ("fold", True)


def test_hands_of_older_rules_time_out_however_late() -> None:
    """R123: what a log of rules 1 holds is derived as it was."""
    game = three_handed().wait(600_000).settle()
    assert (game.last(ActionTaken).seat, game.last(ActionTaken).timed_out) == (3, True)


def test_who_asks_to_sit_out_folds_at_the_next_decision() -> None:
    """R11, R119."""
    game = three_handed()
    assert game.send("player", "P1", SitOut(id="")) == (SitOutRequested(seat=1),)
    game.when(raise_to(3, 300))
    action = game.last(ActionTaken)
    assert (action.seat, action.action) == (1, "fold")
    game.when(fold_(2))
    assert game.last(PlayerSatOut) == PlayerSatOut(seat=1, reason="asked")


def test_who_thinks_better_of_it_before_the_decision_plays_on() -> None:
    """R119."""
    game = three_handed()
    game.send("player", "P1", SitOut(id=""))
    game.send("player", "P1", ReturnToPlay(id=""))
    assert game.last(PlayerReturned) == PlayerReturned(seat=1, owes="none", choice="wait")
    game.when(call(3), call(1), check(2))
    assert game.last(ActionTaken).action == "check"


def test_who_acts_is_back() -> None:
    """R119: a game action clears the flag, if it comes before the table folds for the player."""
    game = three_handed()
    game.send("player", "P3", SitOut(id=""))
    turn = game.table.hand.turn_number if game.table.hand is not None else None
    assert turn is not None
    events = game.send("player", "P3", Act(id="", turn=turn, action="call"))
    assert not isinstance(events, Rejected)
    assert events[0] == PlayerReturned(seat=3, owes="none", choice="wait")
    assert not game.table.seats[3].away


def test_who_leaves_in_mid_hand_folds_at_once_and_is_paid_when_it_has_ended() -> None:
    """R9, R120: seat 3 raised to 300 before; the 4700 behind are paid out."""
    game = three_handed().when(raise_to(3, 300), raise_to(1, 900), fold_(2))
    assert game.send("player", "P3", LeaveTable(id="")) == (LeaveRequested(seat=3),)
    game.settle()
    assert game.last(BettingClosed).contenders == (1,)
    assert game.last(PlayerLeft) == PlayerLeft(seat=3, player="P3", stack=4700, at=NOON)
    assert [event for event in game.events if isinstance(event, HandEnded)]
    assert sorted(game.table.seats) == [1, 2]
    assert game.table.departures[-1].stack == 4700


def test_who_leaves_all_in_keeps_the_claim_to_the_pot() -> None:
    """R120: nothing is left to decide, so nothing is folded."""
    game = Game(config()).given({1: 5000, 2: 5000, 3: 400}, button=3)
    game.when(raise_to(3, 400))
    game.send("player", "P3", LeaveTable(id=""))
    game.when(call(1), fold_(2))
    assert set(game.last(BettingClosed).contenders) == {1, 3}
    assert sorted(game.table.seats) == [1, 2]
