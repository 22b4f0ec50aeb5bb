from msgspec.structs import replace

from contracts.commands import ChangeOptions, SitOut
from contracts.data import Milliseconds, Seat
from contracts.events.state import SeatRecord
from contracts.events.table import ActionTaken, HandStarted, PlayerSatOut
from contracts.outcomes import Rejected
from services.table import decider
from tests.table.stories import Game, bet, call, check, config, fold_, name, raise_to

BANK = 20_000
ACT = 30_000


def seated(*seats: Seat, bank: Milliseconds = BANK, **options: object) -> Game:
    """Players who have just sat down, at a table with time banks of 20 s; the first one gets the button."""
    records = {
        seat: SeatRecord(seat=seat, player=name(seat), stack=5000, sat=place, time_bank=bank)
        for place, seat in enumerate(seats, 1)
    }
    chosen = {"time_bank_ms": bank, "rules": 2} | options
    return Game(config(**chosen)).between_hands(records)  # type: ignore[arg-type]


def dealt(*seats: Seat, **options: object) -> Game:
    """The first hand is dealt, and the first turn open."""
    game = seated(*seats, **options)  # type: ignore[arg-type]
    assert game.owed()
    return game.settle()


def play_a_hand(game: Game) -> None:
    """Everybody folds to the big blind, and the next hand is dealt."""
    hand = game.table.hands
    while game.table.hands == hand or game.turn is None:
        if game.turn is not None:
            game.when(fold_(game.turn.seat))
        else:
            assert game.owed()


def bank(game: Game, seat: Seat) -> tuple[Milliseconds, int]:
    record = game.table.seats[seat]
    return record.time_bank, record.bank_hands


def test_the_time_bank_runs_once_the_time_to_act_is_over() -> None:
    """R117, T01: facing a bet with 20 s in the bank, the bank runs for 20 s, then the player folds."""
    game = dealt(3, 1, 2)
    assert game.turn is not None
    assert (game.turn.seat, game.turn.act_ms, game.turn.bank_ms) == (3, ACT, BANK)
    assert decider.owes(game.table, game.wait(ACT + BANK - 1).at) == ()
    game.wait(1).settle()
    action = game.last(ActionTaken)
    assert (action.seat, action.action, action.timed_out) == (3, "fold", True)
    assert (action.took_ms, action.bank_ms, action.bank_left) == (ACT + BANK, BANK, 0)
    assert game.table.seats[3].time_bank == 0


def test_a_decision_from_the_time_bank_says_how_much_it_used() -> None:
    """R117: 41 s for a decision of 30 s take 11 s from the bank, and leave 9 s."""
    game = dealt(3, 1, 2).wait(ACT + 11_000).when(call(3))
    action = game.last(ActionTaken)
    assert (action.timed_out, action.took_ms, action.bank_ms, action.bank_left) == (False, 41_000, 11_000, 9000)
    assert game.table.seats[3].time_bank == 9000
    game.when(call(1), check(2), bet(1, 100), call(2))
    assert game.turn is not None
    assert (game.turn.seat, game.turn.bank_ms) == (3, 9000)


def test_a_decision_in_its_own_time_leaves_the_bank_alone() -> None:
    """R117."""
    action = dealt(3, 1, 2).wait(ACT).when(call(3)).last(ActionTaken)
    assert (action.took_ms, action.bank_ms, action.bank_left) == (ACT, 0, None)


def test_a_decision_that_comes_after_all_deadlines_but_before_the_time_out_uses_the_whole_bank() -> None:
    """R116, R117: it is in time as long as its time-out is not in the log."""
    game = dealt(3, 1, 2).wait(ACT + BANK + 700)
    action = game.when(call(3)).last(ActionTaken)
    assert (action.timed_out, action.took_ms, action.bank_ms, action.bank_left) == (False, 50_700, BANK, 0)


def test_a_bank_used_at_the_end_of_a_street_is_less_when_the_next_one_opens() -> None:
    """R117: the big blind checks behind and is first on the flop."""
    game = dealt(1, 2).when(call(1)).wait(ACT + 5000).when(check(2))
    assert game.turn is not None
    assert (game.turn.seat, game.turn.bank_ms) == (2, BANK - 5000)


def test_who_asks_to_sit_out_in_the_time_bank_pays_for_it_and_has_not_timed_out() -> None:
    """R117, R119."""
    game = dealt(3, 1, 2).wait(ACT + 4000)
    assert not isinstance(game.send("player", "P3", SitOut(id="")), Rejected)
    action = game.settle().last(ActionTaken)
    assert (action.action, action.timed_out, action.bank_ms, action.bank_left) == ("fold", False, 4000, 16_000)


def test_who_runs_out_of_the_bank_sits_out_from_the_next_hand() -> None:
    """R116, R117."""
    game = dealt(3, 1, 2).wait(ACT + BANK).settle().when(fold_(1))
    assert game.last(PlayerSatOut).reason == "timed_out"
    assert game.table.seats[3].time_bank == 0


def test_a_time_bank_is_filled_up_once_in_so_many_hands_and_never_over() -> None:
    """R117: 20 s at most, 5 s in 3 hands. Used up in the first hand: 5 s in the fourth, 10 s in the seventh."""
    game = dealt(3, 1, 2, time_bank_refill_ms=5000, time_bank_refill_hands=3)
    assert bank(game, 3) == (BANK, 1)
    game.wait(ACT + BANK).when(call(3), fold_(1))
    found = []
    while game.table.hands < 7:
        play_a_hand(game)
        found.append((game.table.hands, *bank(game, 3)))
    assert found == [(2, 0, 2), (3, 0, 3), (4, 5000, 1), (5, 5000, 2), (6, 5000, 3), (7, 10_000, 1)]
    assert bank(game, 1) == (BANK, 1)


def test_hands_that_one_is_not_dealt_in_do_not_fill_the_bank_up() -> None:
    """R117."""
    game = dealt(3, 1, 2, time_bank_refill_ms=5000, time_bank_refill_hands=2)
    game.send("player", "P2", SitOut(id=""))
    for _ in range(4):
        play_a_hand(game)
    assert bank(game, 2) == (BANK, 1)


def test_who_sat_there_before_there_were_time_banks_gets_a_full_one() -> None:
    """R117: the option came with the last hand's end."""
    game = seated(3, 1, 2, bank=BANK)
    for seat, record in game.table.seats.items():
        assert record.bank_hands == 0
        game.table.seats[seat] = SeatRecord(seat=seat, player=record.player, stack=5000, sat=record.sat)
    game.owed()
    assert {record.time_bank for record in game.last(HandStarted).table.seats} == {BANK}


def test_a_smaller_bank_is_what_the_table_has_from_the_next_hand_on() -> None:
    """R117: who has 20 s left at a table that now has 15 s at most, has 15 s; where there is none, none."""
    for most, left in ((15_000, 15_000), (0, 0)):
        game = seated(3, 1, 2, time_bank_ms=most)
        for seat, record in game.table.seats.items():
            game.table.seats[seat] = SeatRecord(
                seat=seat, player=record.player, stack=5000, sat=record.sat, time_bank=BANK, bank_hands=1
            )
        game.owed()
        assert {record.time_bank for record in game.last(HandStarted).table.seats} == {left}
        assert game.settle().turn is not None
        assert game.turn is not None
        assert game.turn.bank_ms == left


def test_without_the_option_nothing_of_time_banks_is_written() -> None:
    """Old logs are decided as they were: a slow decision says how long it took, and nothing else."""
    game = Game(config()).given({1: 5000, 2: 5000, 3: 5000}, button=3).wait(ACT + 100).when(raise_to(3, 300))
    action = game.last(ActionTaken)
    assert (action.took_ms, action.bank_ms, action.bank_left) == (ACT + 100, 0, None)
    assert b"bank" not in b"".join(game.stored)


def test_a_time_bank_that_is_switched_on_during_a_hand_is_there_in_the_next_one() -> None:
    """R117, RULES 0.1: and the time to act of this hand stays what it was, though the next one's is shorter."""
    game = Game(config()).given({1: 5000, 2: 5000, 3: 5000}, button=3)
    options = replace(game.config.options, time_bank_ms=BANK, act_ms=10_000)
    then = replace(game.config, options=options)
    assert not isinstance(game.send("operator", "O1", ChangeOptions(id="", config=then, reason="new house")), Rejected)
    game.when(call(3))
    assert game.turn is not None
    assert (game.turn.act_ms, game.turn.bank_ms) == (ACT, 0)
    play_a_hand(game)
    turn = game.turn
    assert turn is not None
    assert (turn.act_ms, turn.bank_ms) == (10_000, BANK)
