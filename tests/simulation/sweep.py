"""Many seeds, over several processes; what is found is kept where it can be looked at."""

import multiprocessing
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Final

import msgspec

from tests.simulation.faults import chosen
from tests.simulation.simulate import Result, simulate

SHARE: Final = 5
"""So many seeds are handed to a process at a time."""


class Task(msgspec.Struct, frozen=True):
    """One seed to play: how many hands, which faults (none named: those that are drawn), and where to keep it."""

    seed: int
    hands: int
    faults: tuple[str, ...]
    keep: Path | None


def sweep(
    seeds: Iterable[int], hands: int, faults: tuple[str, ...], *, keep: Path | None = None, processes: int = 1
) -> Iterator[Result]:
    """Plays seeds, each result as it comes. Raises ValueError for a fault that is not known."""
    chosen(0, faults)
    tasks = (Task(seed, hands, faults, keep) for seed in seeds)
    if processes == 1:
        yield from map(_play, tasks)
        return
    with closing(multiprocessing.get_context("spawn").Pool(processes)) as pool:
        yield from pool.imap_unordered(_play, tasks, SHARE)


def _play(task: Task) -> Result:
    result = simulate(task.seed, faults=chosen(task.seed, task.faults), hands=task.hands, keep=task.keep)
    if task.keep is not None and result.violations:
        task.keep.mkdir(parents=True, exist_ok=True)
        (task.keep / f"seed-{task.seed}.txt").write_text(f"{result}\n", encoding="utf-8")
    return result
