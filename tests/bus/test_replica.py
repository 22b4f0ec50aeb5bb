"""What a replica does with commits that extend the chain and leave a table at which nobody can go on."""

from contracts.codec import encode
from contracts.events.table import PlayerLeft, TablePaused
from contracts.subjects import guarded
from services.aggregate.fold import commit_of
from services.bus.aggregates import TABLES
from services.bus.log import Stored
from services.bus.replica import Replica
from tests.table.stories import NOON, Game, config


async def test_a_turn_whose_seat_nobody_holds_halts_the_table() -> None:
    """Such a commit once raised KeyError in the reader of the whole room, for the debt of the table has no player."""
    table = Game(config()).given({1: 500, 2: 500}, button=1).table
    n, turn = table.n, table.hand.turn if table.hand is not None else None
    assert turn is not None
    leaves = PlayerLeft(seat=turn.seat, player=table.seats[turn.seat].player, stack=0, at=NOON)
    data = encode(commit_of(table, "table", (leaves,), NOON))
    replica = Replica(TABLES, table.room, table.id)
    replica.begin(table, 0)
    subject = guarded(table.room, table.id, "table", "player_left").subject
    replica.take(Stored(sequence=1, subject=subject, data=data, time=None), in_order=True)
    assert replica.halted == f"commit {n + 1} does not follow on the state before it: KeyError({turn.seat})"
    assert replica.debt is None
    assert (replica.state.n, replica.held) == (n, None)
    assert replica.state.seats[turn.seat].seat == turn.seat


async def test_the_halt_at_a_commit_that_cannot_be_folded_says_the_commit_before_it() -> None:
    """A fold that raised half way through a commit once left its number, and half of its events, with the table."""
    table = Game(config()).given({1: 500, 2: 500}, button=1).table
    before = table.copy()
    events = (TablePaused(), PlayerLeft(seat=7, player="P7", stack=0, at=NOON))
    data = encode(commit_of(table, "table", events, NOON))
    replica = Replica(TABLES, table.room, table.id)
    replica.begin(table, 0)
    subject = guarded(table.room, table.id, "table", "player_left").subject
    replica.take(Stored(sequence=1, subject=subject, data=data, time=None), in_order=True)
    assert replica.halted == f"commit {before.n + 1} does not follow on the state before it: KeyError(7)"
    assert replica.state == before
    assert replica.sequence == 0
