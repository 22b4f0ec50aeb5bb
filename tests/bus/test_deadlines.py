"""What is owed once a deadline is past is in the log within a second, by whichever replica looks first (DESIGN 3)."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Final

import pytest

from contracts.codec import decode_commit
from contracts.commands import Disconnected, JoinWaitingList, LeaveTable, ReserveSeat, SitOut, TakeSeat
from contracts.commit import Commit
from contracts.data import Instant
from contracts.events import AnyEvent, fact_of
from contracts.events.seats import SeatReleased
from contracts.events.table import ActionTaken, HandStarted, PlayerLeft, TableClosed, TurnExtended
from contracts.outcomes import Rejected
from services.aggregate.debts import debt
from services.bus.aggregates import TABLES
from services.bus.clock import Clock
from services.bus.follower import Follower
from services.bus.loop import Loop, TableLoop
from services.bus.memory import MemoryLog
from services.table.app import ROLE
from tests.simulation.test_mended import in_virtual_time
from tests.table.stories import Game, config, fold_

WITHIN_S: Final = 1.0


def sent(game: Game, *commands: TakeSeat | ReserveSeat | JoinWaitingList | SitOut | LeaveTable | Disconnected) -> Game:
    for command in commands:
        outcome = game.send("lobby", "L1", command)
        assert not isinstance(outcome, Rejected), outcome
    return game


def three_handed(**options: object) -> Game:
    return Game(config(seats=4, **options)).given({1: 5000, 2: 5000, 3: 5000}, button=3)  # type: ignore[arg-type]


def hand_over(**options: object) -> Game:
    """Hand 1 has ended."""
    return three_handed(**options).when(fold_(3), fold_(1))


def an_open_turn() -> Game:
    return three_handed(act_ms=7000)


def a_turn_with_a_time_bank() -> Game:
    game = hand_over(time_bank_ms=4000, act_ms=5000)
    assert game.owed()
    return game.settle()


def a_turn_of_a_disconnected_player() -> Game:
    return sent(three_handed(act_ms=5000, disconnect_ms=3000), Disconnected(id="", player="P3"))


def a_gap_between_hands() -> Game:
    return hand_over(hand_gap_ms=6000)


def a_reservation() -> Game:
    return sent(Game(config(seats=4, reserve_ms=5000)).between_hands({}), ReserveSeat(id="", player="P9"))


def a_reservation_during_a_hand() -> Game:
    return sent(three_handed(reserve_ms=4000), ReserveSeat(id="", player="P9"))


def somebody_who_sits_out() -> Game:
    game = Game(config(seats=4, sit_out_ms=9000)).between_hands({})
    return sent(game, TakeSeat(id="", player="P1", buy_in=500), SitOut(id="", player="P1"))


def too_few_players() -> Game:
    leave = (LeaveTable(id="", player="P1"), LeaveTable(id="", player="P2"))
    return sent(hand_over(break_ms=8000, hand_gap_ms=20_000), *leave)


DEADLINES: Final[dict[str, tuple[Callable[[], Game], type[AnyEvent]]]] = {
    "a turn (R116)": (an_open_turn, ActionTaken),
    "a time bank (R117)": (a_turn_with_a_time_bank, ActionTaken),
    "a longer turn (R118)": (a_turn_of_a_disconnected_player, ActionTaken),
    "a gap between hands": (a_gap_between_hands, HandStarted),
    "a reservation": (a_reservation, SeatReleased),
    "a reservation during a hand": (a_reservation_during_a_hand, SeatReleased),
    "a sit-out limit (R11)": (somebody_who_sits_out, PlayerLeft),
    "a table with too few players": (too_few_players, TableClosed),
}
"""A story up to a deadline, and what is in the log once it is past."""


async def stored(log: MemoryLog, game: Game) -> None:
    """Writes the log of a story."""
    for number, line in enumerate(game.stored):
        commit = decode_commit(line)
        await log.append("main", commit.table, commit.by, fact_of(commit.events[-1]), line, number)


async def replica_of(log: MemoryLog, now: Callable[[], Instant], seed: int) -> TableLoop:
    """A replica of the table service at work; nothing nudges it, for nothing happens."""
    follower = Follower(TABLES, log, ["main"], Clock(now))
    await follower.start()
    loop = Loop(ROLE, follower, log, publish=lambda _, __: None, random=Random(seed))
    await loop.start()
    return loop


async def after_the_deadline(game: Game, replicas: tuple[int, ...], dies: int | None) -> tuple[Commit, ...]:
    """The commits that these replicas append up to a second after the deadline; one may die before it."""
    log, began = MemoryLog(), asyncio.get_running_loop().time()
    await stored(log, game)
    owed = debt(game.table)
    assert owed is not None
    assert owed.due is not None
    assert owed.due > game.at

    def now() -> Instant:
        return game.at + timedelta(seconds=asyncio.get_running_loop().time() - began)

    loops = {seed: await replica_of(log, now, seed) for seed in replicas}
    await asyncio.sleep((owed.due - game.at).total_seconds() - 0.001)
    assert len(log.messages) == len(game.stored), "nothing is owed before the deadline"
    if dies is not None:
        await loops.pop(dies).stop()
    await asyncio.sleep(WITHIN_S)
    for loop in loops.values():
        await loop.stop()
    return tuple(decode_commit(each.data) for each in log.messages[len(game.stored) :])


@pytest.mark.parametrize(("replicas", "dies"), [((1, 2), None), ((1,), None), ((1, 2), 1), ((1, 2), 2)])
@pytest.mark.parametrize("name", DEADLINES)
def test_what_a_deadline_brings_is_in_the_log_within_a_second(
    name: str, replicas: tuple[int, ...], dies: int | None
) -> None:
    """DESIGN 3: once, whether two replicas look, or one of them has just died."""
    story, brings = DEADLINES[name]
    game = story()
    owed = debt(game.table)
    commits = in_virtual_time(after_the_deadline(game, replicas, dies))
    brought = [(commit, event) for commit in commits for event in commit.events if isinstance(event, brings)]
    assert len(brought) == 1
    ((commit, _),) = brought
    assert owed is not None
    assert owed.due is not None
    assert owed.due <= commit.at <= owed.due + timedelta(seconds=WITHIN_S)


async def after_an_outage(game: Game, away: timedelta, lasting_s: float) -> tuple[Commit, ...]:
    """The commits of two replicas that start when the table's services were away for so long."""
    log, began = MemoryLog(), asyncio.get_running_loop().time()
    await stored(log, game)

    def now() -> Instant:
        return game.at + away + timedelta(seconds=asyncio.get_running_loop().time() - began)

    loops = [await replica_of(log, now, seed) for seed in (1, 2)]
    await asyncio.sleep(lasting_s)
    for loop in loops:
        await loop.stop()
    return tuple(decode_commit(each.data) for each in log.messages[len(game.stored) :])


def test_after_an_outage_a_hand_goes_on_where_it_was_and_its_clock_begins_anew() -> None:
    """R123: nobody loses a hand because the house was away; the player has the 30 s again, and not more."""
    game = three_handed(rules=2)
    resumed, timed_out = in_virtual_time(after_an_outage(game, timedelta(minutes=10), 32.0))
    (extended,), (_, action, *_) = resumed.events, timed_out.events
    assert isinstance(extended, TurnExtended)
    assert (extended.seat, extended.reason) == (3, "resumed")
    assert isinstance(action, ActionTaken)
    assert (action.seat, action.action, action.timed_out) == (3, "fold", True)
    assert timedelta(seconds=30) <= timed_out.at - resumed.at <= timedelta(seconds=30 + WITHIN_S)
