"""What processes use: CPU and memory, as Linux counts them."""

import os
from collections.abc import Iterable
from pathlib import Path

from tests.processes.fleet import Fleet

_TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def pids(fleet: Fleet) -> list[int]:
    """The processes of a fleet."""
    return [member._process.pid for member in fleet.members if member._process is not None]  # noqa: SLF001


def children(name: str) -> list[int]:
    """The processes of this name that this one has started."""
    own = Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
    return [int(pid) for pid in own if Path(f"/proc/{pid}/comm").read_text().strip() == name]


def cpu_s(processes: Iterable[int]) -> float:
    """User and system seconds that these processes have used."""
    return sum(_ticks(pid) for pid in processes) / _TICKS_A_SECOND


def rss_mb(pid: int) -> float:
    """Resident memory."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE_BYTES / 1e6


def _ticks(pid: int) -> int:
    after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(after_name[11]) + int(after_name[12])
