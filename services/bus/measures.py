"""What the services tell of their work as they do it, to whoever counts it. Here nobody does, as in simulations."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from contracts.outcomes import Outcome
from contracts.subjects import CommandSubject
from services.aggregate.chain import Chained, State
from services.aggregate.debts import Debt
from services.bus.asked import Caused


class Stopwatch:
    """Measures an append: from now on, and from when it was caused, by the clock that says `now`."""

    def __init__(self, now: Callable[[], datetime], since: datetime | None) -> None:
        self._now = now
        self._since = since
        self._began_s = asyncio.get_running_loop().time()

    def read(self) -> tuple[float, float | None]:
        """How long the append took, and how long what caused it has waited, in seconds; None: that is not known."""
        took_s = asyncio.get_running_loop().time() - self._began_s
        return took_s, (self._now() - self._since).total_seconds() if self._since is not None else None


class Appended(NamedTuple):
    """A commit of one's own that is stored, `took_s` after the first attempt; `fact` is the last of its events.

    `state` is of the table or ledger, and may be further by now. The command that caused it, if one did, or the `debt`
    had waited for `waited_s` by then: since it arrived, the deadline ran out or the commit was dated that made the
    debt; None where that is not known.
    """

    state: State
    commit: Chained
    fact: str
    cause: Caused | None
    debt: Debt | None
    took_s: float
    waited_s: float | None


class Measures:
    """Hears of the work of one service, and counts nothing."""

    def begins(self, rooms: Sequence[str]) -> None:
        """The service is about to work on these rooms: what it has not done yet it has done 0 times."""

    def waits(self, waiting: Callable[[], int]) -> None:
        """From now on `waiting` tells how many commands wait."""

    def answered(self, address: CommandSubject, command: object, outcome: Outcome | None, took_s: float) -> None:
        """A command, None if it cannot be read, got this answer `took_s` after it arrived; None: it was dropped."""

    def repeated(self, room: str, outcome: Outcome) -> None:
        """The id of a command was known, and its first answer is given again."""

    def asked(self, query: str, answer: object) -> None:
        """A query of this kind got this answer."""

    def entered(self, fault: str) -> None:
        """A player was let in, or refused for this reason."""

    def appended(self, stored: Appended) -> None:
        """A commit is stored."""

    def conflicted(self, room: str) -> None:
        """Another commit came first."""

    def append_failed(self) -> None:
        """The log did not take a commit."""

    def swept(self, room: str, debt: Debt | None) -> None:
        """The sweep found a debt that nobody had paid; None: one that does not follow from the state alone."""

    def sent(self, subject: str) -> None:
        """A core message is on its way."""


class Heard:
    """Hears what a fold takes from the log, and counts nothing."""

    def fact(self, stamped: datetime | None, now: datetime) -> None:
        """A fact arrived that the server had stamped."""

    def gap(self, room: str) -> None:
        """A fact had not arrived."""


UNMEASURED: Final = Measures()
UNHEARD: Final = Heard()
