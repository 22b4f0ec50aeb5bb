"""The fold of a log that is being read: what was part of it, what was passed over, and where it ends for us."""

from contracts.commit import Commit
from contracts.data import Id
from services.aggregate.chain import UNFOLDABLE, Chained, State, Verdict
from services.aggregate.table import Table
from services.bus.aggregates import TABLES, Kind

type Message = tuple[str, bytes]
"""A stored message: its subject and its bytes."""


class Unreadable(Exception):
    """The log cannot be read on from here; the message says at which commit and why.

    `table`: it is the stored log of that table, and its verification tells more.
    """

    def __init__(self, message: str, table: Id | None = None) -> None:
        super().__init__(message)
        self.table = table


class Reading[S: State, C: Chained]:
    """A log up to the last message taken: `state` is its fold, `ignored` counts what was no part of it."""

    def __init__(self, of: Kind[S, C], state: S) -> None:
        """Reads on from `state`: an empty one, or the anchor of a partial read."""
        self.of = of
        self.state = state
        self.ignored = 0

    def take(self, message: Message) -> C | None:
        """Folds a message and gives its commit; None where the message is no part of the log.

        Raises `Unreadable` for a gap, a commit that this release cannot read, or one that cannot be folded.
        """
        commit = self.next_of(message)
        if commit is not None:
            self.fold(commit, message[1])
        return commit

    def next_of(self, message: Message) -> C | None:
        """The commit that comes next, not yet folded; None where the message is no part of the log."""
        found = self.of.read(self.state, *message)
        if found.verdict is Verdict.NEXT:
            return found.commit
        if found.verdict is Verdict.IGNORED:
            self.ignored += 1
            return None
        raise self._unreadable(f"the log has a hole: {found.reason}" if found.verdict is Verdict.GAP else found.reason)

    def fold(self, commit: C, data: bytes) -> None:
        """Folds a commit that `next_of` gave."""
        try:
            self.of.fold(self.state, commit, data)
        except UNFOLDABLE as error:
            raise self._unreadable(f"commit {commit.n} cannot be folded: {error}") from error

    def _unreadable(self, reason: str) -> Unreadable:
        table = self.state.id if self.of.name == TABLES.name else None
        return Unreadable(f"{self.of.name} {self.state.id}: {reason}", table)


TableReading = Reading[Table, Commit]
