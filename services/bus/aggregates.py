"""The kinds of aggregates whose logs the bus keeps, and all that it has to know of them."""

from collections.abc import Callable
from typing import Any, Final, cast

import msgspec

from contracts.codec import decode_commit, decode_ledger_commit
from contracts.commit import Cause, Commit
from contracts.data import Instant
from contracts.events import AnyEvent, Event, Service, fact_of
from contracts.events.cashier import LedgerEvent, entry_of
from contracts.ledger import AccountCause, LedgerCommit
from services.aggregate import fold, ledger_fold
from services.aggregate.chain import Chained, Judged, State, read_ledger, read_table
from services.aggregate.debts import Debt, debt
from services.aggregate.ledger import Ledger
from services.aggregate.table import Table
from services.bus.archives import OF_LEDGERS, OF_TABLES, Archive


class Aggregate[S: State, C: Chained, E: Event, K](msgspec.Struct, frozen=True, kw_only=True):
    """One kind of aggregate: its state S, its commits C, its events E and the causes K of commits.

    `statements` are the facts, each with its service, that restate all of the state, so that a fold may begin with
    them; without any, every fold begins with the first message. `name` is what one is called, and `named` tells one of
    them in a line that is logged: `room="main", table="T1", hand=7`.
    """

    name: str
    archive: Archive
    new: Callable[[str, str], S]
    read: Callable[[S, str, bytes], Judged[C]]
    fold: Callable[[S, C, bytes], Any]
    debt: Callable[[S], Debt | None]
    commit_of: Callable[[S, str, tuple[E, ...], Instant, K | None], C]
    decode: Callable[[bytes], C]
    fact_of: Callable[[E], str]
    named: Callable[[S], dict[str, str | int]]
    statements: tuple[tuple[str, str], ...] = ()

    def facts(self, commit: C) -> list[str]:
        """The kinds of a commit's events."""
        return [self.fact_of(cast("E", event)) for event in commit.events]

    def is_statement(self, commit: C) -> bool:
        """Whether a fold may begin with this commit."""
        return self.fact_of(cast("E", commit.events[0])) in [fact for _, fact in self.statements]


type Kind[S: State, C: Chained] = Aggregate[S, C, Any, Any]
"""What is enough for whoever reads and folds, and writes nothing."""


def _new_table(room: str, name: str) -> Table:
    return Table(room=room, id=name)


def _named_table(table: Table) -> dict[str, str | int]:
    """`hand` is the last one started."""
    return {"room": table.room, "table": table.id, **({"hand": table.hands} if table.hands else {})}


def _commit_of_table(
    table: Table, by: str, events: tuple[AnyEvent, ...], at: Instant, cause: Cause | None = None
) -> Commit:
    return fold.commit_of(table, cast("Service", by), events, at, cause)


TABLES: Final[Aggregate[Table, Commit, AnyEvent, Cause]] = Aggregate(
    name="table",
    archive=OF_TABLES,
    new=_new_table,
    read=read_table,
    fold=fold.fold,
    debt=debt,
    commit_of=_commit_of_table,
    decode=decode_commit,
    fact_of=fact_of,
    named=_named_table,
    statements=(("table", "hand_started"), ("table", "table_restated")),
)


def _new_ledger(room: str, name: str) -> Ledger:
    return Ledger(room=room, id=name)


def _commit_of_ledger(
    ledger: Ledger, _: str, events: tuple[LedgerEvent, ...], at: Instant, cause: AccountCause | None = None
) -> LedgerCommit:
    return ledger_fold.commit_of(ledger, events, at, cause)


LEDGERS: Final[Aggregate[Ledger, LedgerCommit, LedgerEvent, AccountCause]] = Aggregate(
    name="ledger",
    archive=OF_LEDGERS,
    new=_new_ledger,
    read=read_ledger,
    fold=ledger_fold.fold,
    debt=lambda _: None,
    commit_of=_commit_of_ledger,
    decode=decode_ledger_commit,
    fact_of=entry_of,
    named=lambda ledger: {"ledger": ledger.id},
)
