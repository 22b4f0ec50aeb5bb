"""How often somebody may have something done: so often at once, and so often a second from then on."""

from collections.abc import Hashable
from typing import Final

KNOWN_MAX: Final = 10_000
"""So many are remembered; whoever was let through longest ago is forgotten, and may begin anew."""


class Pace[K: Hashable]:
    """Lets each through `burst` times at once, and `per_s` times a second on average; time is in seconds."""

    def __init__(self, burst: int, per_s: float) -> None:
        self._burst = burst
        self._per_s = per_s
        self._left: dict[K, tuple[float, float]] = {}

    def allows(self, who: K, now: float) -> bool:
        """Whether it is allowed once more now; what is allowed is counted."""
        left, since = self._left.pop(who, (float(self._burst), now))
        left = min(float(self._burst), left + (now - since) * self._per_s)
        allowed = left >= 1
        self._left[who] = (left - allowed, now)
        if len(self._left) > KNOWN_MAX:
            del self._left[next(iter(self._left))]
        return allowed
