"""A ledger as tests keep it: its commits, their bytes, and the fold of them."""

from datetime import UTC, datetime, timedelta

import msgspec

from contracts.account_commands import AnyAccountCommand
from contracts.codec import encode
from contracts.data import Instant
from contracts.events.cashier import LedgerEvent, Posting, Postings, entry_of
from contracts.events.state import Actor
from contracts.ledger import HOUSE, AccountCause, LedgerCommit
from contracts.outcomes import Accepted, Rejected
from contracts.subjects import LEDGERS, ActorKind, guarded
from services.aggregate.chain import Verdict, read_ledger
from services.aggregate.ledger import Ledger
from services.aggregate.ledger_fold import commit_of, fold
from services.cashier.decider import decide, known
from services.cashier.refusals import refused_events

START = datetime(2026, 3, 1, 20, 0, tzinfo=UTC)


class Books:
    """A ledger and its log; `at` is the time of the next commit, a second after the last one."""

    def __init__(self, ledger: str = "real-USD") -> None:
        self.ledger = Ledger(id=ledger)
        self.commits: list[LedgerCommit] = []
        self.lines: list[bytes] = []
        self.at: Instant = START

    def append(self, *entries: LedgerEvent, cause: AccountCause | None = None) -> LedgerCommit:
        """Appends a commit and folds it, as it would be read."""
        commit = commit_of(self.ledger, entries, self.at, cause)
        subject, data = stored(commit)
        reading = read_ledger(self.ledger, subject, data)
        assert reading.verdict is Verdict.NEXT, reading.reason
        assert reading.commit == commit
        fold(self.ledger, reading.commit, data)
        self.commits.append(commit)
        self.lines.append(data)
        self.at += timedelta(seconds=1)
        return commit

    def ask(self, command: AnyAccountCommand, kind: ActorKind = "lobby", name: str = "web") -> Accepted | Rejected:
        """Sends a command, as the bus does: a known one gets its answer again, a refusal may become an entry."""
        cause = AccountCause(actor=Actor(kind=kind, name=name), arrived=self.at, command=command)
        answer = known(self.ledger, cause)
        if answer is not None:
            return answer
        decision = decide(self.ledger, cause, self.at)
        if not isinstance(decision, Rejected):
            commit = self.append(*decision, cause=cause)
            return Accepted(id=command.id, n=commit.n, head=self.ledger.head)
        written = refused_events(decision, cause)
        if written:
            commit = self.append(*written, cause=cause)
            return msgspec.structs.replace(decision, n=commit.n, head=self.ledger.head)
        return decision

    def post(self, source: str, target: str, amount: int) -> Postings:
        """Both sides of a movement, with the balances after it."""
        return (
            Posting(account=source, amount=-amount, balance=self.ledger.balance(source) - amount),
            Posting(account=target, amount=amount, balance=self.ledger.balance(target) + amount),
        )


def stored(commit: LedgerCommit) -> tuple[str, bytes]:
    """Where a commit is stored, and its bytes."""
    return guarded(HOUSE, commit.ledger, "cashier", entry_of(commit.events[-1]), LEDGERS).subject, encode(commit)
