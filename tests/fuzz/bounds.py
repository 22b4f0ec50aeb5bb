"""What one input may take: so much of the processor's time, and so much memory beyond what the process holds before."""

import contextlib
import resource
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Final, NoReturn

HANG_S: Final = 30.0
"""Many times what the slowest input takes, by the processor's clock: a busy machine changes nothing."""
MORE_MB_MAX: Final = 512


class Hangs(BaseException):
    """An input took too long. Neither what is fuzzed nor who fuzzes it takes this for an error to go on after."""


@contextlib.contextmanager
def bounded_time(data: bytes, seconds: float = HANG_S) -> Iterator[None]:
    """Raises `Hangs`, which says what the input was, wherever it is after so many seconds of the processor's time."""

    def over(_: int, __: FrameType | None) -> NoReturn:
        raise Hangs(f"{seconds:g} s were not enough for {data.hex()}")

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextlib.contextmanager
def bounded_memory() -> Iterator[None]:
    """Whatever takes more memory than that gets `MemoryError`, at the place where it does; on Linux alone."""
    if sys.platform != "linux":
        yield
        return
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (MORE_MB_MAX << 20), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
