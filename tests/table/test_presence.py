from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.commands import Connected, Disconnected, LeaveTable, ReturnToPlay, SitOut
from contracts.data import Chips, Seat
from contracts.events.seats import PresenceChanged
from contracts.events.state import Pot, SeatRecord
from contracts.events.table import (
    ActionTaken,
    BettingClosed,
    HandEnded,
    PlayerProtected,
    PlayerReturned,
    PlayerSatOut,
    SitOutRequested,
    TurnExtended,
    UncalledBetReturned,
)
from contracts.outcomes import Allowed, Rejected
from services.table import decider
from tests.table.stories import Game, Move, all_in, bet, call, check, config, fold_, name, raise_to

ACT = 30_000
EXTRA = 20_000


def three_handed(stacks: dict[Seat, Chips] | None = None, **options: Any) -> Game:
    """Button 3, blinds 1 and 2; seat 3 is to act."""
    chosen = {"disconnect_ms": EXTRA} | options
    return Game(config(**chosen)).given(stacks or {1: 5000, 2: 5000, 3: 5000}, button=3)


def protecting(stacks: dict[Seat, Chips] | None = None) -> Game:
    return three_handed(stacks, disconnect_ms=0, disconnect_protection="allin")


def lost(game: Game, seat: Seat) -> Game:
    """The lobby says that a player's connection is lost."""
    outcome = game.send("lobby", "L1", Disconnected(id="", player=name(seat)))
    assert not isinstance(outcome, Rejected), outcome
    return game.settle()


def back(game: Game, seat: Seat) -> Game:
    outcome = game.send("lobby", "L1", Connected(id="", player=name(seat)))
    assert not isinstance(outcome, Rejected), outcome
    return game.settle()


def refused(game: Game, command: Connected | Disconnected) -> Rejected:
    outcome = game.send("lobby", "L1", command)
    assert isinstance(outcome, Rejected)
    return outcome


def test_the_table_keeps_who_is_connected() -> None:
    """R118."""
    game = three_handed()
    assert game.send("lobby", "L1", Disconnected(id="", player="P1")) == (PresenceChanged(seat=1, connected=False),)
    assert [game.table.seats[seat].connected for seat in (1, 2, 3)] == [False, True, True]
    assert game.send("lobby", "L1", Connected(id="", player="P1")) == (PresenceChanged(seat=1, connected=True),)
    assert game.table.seats[1].connected


def test_what_the_table_knows_already_is_refused() -> None:
    """R118."""
    game = three_handed()
    told = refused(game, Connected(id="", player="P1"))
    assert (told.code, told.allowed) == ("already_connected", Allowed(actions=("disconnected",)))
    told = refused(lost(game, 1), Disconnected(id="", player="P1"))
    assert (told.code, told.allowed) == ("already_disconnected", Allowed(actions=("connected",)))
    told = refused(game, Disconnected(id="", player="P9"))
    assert (told.code, told.allowed) == ("not_seated", Allowed(seats=(1, 2, 3), hand=1))


@pytest.mark.parametrize("kind", ["player", "operator"])
def test_only_a_lobby_sees_who_is_connected(kind: Any) -> None:
    """R118: a player who says so would have more time at will."""
    outcome = three_handed().send(kind, "P3", Disconnected(id="", player="P3"))
    assert isinstance(outcome, Rejected)
    assert (outcome.code, outcome.allowed) == ("not_allowed", Allowed(actors=("lobby",)))


def test_who_is_disconnected_on_the_own_turn_has_more_time_once() -> None:
    """R118: 20 s in the same commit; going and coming again gives no more."""
    game = three_handed().wait(10_000)
    assert game.send("lobby", "L1", Disconnected(id="", player="P3")) == (
        PresenceChanged(seat=3, connected=False),
        TurnExtended(seat=3, extra_ms=EXTRA),
    )
    lost(back(game, 3), 3)
    assert len([event for event in game.events if isinstance(event, TurnExtended)]) == 1
    assert decider.owes(game.table, game.wait(ACT + EXTRA - 10_001).at) == ()
    action = game.wait(1).settle().last(ActionTaken)
    assert (action.seat, action.action, action.timed_out, action.took_ms) == (3, "fold", True, ACT + EXTRA)


def test_the_turn_of_a_disconnected_player_opens_with_more_time() -> None:
    """R118: in the commit of the action before it."""
    game = lost(three_handed(), 1).when(call(3))
    assert game.events[-2:] == [game.last(ActionTaken), TurnExtended(seat=1, extra_ms=EXTRA)]
    assert game.table.hand is not None
    assert game.table.hand.extra_ms == EXTRA


def test_a_turn_that_the_deal_opens_is_extended_after_it() -> None:
    """R118: the board is the dealer's commit; the table says at once that the turn lasts longer."""
    game = lost(three_handed(), 1).when(call(3), call(1), check(2))
    assert game.events[-1] == TurnExtended(seat=1, extra_ms=EXTRA)
    assert game.table.hand is not None
    assert (game.table.hand.street, game.table.hand.extra_ms) == ("flop", EXTRA)


def test_who_comes_back_keeps_the_time_of_this_decision_and_gets_none_at_the_next() -> None:
    """R118."""
    game = back(lost(three_handed(), 3), 3).when(call(3), call(1), check(2), check(1), check(2))
    assert game.turn is not None
    assert game.turn.seat == 3
    assert game.table.hand is not None
    assert game.table.hand.extra_ms == 0


def test_the_time_bank_runs_after_the_extra_time() -> None:
    """R117, R118: 30 s to act and 20 s of extra time; 56 s take 6 s from the bank."""
    game = three_handed(time_bank_ms=15_000)
    game.when(fold_(3), fold_(1))
    while game.turn is None:
        assert game.owed()
    seat = game.turn.seat
    action = lost(game, seat).wait(56_000).when(fold_(seat)).last(ActionTaken)
    assert (action.took_ms, action.bank_ms, action.bank_left) == (56_000, 6000, 9000)


def test_who_asked_to_sit_out_gets_no_more_time() -> None:
    """R119: there is nothing to wait for."""
    game = three_handed()
    game.send("player", "P1", SitOut(id=""))
    lost(game, 1).when(raise_to(3, 300))
    action = game.last(ActionTaken)
    assert (action.seat, action.action, action.timed_out) == (1, "fold", False)
    assert not [event for event in game.events if isinstance(event, TurnExtended)]


def test_who_thinks_better_of_sitting_out_while_disconnected_has_the_extra_time() -> None:
    """R118, R119: a wish that is taken back changes what the turn is owed, in the same commit."""
    game = three_handed()
    game.send("player", "P3", SitOut(id=""))
    assert game.send("lobby", "L1", Disconnected(id="", player="P3")) == (PresenceChanged(seat=3, connected=False),)
    assert game.send("player", "P3", ReturnToPlay(id="")) == (
        PlayerReturned(seat=3, owes="none", choice="wait"),
        TurnExtended(seat=3, extra_ms=EXTRA),
    )


def test_who_is_protected_is_all_in_for_what_is_wagered() -> None:
    """R118, R74, T02: 300 each, then seat 1 bets 400, seat 2 is disconnected and seat 3 calls: pots of 900 and 800."""
    game = protecting().when(raise_to(3, 300), call(1), call(2), bet(1, 400))
    lost(game, 2).wait(ACT).settle()
    assert game.last(PlayerProtected).seat == 2
    assert game.last(SitOutRequested) == SitOutRequested(seat=2, timed_out=True)
    game.when(call(3), check(1), check(3), check(1), check(3))
    assert game.last(BettingClosed).pots == (Pot(amount=900, seats=(1, 2, 3)), Pot(amount=800, seats=(1, 3)))
    assert sum(stack.amount for stack in game.last(HandEnded).stacks) == 15_000
    stacks = {stack.seat: stack.amount for stack in game.last(HandEnded).stacks}
    assert stacks[2] in (4700, 4700 + 900, 4700 + 450, 4700 + 300)


def test_who_is_protected_alone_against_a_bettor_gets_the_board_and_the_bet_goes_back() -> None:
    """R118, R73: nobody can call the 400 any more."""
    game = protecting().when(raise_to(3, 300), fold_(1), call(2))
    lost(game, 3).when(bet(2, 400)).wait(ACT).settle()
    returned, closed = game.last(UncalledBetReturned), game.last(BettingClosed)
    assert (returned.seat, returned.amount) == (2, 400)
    assert closed.pots == (Pot(amount=650, seats=(2, 3)),)
    assert (closed.contenders, closed.tabled, closed.streets) == ((2, 3), True, ("turn", "river"))
    assert sum(stack.amount for stack in game.last(HandEnded).stacks) == 15_000
    assert game.last(PlayerSatOut) == PlayerSatOut(seat=3, reason="timed_out")


def test_who_is_protected_checks_where_nothing_is_bet_and_is_protected_when_something_is() -> None:
    """R116, R118: the second time nobody waits for the player."""
    game = protecting().when(raise_to(3, 300), call(1), call(2))
    lost(game, 1).wait(ACT).settle()
    action = game.last(ActionTaken)
    assert (action.seat, action.action, action.timed_out) == (1, "check", True)
    game.when(bet(2, 400), call(3))
    assert game.last(PlayerProtected).seat == 1
    assert game.last(PlayerProtected).took_ms == 0


def test_who_is_protected_has_used_the_time_bank_up() -> None:
    """R117, R118: the big blind faces a raise, and the bank of 4 s runs before the hand goes on without the player."""
    seats = {seat: SeatRecord(seat=seat, player=name(seat), stack=5000, sat=seat) for seat in (1, 2)}
    game = Game(config(disconnect_protection="allin", time_bank_ms=4000)).between_hands(seats)
    assert game.owed()
    lost(game.settle(), 2).when(raise_to(1, 300)).wait(ACT + 4000).settle()
    event = game.last(PlayerProtected)
    assert (event.seat, event.took_ms, event.bank_ms, event.bank_left) == (2, ACT + 4000, 4000, 0)
    assert game.table.seats[2].time_bank == 0


def test_who_has_nothing_in_the_pot_is_not_protected() -> None:
    """R118: there is nothing to be all-in for."""
    action = lost(protecting(), 3).wait(ACT).settle().last(ActionTaken)
    assert (action.seat, action.action, action.timed_out) == (3, "fold", True)


@pytest.mark.parametrize("wish", [SitOut(id=""), LeaveTable(id="")])
def test_who_asked_to_go_is_not_protected(wish: SitOut | LeaveTable) -> None:
    """R118 to R120: they fold as they asked for."""
    game = protecting()
    game.send("player", "P1", wish)
    action = lost(game, 1).when(call(3)).last(ActionTaken)
    assert (action.seat, action.action) == (1, "fold")


def test_who_is_connected_is_not_protected() -> None:
    """R118, R116."""
    game = back(lost(protecting(), 1), 1).when(call(3)).wait(ACT).settle()
    action = game.last(ActionTaken)
    assert (action.seat, action.action, action.timed_out) == (1, "fold", True)


def test_who_comes_back_after_being_protected_stays_all_in_and_plays_the_next_hand() -> None:
    """R118, R119."""
    game = lost(protecting(), 1).when(raise_to(3, 300)).wait(ACT).settle()
    assert game.last(PlayerProtected).seat == 1
    back(game, 1)
    game.send("player", "P1", ReturnToPlay(id=""))
    game.when(call(2), check(2), check(3), check(2), check(3), check(2), check(3))
    assert game.last(BettingClosed).pots == (Pot(amount=150, seats=(1, 2, 3)), Pot(amount=500, seats=(2, 3)))
    assert not game.table.seats[1].sitting_out


def moves(game: Game, draw: st.DataObject) -> Move | None:
    """A legal decision, or None: nobody decides, and time goes by."""
    turn = game.turn
    assert turn is not None
    wagers = [(turn.seat, turn.wager, turn.minimum), all_in(turn.seat)] if turn.wager is not None else []
    calls = [check(turn.seat)] if turn.check else [call(turn.seat)]
    chosen: Move | None = draw.draw(st.sampled_from([None, fold_(turn.seat), *calls, *calls, *wagers]))
    return chosen


@settings(max_examples=60)
@given(st.data())
def test_no_chip_is_made_or_lost_by_protection(draw: st.DataObject) -> None:
    """R118, R143: whoever is disconnected whenever; the pots of all who are protected hold what they wagered."""
    stacks = {seat: draw.draw(st.integers(60, 3000)) for seat in range(1, draw.draw(st.integers(3, 6)))}
    game = Game(config(disconnect_protection="allin", time_bank_ms=5000)).given(stacks, button=1)
    game.send("lobby", "L1", Disconnected(id="", player=name(draw.draw(st.sampled_from(sorted(stacks))))))
    while game.table.hand is not None:
        for seat in sorted(game.table.seats):
            if draw.draw(st.integers(0, 5)) == 0:
                kind = Disconnected if game.table.seats[seat].connected else Connected
                game.send("lobby", "L1", kind(id="", player=name(seat)))
        chosen = moves(game, draw)
        game.when(chosen) if chosen is not None else game.wait(ACT + 5000).settle()
    closed, ended = game.last(BettingClosed), game.last(HandEnded)
    protected = {event.seat for event in game.events if isinstance(event, PlayerProtected)}
    assert protected <= set(closed.contenders)
    assert sum(stack.amount for stack in ended.stacks) == sum(stacks.values())
    assert all(seat in closed.pots[0].seats for seat in protected)
