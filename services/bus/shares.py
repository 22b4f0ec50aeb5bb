"""So many at the same time in all, and so many of one: who floods is told `busy`, and the others are served."""

import contextlib
from collections import Counter
from collections.abc import Hashable, Iterator


class Shares[K: Hashable]:
    """How many there are now, and of whom: `in_all` at most, and `of_one` of each.

    None stands for all those who have no share of their own. Whoever has none any more is forgotten.
    """

    def __init__(self, in_all: int, of_one: int) -> None:
        self.count = 0
        self._in_all = in_all
        self._of_one = of_one
        self._of: Counter[K] = Counter()

    @property
    def holders(self) -> int:
        """Of how many it is known that they have some."""
        return len(self._of)

    def is_full(self, whose: K | None) -> bool:
        """Whether there is no room for one more of theirs."""
        return self.count >= self._in_all or (whose is not None and self._of[whose] >= self._of_one)

    def comes(self, whose: K | None) -> None:
        """One more is there."""
        self.count += 1
        if whose is not None:
            self._of[whose] += 1

    def leaves(self, whose: K | None) -> None:
        """One of theirs is there no more."""
        self.count -= 1
        if whose is not None:
            self._of[whose] -= 1
            if not self._of[whose]:
                del self._of[whose]

    @contextlib.contextmanager
    def taken(self, whose: K | None) -> Iterator[None]:
        """One more is there, for as long as this lasts."""
        self.comes(whose)
        try:
            yield
        finally:
            self.leaves(whose)
