"""`python -m tests.fuzz TARGET [--inputs N] [--seconds S] [--keep FOLDER] [--seed N]`: a long run of one target."""

import argparse
import importlib.util
import sys
from pathlib import Path

from tests.fuzz.running import run

TARGETS = (
    "codec", "subjects", "bodies", "openings", "commands", "fold", "exports", "verify", "files", "check", "accounts",
    "ledgers",
)  # fmt: skip


def main() -> None:
    """Exit code 0: nothing found, 1: something is in the folder, 2: atheris is not installed here."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--inputs", type=int, default=sys.maxsize, help="how many inputs at most")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="how long at most")
    parser.add_argument("--keep", type=Path, default=Path("build/fuzz"), help="where failing inputs and the corpus go")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    if importlib.util.find_spec("atheris") is None:
        sys.exit(_missing())
    run(given.target, given.inputs, given.seconds, given.keep, given.seed)


def _missing() -> int:
    print("atheris is not installed: it has wheels for Linux on x86-64 and Python 3.12 to 3.14 alone", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
