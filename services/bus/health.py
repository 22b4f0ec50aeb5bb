"""How a process is: what it says of itself to whoever supervises it."""

from typing import Final

import msgspec

from contracts.data import Id

FAILURES_MIN: Final = 3
"""So many appends have to fail in a row before a process says that it is not ready."""
FAILURE_COUNTS_S: Final = 30.0
"""A process that has tried nothing for so long is given the benefit of the doubt."""


class Health(msgspec.Struct, frozen=True, kw_only=True):
    """What `/ready` says: `reasons` has a sentence for each part that is not as it must be, none where all is well.

    A halted table (`halted`, with the reason) needs an operator, but no other process: it does not count against this
    one.
    """

    ready: bool
    reasons: dict[str, str]
    services: list[str]
    tables: int = 0
    halted: dict[Id, str] = {}


class Appends:
    """Whether appends work; told of each attempt at the loop time `now`, in seconds."""

    def __init__(self) -> None:
        self.failures = 0
        self._reason = ""
        self._since = 0.0
        self._last = 0.0

    def worked(self) -> None:
        """The log said what became of an append."""
        self.failures = 0

    def failed(self, reason: str, now: float) -> None:
        """The log did not take an append, or did not say."""
        if self.failures == 0:
            self._since = now
        self.failures += 1
        self._reason, self._last = reason, now

    def doubt(self, now: float) -> str | None:
        """Why nothing can be appended, in a sentence; None where appends work, or nothing has been tried for long."""
        if self.failures < FAILURES_MIN or now - self._last > FAILURE_COUNTS_S:
            return None
        return f"the last {self.failures} appends failed, since {now - self._since:.1f} s: {self._reason}"
