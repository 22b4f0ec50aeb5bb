"""`croupier bench`: how fast this machine plays, each figure beside the thing it is compared with."""

import sys
from importlib.util import find_spec
from typing import Final

import msgspec
from rich.console import Console

from services.bus import logging
from services.bus.settings import Settings

PARTS: Final = "a,b,c,d,e,f"
NEEDED: Final = ("tests.bench", "pokerkit")


def bench(*, only: str = PARTS, json: bool = False) -> int:
    """Measures hands, folds, play through all services, idle tables, accounts, and views; takes some minutes.

    Runs from a checkout with the development dependencies only: what it measures against is there.

    Parameters
    ----------
    only
        The parts, with commas between them: a (hands in memory), b (folds), c (play), d (idle tables and starts),
        e (accounts), f (thousands of players' connections and their views).
    json
        Prints the report as JSON.
    """
    missing = [name for name in NEEDED if not _is_there(name)]
    if missing:
        print(f"bench runs from a checkout of Croupier: there is no {' and no '.join(missing)} here.", file=sys.stderr)
        return 2
    parts = list(dict.fromkeys(part.strip() for part in only.split(",")))
    unknown = [part for part in parts if part not in PARTS.split(",")]
    if unknown:
        raise ValueError(f"the parts are {PARTS}; not {', '.join(map(repr, unknown))}")
    from services.command_line.serve import run
    from tests.bench import bench as measured
    from tests.bench.report import Report, show

    logging.configure(Settings(log_level="error"))
    found: list[Report] = []

    async def measure() -> None:
        found.append(await measured(parts))

    run(measure())
    if json:
        print(msgspec.json.encode(found[0]).decode())
    else:
        show(found[0], Console())
    return 0


def _is_there(name: str) -> bool:
    """Whether a module can be imported."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
