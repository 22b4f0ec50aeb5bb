"""An evening at two tables with its ledger, and what somebody may have done to the logs afterwards."""

from collections.abc import Iterable
from dataclasses import dataclass

import msgspec

from contracts.account_commands import Correct, Deposit, FreezeAccount, OpenAccount, Withdraw
from contracts.codec import digest, encode
from contracts.commit import Commit
from contracts.events import AnyEvent, fact_of
from contracts.events.cashier import LedgerEvent
from contracts.ledger import LedgerCommit
from contracts.subjects import guarded
from services.accounting.reconciliation import Reconciled, Reconciliation
from services.cashier.told import confirmations
from services.cashier.transfers import due
from tests.cashier.books import START, Books, stored
from tests.cashier.stand import Stand


@dataclass
class Evening:
    """A ledger and its tables, and how they act."""

    books: Books
    stands: list[Stand]

    def sweep(self) -> None:
        """What the cashier does a moment later: pays, and tells the tables."""
        for _ in range(2):
            while entries := due(self.books.ledger, [each for one in self.stands for each in one.movements()]).entries:
                self.books.append(*entries)
            for stand in self.stands:
                for command in confirmations(self.books.ledger, stand.table):
                    stand.confirm(command)


def evening() -> Evening:
    """Alice, bob and carol play at T1, carol and dora at T2: buy-ins, refusals, top-ups, rake, corrections, leaving."""
    books = Books()
    one, two = Stand("T1"), Stand("T2")
    played = Evening(books, [one, two])
    for player in ("alice", "bob", "carol", "dora"):
        books.ask(OpenAccount(id=f"o-{player}", made=START, player=player))
        books.ask(Deposit(id=f"d-{player}", made=START, player=player, amount=1000, reference=f"d-{player}"))
    for stand, player, amount in ((one, "alice", 100), (one, "bob", 150), (two, "carol", 200), (two, "dora", 80)):
        stand.reserve(player, amount)
    one.reserve("eve", 50)
    played.sweep()
    one.reserve("carol", 60)
    two.ask_top_up(2, 30)
    played.sweep()
    for stand, rake in ((one, 3), (two, 2), (one, 0), (two, 4)):
        stand.hand(1, 20, rake)
        played.sweep()
    two.ask_top_up(1, 120)
    played.sweep()
    two.hand(2, 15, 1)
    one.adjust(1, 25)
    one.pause()
    books.ask(Withdraw(id="w1", made=START, player="alice", amount=500, reference="w1"))
    books.ask(FreezeAccount(id="f1", made=START, player="bob", reason="x"), "operator")
    correct = Correct(
        id="k1", made=START, source="player.alice", target="suspense", amount=25, reason="x", reference="k1"
    )
    books.ask(correct, "operator")
    one.leave(2)
    played.sweep()
    two.reserve("alice", 40)
    played.sweep()
    two.hand(2, 5, 1)
    two.leave(1)
    played.sweep()
    return played


def subject_of(room: str, commit: Commit) -> str:
    return guarded(room, commit.table, commit.by, fact_of(commit.events[-1])).subject


def rechained[C: Commit | LedgerCommit](commits: Iterable[C]) -> list[C]:
    """The commits as one would write them who is able to forge the whole log: every hash is right."""
    found: list[C] = []
    for commit in commits:
        head = commit.prev if not found else digest(encode(found[-1]))
        found.append(msgspec.structs.replace(commit, n=len(found) + 1, prev=head))
    return found


def changed[C: Commit | LedgerCommit](commits: list[C], n: int, index: int, **fields: object) -> list[C]:
    """The commits with some fields of one event changed, and every hash right."""
    events: list[AnyEvent | LedgerEvent] = list(commits[n - 1].events)
    events[index] = msgspec.structs.replace(events[index], **fields)
    altered = msgspec.structs.replace(commits[n - 1], events=tuple(events))
    return rechained([*commits[: n - 1], altered, *commits[n:]])


def reconciled(
    ledger: Iterable[LedgerCommit], tables: Iterable[tuple[Stand, list[Commit]]], *, exported: bool = True
) -> Reconciled:
    """The reconciliation of these logs."""
    found = Reconciliation("real-USD", exported=exported)
    for commit in ledger:
        found.enter(*stored(commit))
    for stand, commits in tables:
        match = found.table(stand.room, stand.id)
        for each in commits:
            match.take(subject_of(stand.room, each), encode(each))
    return found.result()


def logs(played: Evening) -> list[tuple[Stand, list[Commit]]]:
    return [(stand, stand.commits) for stand in played.stands]
