"""A hand's rake belongs to one day (UTC): that on which it was taken, whoever adds it up."""

from datetime import UTC, datetime, timedelta
from typing import Final

import pytest
from msgspec.structs import replace

from contracts.account_commands import Deposit, OpenAccount
from contracts.events.rake import RakeTaken
from services.accounting.reconciliation import Reconciled, Reconciliation
from services.aggregate.movements import is_for_the_cashier
from services.aggregate.table import Table
from services.bus.aggregates import TABLES
from services.bus.reading import Reading
from services.cashier.told import confirmations, open_requests
from services.cashier.transfers import Movement, due
from services.replay.files import subject_of
from services.replay.raked import Raked
from tests.cashier.books import START, Books, stored
from tests.replay.playing import NLHE, RAKE, ROOM, Session

MIDNIGHT: Final = datetime(2026, 3, 2, tzinfo=UTC)
MOMENT: Final = timedelta(microseconds=1)
ANTED: Final = replace(NLHE, bankroll="cashier", rake=replace(RAKE, no_flop_no_drop=False))


def swept(books: Books, session: Session) -> None:
    """What the cashier does a moment later."""
    for _ in range(2):
        held = open_requests(session.table)
        commits = [commit for commit in session.commits if is_for_the_cashier(session.table, commit)]
        entries = due(books.ledger, [Movement(ROOM, commit, held) for commit in commits]).entries
        if entries:
            books.append(*entries)
        for command in confirmations(books.ledger, session.table):
            assert session.send("cashier", "c1", lambda _, __, asked=command: asked) is None  # type: ignore[misc]


def seated(books: Books) -> Session:
    """A table with three players, whose chips came from their accounts."""
    session = Session(seed=4)
    session.open(ANTED)
    for player in ("alice", "bob", "carol"):
        books.ask(OpenAccount(id=f"o-{player}", made=START, player=player))
        books.ask(Deposit(id=f"d-{player}", made=START, player=player, amount=5000, reference=player))
        assert session.sit(player, 5000) is None
        swept(books, session)
    return session


def played(session: Session, taken_at: datetime, ended_at: datetime) -> None:
    """A hand that is checked and called down: its rake is taken at one moment, and it ends at another one."""
    number = session.table.hands + 1
    session.at = max(session.at, taken_at - timedelta(minutes=5))
    while session.table.hands < number or session.table.hand is not None:
        by, events = session.owed()
        if any(isinstance(event, RakeTaken) for event in events):
            session.at = taken_at
            session.append(*session.owed())
            session.at = ended_at
        elif events:
            session.append(by, events)
        elif session.table.hand is None or session.table.hand.open_turn is None:
            session.at += timedelta(seconds=2)
        else:
            session.act(("check", None) if session.table.hand.open_turn.check else ("call", None))


def by_day(session: Session) -> dict[str, int]:
    """`croupier rake --by day`."""
    raked = Raked("day")
    reading = Reading(TABLES, Table(room=ROOM, id=session.table.id))
    for line in session.lines:
        commit = reading.next_of((subject_of(ROOM, line), line))
        assert commit is not None
        raked.take(reading.state, commit)
        reading.fold(commit, line)
    raked.end(reading.state)
    return {line.group: line.rake for line in raked.report().lines}


def reconciled(books: Books, session: Session) -> Reconciled:
    found = Reconciliation("real-USD", exported=True)
    for commit in books.commits:
        found.enter(*stored(commit))
    match = found.table(ROOM, session.table.id)
    for line in session.lines:
        match.take(subject_of(ROOM, line), line)
    return found.result()


@pytest.mark.parametrize(
    ("taken_at", "ended_at", "credited_at"),
    [
        (MIDNIGHT - 3 * MOMENT, MIDNIGHT - 2 * MOMENT, MIDNIGHT - MOMENT),
        (MIDNIGHT - 2 * MOMENT, MIDNIGHT - MOMENT, MIDNIGHT),
        (MIDNIGHT - MOMENT, MIDNIGHT, MIDNIGHT + MOMENT),
        (MIDNIGHT, MIDNIGHT + MOMENT, MIDNIGHT + 2 * MOMENT),
    ],
    ids=["all before", "credited after", "ended after", "all after"],
)
def test_the_rake_of_a_hand_is_that_of_the_day_on_which_it_was_taken(
    taken_at: datetime, ended_at: datetime, credited_at: datetime
) -> None:
    """R136: the rake report, the ledger and the hands say the same of each day; entries are compared hand by hand."""
    books = Books()
    session = seated(books)
    played(session, MIDNIGHT - timedelta(hours=2), MIDNIGHT - timedelta(hours=2))
    swept(books, session)
    played(session, taken_at, ended_at)
    books.at = credited_at
    swept(books, session)
    played(session, MIDNIGHT + timedelta(hours=2), MIDNIGHT + timedelta(hours=2))
    swept(books, session)
    found = reconciled(books, session)
    assert found.differences == ()
    raked = by_day(session)
    assert sorted(raked) == ["2026-03-01", "2026-03-02"]
    assert {day.day: day.rake for day in found.days if day.rake} == raked
    assert {day.day: day.rake_at_tables for day in found.days if day.rake_at_tables} == raked
    assert sum(raked.values()) == found.rake
