"""Which tables can be opened, and that their chips can always be written down."""

import msgspec
import pytest

from contracts.commands import OpenTable, SitOut, TakeSeat, TopUp
from contracts.commit import Cause
from contracts.data import CHIPS_MAX
from contracts.events.state import Actor
from contracts.events.table import TableOpened
from contracts.games import BuyIn, RakeBand, RakeSchedule, Stakes, TableConfig
from contracts.outcomes import Rejected
from services.aggregate.table import Table
from services.table import decider
from services.table.intake import read_command
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
    changed(seats=6, rake=schedule(players=(2, 6))),
    config(cap_per_hand=110, ante=10),
    config(cap_per_hand=210, ante=10, straddle=True),
    config(buy_in=BuyIn(minimum=1, maximum=110), ante=10),
    config(straddle=True, seats=3),
    config("fixed_limit", buy_in=BuyIn(minimum=1, maximum=200)),
)
BAD = (
    (changed(stakes=Stakes(small_blind=200, big_blind=100)), "the small blind of 200 is above the big blind of 100"),
    (changed(buy_in=BuyIn(minimum=2000, maximum=1000)), "the least buy-in of 2000 is above the highest of 1000"),
    (
        changed(limit="fixed_limit", stakes=Stakes(small_blind=50, big_blind=100, small_bet=200, big_bet=100)),
        "the small bet of 200 is above the big bet of 100",
    ),
    (changed(rake=schedule(step_pot=0)), "rake.bands[0].step_pot is 1 or more"),
    (changed(rake=schedule(players=(2, 2**63))), "0 to 9007199254740991 is accepted"),
    (changed(rake=msgspec.structs.replace(schedule(), version=2**63)), "rake.version is 9223372036854775808"),
    (changed(rake=schedule(players=(6, 2))), "players go from 6 to 2"),
    (changed(rake=schedule("percent", basis_points=10_001)), "basis_points are 10000 at most"),
    (changed(rake=schedule("breakpoints", thresholds=((3000, 100), (2000, 150)))), "thresholds rise"),
    (changed(rake=schedule("breakpoints", thresholds=((100, 101),))), "no threshold takes more than the pot"),
    (
        changed(rake=msgspec.structs.replace(schedule(), bands=schedule().bands * 2)),
        "two bands count the same number of players",
    ),
    (changed(rake=msgspec.structs.replace(schedule(), bands=())), "bands are one or more"),
    (
        changed(seats=6, rake=schedule(players=(3, 5))),
        "no band counts 2, 6 players: each number from 2 to 6 needs one",
    ),
    (config(cap_per_hand=1), "the cap per hand of 1 is below the posts: 0 for no cap, or 100 at least"),
    (config(cap_per_hand=109, ante=10), "the cap per hand of 109 is below the posts: 0 for no cap, or 110 at least"),
    (
        config(cap_per_hand=209, ante=10, straddle=True),
        "the cap per hand of 209 is below the posts: 0 for no cap, or 210 at least",
    ),
    (
        config(buy_in=BuyIn(minimum=1, maximum=99)),
        "the highest buy-in of 99 is below the posts of a hand: 100 at least",
    ),
    (
        config(ante=1000, buy_in=BuyIn(minimum=1, maximum=999)),
        "the highest buy-in of 999 is below the posts of a hand: 1100 at least",
    ),
    (
        config(straddle=True, buy_in=BuyIn(minimum=1, maximum=199)),
        "the highest buy-in of 199 is below the posts of a hand: 200 at least",
    ),
    (
        config("fixed_limit", bets=(100, 500), buy_in=BuyIn(minimum=1, maximum=499)),
        "the highest buy-in of 499 is below the big bet: 500 at least",
    ),
    (
        config("fixed_limit", buy_in=BuyIn(minimum=1, maximum=199)),
        "the highest buy-in of 199 is below the big bet: 200 at least",
    ),
    (
        config(ante=CHIPS_MAX),
        f"the posts of a hand are {CHIPS_MAX + 100}: {CHIPS_MAX} at most",
    ),
    (
        config("fixed_limit", blinds=(1, CHIPS_MAX)),
        f"the big bet is {2 * CHIPS_MAX}: {CHIPS_MAX} at most",
    ),
    (config(straddle=True, seats=2), "a straddle needs 3 seats or more"),
    (config(limit="fixed_limit", straddle=True, fl_cap=1), "a cap of 2 bets or more"),
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


ASKED = {
    "type": "open_table",
    "id": "1",
    "config": msgspec.to_builtins(changed(rake=schedule("breakpoints", thresholds=((2000, 100),)))),
}


def asked(path: tuple[str | int, ...], name: str) -> bytes:
    """A wish for an ordinary table, with one field more at the end of the path."""
    whole = msgspec.json.decode(msgspec.json.encode(ASKED))
    part = whole
    for step in path:
        part = part.setdefault(step, {}) if isinstance(part, dict) else part[step]
    part[name] = 5000
    return msgspec.json.encode(whole)


@pytest.mark.parametrize(
    ("path", "name", "said"),
    [
        (("config",), "big_blinds", "config.big_blinds"),
        (("config", "options"), "act_mss", "config.options.act_mss"),
        (("config", "stakes"), "antes", "config.stakes.antes"),
        (("config", "buy_in"), "max", "config.buy_in.max"),
        (("config", "rake"), "caps", "config.rake.caps"),
        (("config", "rake", "bands", 0), "percent", "config.rake.bands[0].percent"),
    ],
)
def test_a_field_of_a_configuration_that_nobody_knows_is_refused_by_name(
    path: tuple[str | int, ...], name: str, said: str
) -> None:
    """A typo in `act_ms` must not open a table of other rules."""
    refused = read_command(asked(path, name))
    assert isinstance(refused, Rejected)
    assert (refused.code, refused.id) == ("malformed", "1")
    assert f"a configuration has no field `{said}`" in refused.message


def test_a_field_beside_the_configuration_is_passed_over() -> None:
    """A later release may send more with a command; what a table is like is another matter."""
    assert isinstance(read_command(asked((), "later")), OpenTable)
    assert isinstance(read_command(b'{"type":"sit_out","id":"1","config":{"later":1}}'), SitOut)


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
