"""What the cashier should have written: its deciders run again, on the ledger's own state before a commit."""

from collections.abc import Callable
from itertools import groupby

from contracts.commit import Commit
from contracts.data import Id
from contracts.events.cashier import LedgerEvent, LedgerOpened, PurchaseRefused, Source
from contracts.ledger import LedgerCommit
from contracts.outcomes import Rejected
from services.aggregate.ledger import Ledger
from services.aggregate.ledger_evolve import evolve
from services.cashier.decider import decide
from services.cashier.refusals import refused_events
from services.cashier.transfers import Movement, due

type CommitOf = Callable[[Id, Id, int], Commit | None]
"""The commit of a table by room, table and number; None where its log is not given."""


class Underivable(Exception):
    """No decider gives such a commit in this state; the message says what it would have done instead."""


def derived(ledger: Ledger, commit: LedgerCommit, commit_of: CommitOf | None) -> tuple[LedgerEvent, ...]:
    """The entries that the rules give in place of the recorded ones. Raises `Underivable`.

    Entries whose table's log is not given are taken as they are.
    """
    if commit.cause is None:
        return _owed(ledger, commit, commit_of)
    decided = decide(ledger, commit.cause, commit.at)
    if not isinstance(decided, Rejected):
        return decided
    written = refused_events(decided, commit.cause)
    if not written:
        raise Underivable(f"this command is refused: {decided.code}, {decided.message}")
    return written


def _owed(ledger: Ledger, commit: LedgerCommit, commit_of: CommitOf | None) -> tuple[LedgerEvent, ...]:
    """Table commit by table commit, each on the state after the one before."""
    sources = [_source(entry) for entry in commit.events]
    if commit_of is None:
        return commit.events
    draft = ledger.copy()
    draft.n = commit.n
    entries: list[LedgerEvent] = []
    for source, group in groupby(zip(sources, commit.events, strict=True), lambda pair: pair[0]):
        recorded = tuple(entry for _, entry in group)
        found = recorded if source is None else _followed(draft, source, recorded, commit_of)
        for entry in found:
            evolve(draft, entry)
        entries += found
    return tuple(entries)


def _source(entry: LedgerEvent) -> Source | None:
    source: Source | None = getattr(entry, "source", None)
    if source is None and not isinstance(entry, LedgerOpened):
        raise Underivable("an entry that follows from no table's commit has a command for its cause")
    return source


def _followed(
    draft: Ledger, source: Source, recorded: tuple[LedgerEvent, ...], commit_of: CommitOf
) -> tuple[LedgerEvent, ...]:
    """What follows from one commit of a table.

    Whether the table had given up a request meanwhile is chance, as with cards: it is taken from the record, and the
    table's log tells in time whether it had.
    """
    followed = commit_of(source.room, source.table, source.n)
    if followed is None:
        return recorded
    given_up = any(isinstance(entry, PurchaseRefused) and entry.code == "expired" for entry in recorded)
    movement = Movement(source.room, followed, frozenset() if given_up else frozenset({source.n}))
    found = due(draft, [movement])
    for reason in found.stuck.values():
        raise Underivable(f"the accounts cannot follow {source.room}/{source.table}, {reason}")
    if not found.entries:
        raise Underivable(f"nothing follows from commit {source.n} of {source.room}/{source.table} any more")
    return found.entries
