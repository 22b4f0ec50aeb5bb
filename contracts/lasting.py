"""When something is over that began at some moment and lasts so long."""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Final

from contracts.data import Instant, Milliseconds

NEVER: Final[Instant] = datetime.max.replace(tzinfo=UTC)
"""When what lasts longer than any calendar goes is over."""
LASTING_MAX: Final = 1024
"""So many durations are kept: a few stand in the options of all tables, and every commit asks for one."""


def later(start: Instant, lasting_ms: Milliseconds) -> Instant:
    """When a time is over that began at `start`; the end of all times where no calendar goes so far."""
    try:
        return start + _lasting(lasting_ms)
    except OverflowError:
        return NEVER


@lru_cache(LASTING_MAX)
def _lasting(lasting_ms: Milliseconds) -> timedelta:
    return timedelta(milliseconds=lasting_ms)
