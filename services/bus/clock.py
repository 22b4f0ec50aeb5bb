"""The time of a process: its own clock, and whether that can be believed (DESIGN 1)."""

from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from contracts.data import Instant

SKEW_S_MAX: Final = 1.0
"""A clock further off the server's than this is not used."""
JUMP_S_MAX: Final = 0.5
"""A clock that moves further than this against one that nobody sets has been set, or its machine slept."""
OBSERVATIONS: Final = 16


def utc_now() -> Instant:
    """The system's clock."""
    return datetime.now(UTC)


class Clock:
    """Tells the time and compares it with the server's stamps on facts and answers that have just arrived.

    `steady` is a clock that nobody sets, in seconds: by it a jump of `now` is seen at once, and what was compared
    before the jump counts no more. With it a clock that was never compared is not trusted; without it, it is.
    """

    def __init__(self, now: Callable[[], Instant] = utc_now, steady: Callable[[], float] | None = None) -> None:
        self.now = now
        self._steady = steady
        self._apart: float | None = None
        self._offsets: deque[float] = deque(maxlen=OBSERVATIONS)

    def observe(self, stamped: Instant | None) -> None:
        """Notes the server's stamp of what has just arrived."""
        if stamped is not None:
            self._forget_before_jump()
            self._offsets.append((self.now() - stamped).total_seconds())

    @property
    def offset_s(self) -> float | None:
        """How far this clock is ahead of the server's, in seconds, as the quickest fact tells; None: not known."""
        return min(self._offsets) if self._offsets else None

    def trusted(self, previous: Instant | None) -> bool:
        """Whether a commit may be dated by this clock, the table's previous one being dated `previous`.

        A fact arrives after it was stamped, so the smallest offset is the clock's own; a clock that runs behind shows
        at once, one that runs ahead when even the quickest fact seems late.
        """
        if previous is not None and (previous - self.now()).total_seconds() > SKEW_S_MAX:
            return False
        self._forget_before_jump()
        if not self._offsets:
            return self._steady is None
        return -SKEW_S_MAX <= min(self._offsets) <= SKEW_S_MAX

    def doubt(self) -> str | None:
        """Why this clock is not trusted, in a sentence; None where it is."""
        if self.trusted(None):
            return None
        if not self._offsets:
            return "this machine's clock has not been compared with the server's yet"
        offset_s = min(self._offsets)
        side = "ahead of" if offset_s > 0 else "behind"
        return f"this machine's clock is {abs(offset_s):.1f} s {side} the server's; {SKEW_S_MAX:.0f} s is allowed"

    def _forget_before_jump(self) -> None:
        if self._steady is None:
            return
        apart = self.now().timestamp() - self._steady()
        if self._apart is None or abs(apart - self._apart) > JUMP_S_MAX:
            self._offsets.clear()
            self._apart = apart
