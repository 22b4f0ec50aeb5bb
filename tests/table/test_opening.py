"""Which tables can be opened, and that their chips can always be written down."""

import msgspec
import pytest

from contracts.commands import OpenTable, TakeSeat, TopUp
from contracts.commit import Cause
from contracts.data import CHIPS_MAX
from contracts.events.state import Actor
from contracts.events.table import TableOpened
from contracts.games import BuyIn, RakeBand, RakeSchedule, Stakes, TableConfig
from contracts.outcomes import Rejected
from services.aggregate.table import Table
from services.table import decider
from tests.table.stories import NOON, Game, all_in, config


def opened(asked: TableConfig) -> object:
    """The outcome of a lobby's wish for such a table."""
    cause = Cause(actor=Actor(kind="lobby", name="L1"), arrived=NOON, command=OpenTable(id="1", config=asked))
    return decider.decide(Table(room="main", id="T1"), cause, NOON)


def schedule(mode: str = "step", **band: object) -> RakeSchedule:
    """A schedule of one band."""
    fields = {"players": (2, 10), "step_pot": 100, "step_rake": 5} | band
    return RakeSchedule(id="S", version=1, mode=mode, bands=(msgspec.convert(fields, RakeBand),))  # type: ignore[arg-type]


def changed(**changes: object) -> TableConfig:
    """An ordinary table, with changes."""
    return msgspec.structs.replace(config(), **changes)


GOOD = (
    changed(),
    changed(limit="fixed_limit", stakes=Stakes(small_blind=50, big_blind=100, small_bet=100, big_bet=200)),
    changed(stakes=Stakes(small_blind=0, big_blind=100)),
    changed(rake=schedule()),
    changed(rake=schedule("breakpoints", thresholds=((2000, 100), (3000, 150)))),
)
BAD = (
    (changed(stakes=Stakes(small_blind=200, big_blind=100)), "the small blind of 200 is above the big blind of 100"),
    (changed(buy_in=BuyIn(minimum=2000, maximum=1000)), "the least buy-in of 2000 is above the highest of 1000"),
    (
        changed(limit="fixed_limit", stakes=Stakes(small_blind=50, big_blind=100, small_bet=200, big_bet=100)),
        "the small bet of 200 is above the big bet of 100",
    ),
    (changed(rake=schedule(step_pot=0)), "step_pot is 1 or more"),
    (changed(rake=schedule(players=(6, 2))), "players go from 6 to 2"),
    (changed(rake=schedule("percent", basis_points=10_001)), "basis_points are 10000 at most"),
    (changed(rake=schedule("breakpoints", thresholds=((3000, 100), (2000, 150)))), "thresholds rise"),
    (changed(rake=schedule("breakpoints", thresholds=((100, 101),))), "no threshold takes more than the pot"),
    (
        changed(rake=msgspec.structs.replace(schedule(), bands=schedule().bands * 2)),
        "two bands count the same number of players",
    ),
)


@pytest.mark.parametrize("good", GOOD)
def test_an_ordinary_table_is_opened(good: TableConfig) -> None:
    assert opened(good) == (TableOpened(config=good),)


@pytest.mark.parametrize(("bad", "why"), BAD, ids=[why for _, why in BAD])
def test_a_table_that_could_not_be_played_at_is_refused_and_told_why(bad: TableConfig, why: str) -> None:
    outcome = opened(bad)
    assert isinstance(outcome, Rejected)
    assert outcome.code == "malformed"
    assert why in outcome.message


def test_all_chips_of_a_table_together_can_be_written_down() -> None:
    """R143: a pot of all stacks is an amount too, and one that no reader may take would halt the table for ever."""
    game = Game(config())
    game.between_hands({})
    game.sit(1, CHIPS_MAX - 1000)
    refused = game.send("lobby", "L1", TakeSeat(id="", player="P2", buy_in=1001, seat=2))
    assert isinstance(refused, Rejected)
    assert (refused.code, refused.allowed.maximum) == ("buy_in_out_of_range", 1000)
    game.sit(2, 600)
    topped = game.send("lobby", "L1", TopUp(id="", player="P2", amount=401))
    assert isinstance(topped, Rejected)
    assert (topped.code, topped.allowed.maximum) == ("buy_in_out_of_range", 400)
    assert not isinstance(game.send("lobby", "L1", TopUp(id="", player="P2", amount=400)), Rejected)
    game.owed()
    game.settle().when(all_in(1))


def test_a_single_buy_in_cannot_fill_the_table_past_what_can_be_written_down() -> None:
    game = Game(config())
    game.between_hands({})
    game.sit(1, 5000)
    refused = game.send("lobby", "L1", TakeSeat(id="", player="P2", buy_in=CHIPS_MAX, seat=2))
    assert isinstance(refused, Rejected)
    assert (refused.code, refused.allowed.maximum) == ("buy_in_out_of_range", CHIPS_MAX - 5000)


def test_chips_queued_for_a_stack_count_too() -> None:
    """R7: they come in when the hand has ended."""
    game = Game(config()).given({1: 5000, 2: CHIPS_MAX - 10_000}, button=1)
    assert not isinstance(game.send("lobby", "L1", TopUp(id="", player="P1", amount=4000)), Rejected)
    refused = game.send("lobby", "L1", TopUp(id="", player="P1", amount=1001))
    assert isinstance(refused, Rejected)
    assert (refused.code, refused.allowed.maximum) == ("buy_in_out_of_range", 1000)
