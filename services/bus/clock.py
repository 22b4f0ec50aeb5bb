"""The time of a process: its own clock, and whether that can be believed (DESIGN 1)."""

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from contracts.data import Instant

SKEW_S_MAX: Final = 1.0
"""A clock further off the server's than this is not used."""
OBSERVATIONS: Final = 16


def utc_now() -> Instant:
    """The system's clock."""
    return datetime.now(UTC)


class Clock:
    """Tells the time and compares it with the server's stamps on facts that have just arrived."""

    def __init__(self, now: Callable[[], Instant] = utc_now) -> None:
        self.now = now
        self._offsets: deque[float] = deque(maxlen=OBSERVATIONS)

    def observe(self, stamped: Instant | None) -> None:
        """Notes the server's stamp of a fact that has just arrived."""
        if stamped is not None:
            self._offsets.append((self.now() - stamped).total_seconds())

    def trusted(self, previous: Instant | None) -> bool:
        """Whether a commit may be dated by this clock, the table's previous one being dated `previous`.

        A fact arrives after it was stamped, so the smallest offset is the clock's own; a clock that runs behind shows
        at once, one that runs ahead when even the quickest fact seems late.
        """
        if previous is not None and (previous - self.now()).total_seconds() > SKEW_S_MAX:
            return False
        return not self._offsets or -SKEW_S_MAX <= min(self._offsets) <= SKEW_S_MAX
