"""Faults planted in the cashier on purpose: tills that look right and are not. The simulation has to find each."""

from typing import Final

import msgspec

from contracts.accounts import player_account, table_account
from contracts.codec import encode
from contracts.commands import AnyCommand, RemovePlayer
from contracts.commit import Commit
from contracts.data import Instant
from contracts.events.cashier import (
    ChipsReturned,
    LedgerEvent,
    PurchaseSettled,
    RakeCredited,
    Source,
)
from contracts.ledger import LedgerCommit
from contracts.subjects import command
from services.aggregate.ledger import Before, Ledger, TableKey, TableLedger
from services.aggregate.ledger_evolve import evolve
from services.aggregate.ledger_fold import fold
from services.bus.aggregates import LEDGERS
from services.bus.log import Stored
from services.bus.replica import TableReplica
from services.cashier.postings import RAKE, moved
from services.cashier.till import Till
from services.cashier.told import confirmations, is_banker, open_requests
from services.cashier.transfers import Movement, due

type Entries = tuple[LedgerEvent, ...]


class PaysAgain(Till):
    """A cashier that comes up pays whatever a table still waits for, and does not look whether it was paid."""

    _seen = 0

    def owing(self, ledger: Ledger, at: Instant) -> bool:
        """Also once after it has come up."""
        return self._seen == 0 or super().owing(ledger, at)

    def owes(self, ledger: Ledger, at: Instant) -> Entries:
        """What it believes to owe."""
        first, self._seen = self._seen == 0, 1
        if not first:
            return super().owes(ledger, at)
        waiting = [
            Movement("main", commit, open_requests(replica.state))
            for replica in self.tables.replicas.values()
            if is_banker(ledger, replica.state)
            for commit in self._unseen_of(replica.key).commits
            if commit.n in open_requests(replica.state)
        ]
        asked = {(each.room, each.commit.table): each.commit.n - 1 for each in waiting}
        forgot = {key: TableLedger(position, ledger.table(*key).answers) for key, position in asked.items()}
        return due(msgspec.structs.replace(ledger, tables={**ledger.tables, **forgot}), waiting).entries


class KeepsWhatWasPaid(Till):
    """A request that the table has given up is settled, and what was paid for it is forgotten."""

    def owes(self, ledger: Ledger, at: Instant) -> Entries:
        """Nothing goes back."""
        return tuple(
            PurchaseSettled(source=entry.source, request=entry.request)
            if isinstance(entry, ChipsReturned) and entry.request is not None
            else entry
            for entry in super().owes(ledger, at)
        )


class ConfirmsTooEarly(Till):
    """A table is told of an answer while its commit is still on its way."""

    def owes(self, ledger: Ledger, at: Instant) -> Entries:
        """Takes for done what it is about to do."""
        entries, after = super().owes(ledger, at), ledger.copy()
        for entry in entries:
            evolve(after, entry)
        for replica in self.tables.replicas.values():
            for message in confirmations(after, replica.state):
                self._ask(command(*replica.key, "cashier", "cashier"), encode(message))
        return entries


class ReturnsByTheClock(Till):
    """What was paid for a seat goes back when its time is over, though the table may still give that seat."""

    def owing(self, ledger: Ledger, at: Instant) -> bool:
        """Also when a reservation is over."""
        return bool(self._over(ledger, at)) or super().owing(ledger, at)

    def owes(self, ledger: Ledger, at: Instant) -> Entries:
        """Does what the table has not said yet."""
        over = self._over(ledger, at)
        return over or super().owes(ledger, at)

    def _over(self, ledger: Ledger, at: Instant) -> Entries:
        for key, replica in self.tables.replicas.items():
            known = ledger.table(*key)
            for kept in replica.state.reservations.values():
                answer = known.answers.get(kept.number)
                if answer is not None and answer.paid and kept.expires <= at:
                    account = player_account(answer.player)
                    postings = moved(ledger, table_account(*key), account, answer.amount)
                    source = Source(room=key[0], table=key[1], n=known.position)
                    return (ChipsReturned(source=source, player=answer.player, postings=postings, request=kept.number),)
        return ()


class SkipsCommits(Till):
    """Now and then a commit of a table is overlooked."""

    def _on_table(self, replica: TableReplica, commit: Commit, stored: Stored) -> None:
        super()._on_table(replica, commit, stored)
        unseen = self._unseen.get(replica.key)
        if unseen is not None and len(unseen.commits) > 1:
            del unseen.commits[0]


class CreditsRakeAtOnce(Till):
    """The rake is credited when it is taken, whether or not the hand is then cancelled."""

    def owing(self, ledger: Ledger, at: Instant) -> bool:
        """Also in the middle of a hand."""
        return bool(self._taken(ledger)) or super().owing(ledger, at)

    def owes(self, ledger: Ledger, at: Instant) -> Entries:
        """Does not wait for the hand's end."""
        return self._taken(ledger) or super().owes(ledger, at)

    def _taken(self, ledger: Ledger) -> Entries:
        for key, replica in self.tables.replicas.items():
            table, position = replica.state, ledger.table(*key).position
            rake = table.hand.rake if table.hand is not None else None
            new = 0 < position < table.n and table.moved <= position
            if is_banker(ledger, table) and rake is not None and rake.total and new:
                source = Source(room=key[0], table=key[1], n=table.n)
                postings = moved(ledger, table_account(*key), RAKE, rake.total)
                return (RakeCredited(source=source, hand=table.hands, postings=postings),)
        return ()


class FreezesSeatsAlone(Till):
    """Who has a frozen account and does not sit yet keeps what is kept, and waits on."""

    def _messages(self, key: TableKey) -> tuple[AnyCommand, ...]:
        seated = {record.player for record in self.tables.replicas[key].state.seats.values()}
        messages = super()._messages(key)
        return tuple(each for each in messages if not isinstance(each, RemovePlayer) or each.player in seated)


def _unforgetting(ledger: Ledger, commit: LedgerCommit, data: bytes) -> Before:
    """A fold in which answers stay known when the table has settled them."""
    answers = {key: known.answers for key, known in ledger.tables.items()}
    before = fold(ledger, commit, data)
    for key, known in ledger.tables.items():
        ledger.tables[key] = TableLedger(known.position, {**answers.get(key, {}), **known.answers})
    return before


UNFORGETTING: Final = msgspec.structs.replace(LEDGERS, fold=_unforgetting)
"""Ledgers as they look to a cashier that remembers too much."""
