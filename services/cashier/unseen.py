"""The commits of one table that move chips and that the cashier has still to see to."""

from collections.abc import Iterable
from typing import Final

from contracts.commit import Commit
from services.aggregate.movements import moves_chips

KEPT_MAX: Final = 1024
"""So many are kept of a table; what lies before them is read from its log again."""


class Unseen:
    """All commits of a table from `after` (exclusive) to `upto` that move chips, as they were folded one by one.

    Where the fold made a leap, only what came behind it is here: `holds` says whether that is enough.
    """

    def __init__(self) -> None:
        self.after = 0
        self.upto = 0
        self.commits: list[Commit] = []

    def note(self, commit: Commit) -> None:
        """Takes the commit that was folded last; one that was read before it was folded is here already."""
        if commit.n <= self.upto:
            return
        if commit.n != self.upto + 1:
            self.after, self.commits = commit.n - 1, []
        self.upto = commit.n
        if any(map(moves_chips, commit.events)):
            self.commits.append(commit)
        if len(self.commits) > KEPT_MAX:
            self.after = self.commits.pop(0).n

    def holds(self, position: int, n: int) -> bool:
        """Whether nothing is missing of what came after commit `position`, up to commit `n`."""
        return self.after <= position and n <= self.upto

    def folded(self, n: int) -> list[Commit]:
        """Those up to commit `n`: what lies behind the fold, whether a request is open is not known yet."""
        return [commit for commit in self.commits if commit.n <= n]

    def passed(self, position: int) -> None:
        """Lets go of what was seen to, up to commit `position`."""
        if position > self.after:
            self.commits = [commit for commit in self.commits if commit.n > position]
            self.after = position
            self.upto = max(self.upto, position)

    def read(self, position: int, commits: Iterable[Commit]) -> None:
        """Takes what was read from the log: every commit after `position`, up to its tail."""
        found = {commit.n: commit for commit in commits}
        last = max(found, default=position)
        if last < self.after:
            return  # what was read ends before what is here begins
        later = [commit for commit in self.commits if commit.n > last]
        moving = [each for _, each in sorted(found.items()) if any(map(moves_chips, each.events))]
        self.after, self.upto, self.commits = position, max(last, self.upto), moving + later
