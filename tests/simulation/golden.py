"""The logs that a few seeds have to write, byte for byte, on every machine and under every Python version.

`python -m tests.simulation.golden` says which seeds write another log, and with `--renew` keeps those they write now.
Any change of the simulation or of a service may bring another log about. Look whether the change was meant to, then
renew; two machines or Python versions that differ over the same code are a fault of the simulation, never to be renewed
away.
"""

import sys
from pathlib import Path
from typing import Final

from tests.simulation.simulate import simulate

FILE: Final = Path(__file__).with_name("golden.txt")
SEEDS: Final = range(12)


def written() -> dict[int, str]:
    """The SHA-256 of each seed's log, as it is played here and now."""
    return {seed: simulate(seed).log for seed in SEEDS}


def kept() -> dict[int, str]:
    """The SHA-256 of each seed's log, as it has to be."""
    lines = (line.split() for line in FILE.read_text(encoding="ascii").splitlines())
    return {int(seed): log for seed, log in lines}


def main(*arguments: str) -> int:
    """Compares or renews; the exit code is 1 where a seed writes another log."""
    found = written()
    if arguments == ("--renew",):
        FILE.write_text("".join(f"{seed} {log}\n" for seed, log in found.items()), encoding="ascii")
        return 0
    must = kept()
    for seed in SEEDS:
        if found[seed] != must.get(seed):
            sys.stdout.write(f"seed {seed} writes the log {found[seed]}, not {must.get(seed)}\n")
    return 0 if found == must else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
