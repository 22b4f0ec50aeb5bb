"""Who owes the next commit, in every state that random sessions of every kind of game reach."""

from collections.abc import Iterator
from datetime import timedelta

import pytest

from contracts.commit import Commit
from contracts.events import Service, fact_of
from contracts.lasting import NEVER
from services.aggregate.debts import debt
from services.aggregate.fold import fold
from services.aggregate.table import Table
from services.dealer import decider as dealer
from services.dealer.app import ANSWERS as DEALER_ANSWERS
from services.dealer.decks import SealedDecks
from services.rake import decider as rake
from services.rake.app import ROLE as RAKE
from services.settlement import decider as settlement
from services.settlement.app import ROLE as SETTLEMENT
from services.table import decider as table_service
from services.table.app import ROLE as TABLE
from tests.replay.playing import GAMES, MASTERS, ROOM, session
from tests.table.stories import NOON, Game, config, fold_

ANSWERS: dict[Service, tuple[str, ...]] = {
    "table": TABLE.answers,
    "dealer": DEALER_ANSWERS,
    "rake": RAKE.answers,
    "settlement": SETTLEMENT.answers,
}
SEEDS = range(4)


def states(game: str, seed: int) -> Iterator[tuple[Table, Commit]]:
    """Every state of a session of some hands, with the commit that led to it."""
    played = session(game, seed, hands=6)
    table = Table(room=ROOM, id=played.table.id)
    for commit, line in zip(played.commits, played.lines, strict=True):
        fold(table, commit, line)
        yield table, commit


def owing(table: Table) -> set[Service]:
    """The services whose deciders give events, long after every deadline."""
    assert table.at is not None
    late = table.at + timedelta(days=1)
    decks = SealedDecks(MASTERS, bytes(32), bytes(12))
    given = {
        "table": table_service.owes(table, late),
        "dealer": dealer.owes(table, late, decks),
        "rake": rake.owes(table, late),
        "settlement": settlement.owes(table, late),
    }
    return {service for service, events in given.items() if events}  # type: ignore[misc]


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", SEEDS)
def test_at_most_one_service_owes_and_it_is_the_one_named(game: str, seed: int) -> None:
    """DESIGN 2: in every state at most one service owes; `debt` names it, and names nobody else."""
    for table, _ in states(game, seed):
        owed = debt(table)
        assert owing(table) == ({owed.service} if owed is not None else set())


def test_a_gap_between_hands_longer_than_any_calendar_is_never_over() -> None:
    """A table that was opened with `hand_gap_ms` 2**53 - 1 once raised OverflowError at the end of its first hand."""
    game = Game(config(seats=2, hand_gap_ms=2**53 - 1)).given({1: 500, 2: 500}, button=1).when(fold_(1))
    owed = debt(game.table)
    assert owed is not None
    assert (owed.duty, owed.due, owed.is_due(NOON)) == ("start_hand", NEVER, False)


@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_service_that_owes_listens_to_the_last_fact(game: str, seed: int) -> None:
    """DESIGN 3: it is nudged by the fact at the tail, or wrote that itself and goes on; a deadline is for the sweep.

    A debt that was there before the commit (a pause does not wait) was nudged for before.
    """
    before = None
    for table, commit in states(game, seed):
        owed = debt(table)
        if owed is not None and owed != before and owed.due is None and owed.service != commit.by:
            assert f"{commit.by}.{fact_of(commit.events[-1])}" in ANSWERS[owed.service]
        before = owed
