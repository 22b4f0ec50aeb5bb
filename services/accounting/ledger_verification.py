"""Whether a ledger's log is what the cashier may have written, and whether anybody changed it since.

The chain, both sides of every entry and the balances after it (R136), and each decision derived again: a command's from
the command, a table's from the table's commits where these are given. After a commit that does not follow, nothing more
is said: balances that rest on what is not there are no one's.
"""

from collections import ChainMap
from collections.abc import Iterator, Mapping

from contracts.data import Sha256
from contracts.events.cashier import LedgerEvent
from contracts.ledger import LedgerCommit
from services.accounting.derivation import CommitOf, Underivable, derived
from services.accounting.sides import faults
from services.aggregate.chain import UNFOLDABLE, Verdict, read_ledger
from services.aggregate.ledger import Ledger
from services.aggregate.ledger_fold import fold
from services.replay.differences import differences
from services.replay.findings import Finding


class LedgerVerification:
    """A verification under way. `commits` and `entries` count what was examined, `ignored` what was passed over.

    `last` are the entries of the last commit, `ended`: something was found after which nothing can be said.
    """

    def __init__(
        self,
        ledger: str,
        *,
        exported: bool = False,
        heads: Mapping[int, Sha256] | None = None,
        commit_of: CommitOf | None = None,
    ) -> None:
        self.ledger = Ledger(id=ledger)
        self.commits = 0
        self.entries = 0
        self.ignored = 0
        self.ended = False
        self.last: tuple[LedgerEvent, ...] = ()
        self._exported = exported
        self._heads = dict(heads or {})
        self._commit_of = commit_of

    def take(self, subject: str, data: bytes) -> Iterator[Finding]:
        """Examines the next message."""
        if self.ended:
            return
        reading = read_ledger(self.ledger, subject, data)
        n = self.ledger.n + 1
        match reading.verdict:
            case Verdict.NEXT if reading.commit is not None:
                yield from self._accept(reading.commit, data)
            case Verdict.UNREADABLE:
                yield self._end(Finding(kind="unreadable", n=n, by="cashier", message=reading.reason))
            case Verdict.IGNORED if not self._exported:
                self.ignored += 1
            case _:
                yield self._end(Finding(kind="chain", n=n, by="cashier", message=reading.reason))

    def finish(self) -> Iterator[Finding]:
        """What can only be said at the end of the log."""
        known = max(self._heads, default=0)
        if not self.ended and known > self.ledger.n:
            message = f"the log ends at commit {self.ledger.n}, and somebody knows commit {known}"
            yield Finding(kind="head", n=self.ledger.n + 1, message=message, field="hash", derived=self._heads[known])

    def _end(self, finding: Finding) -> Finding:
        self.ended = True
        return finding

    def _accept(self, commit: LedgerCommit, data: bytes) -> Iterator[Finding]:
        yield from self._sides(commit)
        yield from self._derived(commit)
        try:
            fold(self.ledger, commit, data)
        except UNFOLDABLE as error:
            message = f"does not follow on the ledger's state: {error}"
            yield self._end(Finding(kind="fold", n=commit.n, by="cashier", message=message))
            return
        self.commits += 1
        self.entries += len(commit.events)
        self.last = commit.events
        known = self._heads.get(commit.n, self.ledger.head)
        if known != self.ledger.head:
            message = "not the commit that somebody else knows by this number"
            yield Finding(
                kind="head", n=commit.n, message=message, field="hash", recorded=self.ledger.head, derived=known
            )

    def _sides(self, commit: LedgerCommit) -> Iterator[Finding]:
        balances = self.ledger.balances
        if len(commit.events) > 1:
            balances = ChainMap[str, int]({}, balances)
        for index, entry in enumerate(commit.events):
            for fault in faults(entry, balances):
                yield Finding(
                    kind="invariant",
                    n=commit.n,
                    by="cashier",
                    field=f"events[{index}], {fault.account}",
                    recorded=str(fault.recorded),
                    derived=str(fault.expected),
                    message=fault.message,
                )
            if len(commit.events) > 1:
                for posting in getattr(entry, "postings", ()):
                    balances[posting.account] = posting.balance

    def _derived(self, commit: LedgerCommit) -> Iterator[Finding]:
        try:
            entries = derived(self.ledger, commit, self._commit_of)
        except (Underivable, *UNFOLDABLE) as error:
            yield Finding(kind="derivation", n=commit.n, by="cashier", message=str(error))
            return
        if entries == commit.events:
            return
        for found in differences(commit.events, entries, "events"):
            yield Finding(
                kind="derivation",
                n=commit.n,
                by="cashier",
                field=found.field,
                recorded=found.recorded,
                derived=found.derived,
                message="not what the cashier's rules give",
            )
