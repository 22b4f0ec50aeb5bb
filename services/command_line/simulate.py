"""`croupier simulate`: plays hands while everything goes wrong that can, each time the same for the same seed."""

import os
import sys
import time
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from cyclopts import Parameter, validators

if TYPE_CHECKING:
    from tests.simulation.simulate import Result

from services.command_line.numbers import Whole
from services.command_line.refusals import WrongArgument

type AtLeastOne = Annotated[Whole, Parameter(validator=validators.Number(gte=1))]


def simulate(
    *,
    seed: Whole = 0,
    seeds: AtLeastOne = 1,
    hands: AtLeastOne = 5,
    faults: str = "",
    processes: AtLeastOne = 1,
    forever: Annotated[bool, Parameter(negative=())] = False,
    keep: Path | None = None,
    json: Annotated[bool, Parameter(name="--json", negative=())] = False,
) -> int:
    """Play hands while messages, processes and clocks go wrong, and look whether every rule of the house holds.

    Nothing real is touched: log, network, clock and chance are simulated, and a seed decides all of it, so that the
    same seed goes the same way again. Runs from a checkout only. Ends with 0 if nothing was found, else with 1.

    Parameters
    ----------
    seed
        The first seed.
    seeds
        So many seeds, one after the other.
    hands
        So many hands are started at each table; faults may end before the last of them.
    faults
        Only these kinds of fault, with commas between them; `none` for none. Without it each seed draws its own.
    processes
        Plays in so many processes at the same time.
    forever
        Goes on with the next seed until it is interrupted.
    keep
        Writes what was found, with the log of the seed, to this directory, which is made for it.
    json
        Prints one JSON document for each seed.
    """
    if not _is_there():
        print("simulate runs from a checkout of Croupier: there is no tests.simulation here.", file=sys.stderr)
        return 2
    from tests.simulation.sweep import sweep

    names = tuple(dict.fromkeys(name.strip() for name in faults.split(","))) if faults else ()
    numbers: Iterable[int] = count(seed) if forever else range(seed, seed + seeds)
    if keep is not None:
        _check(keep)
    try:
        return _tell(sweep(numbers, hands, names, keep=keep, processes=processes), alone=seeds == 1, json=json)
    except ValueError as error:
        raise WrongArgument(str(error)) from error


def _check(folder: Path) -> None:
    """What is found after hours would be lost where it cannot be written; nothing is made until then."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK | os.X_OK):
        raise WrongArgument(f"{there} is no directory that can be written to; name one to keep what is found in")


def _tell(results: "Iterator[Result]", *, alone: bool, json: bool) -> int:
    """Tells what was found, and at the end how much was played."""
    began = time.monotonic()
    seeds = failed = hands = commits = steps = 0
    try:
        for result in results:
            seeds, failed = seeds + 1, failed + bool(result.violations)
            hands, commits, steps = hands + result.hands, commits + result.commits, steps + result.steps
            if json:
                print(msgspec.json.encode(result).decode(), flush=True)
            elif alone or result.violations:
                print(result, flush=True)
    except KeyboardInterrupt:
        if seeds == 0:
            raise
    if not json:
        took_s = time.monotonic() - began
        played = f"seeds: {seeds}, hands: {hands}, commits: {commits}, steps: {steps} in {took_s:.0f} s"
        print(f"{played} ({steps / took_s:.0f} steps/s): {failed or 'nothing'} {'failed' if failed else 'was found'}")
    return 1 if failed else 0


def _is_there() -> bool:
    """Whether the simulation can be imported."""
    try:
        return find_spec("tests.simulation.simulate") is not None
    except ModuleNotFoundError:
        return False
