"""The fold of a log that is being read: what was part of it, what was passed over, and where it ends for us."""

from contracts.commit import Commit
from contracts.data import Id
from services.aggregate.fold import UNFOLDABLE, Verdict, fold, read
from services.aggregate.table import Table

type Message = tuple[str, bytes]
"""A stored message: its subject and its bytes."""


class Unreadable(Exception):
    """The log cannot be read on from here; the message says at which commit and why."""


class Reading:
    """A table's log up to the last message taken: `table` is its fold, `ignored` counts what was no part of it."""

    def __init__(self, table: Table) -> None:
        """Reads on from `table`: an empty one, or the anchor of a partial read."""
        self.table = table
        self.ignored = 0

    @classmethod
    def of(cls, room: Id, table: Id) -> "Reading":
        """Reads a table from its first commit on."""
        return cls(Table(room=room, id=table))

    def take(self, message: Message) -> Commit | None:
        """Folds a message and gives its commit; None where the message is no part of the log.

        Raises `Unreadable` for a gap, a commit that this release cannot read, or one that cannot be folded.
        """
        commit = self.next_of(message)
        if commit is not None:
            self.fold(commit, message[1])
        return commit

    def next_of(self, message: Message) -> Commit | None:
        """The commit that comes next, not yet folded; None where the message is no part of the log."""
        found = read(self.table, *message)
        if found.verdict is Verdict.NEXT:
            return found.commit
        if found.verdict is Verdict.IGNORED:
            self.ignored += 1
            return None
        raise Unreadable(f"table {self.table.id}: {found.reason}")

    def fold(self, commit: Commit, data: bytes) -> None:
        """Folds a commit that `next_of` gave."""
        try:
            fold(self.table, commit, data)
        except UNFOLDABLE as error:
            raise Unreadable(f"table {self.table.id}: commit {commit.n} cannot be folded: {error}") from error
