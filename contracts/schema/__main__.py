"""`python -m contracts.schema`: writes the generated files, or with `--check` says which of them drifted (exit 1)."""

import argparse
import sys
from pathlib import Path

from contracts.schema import FOLDER, drifted, write


def main(arguments: list[str] | None = None, folder: Path = FOLDER) -> int:
    """Gives the exit code: 1 where `--check` finds a file that is not what the contracts say."""
    parser = argparse.ArgumentParser(prog="python -m contracts.schema", description="The contracts as JSON Schema.")
    parser.add_argument("--check", action="store_true", help="write nothing, name the files that drifted")
    if not parser.parse_args(arguments).check:
        write(folder)
        return 0
    names = drifted(folder)
    for name in names:
        path = f"contracts/schema/{name}"
        print(f"{path} is not what the contracts say: run `python -m contracts.schema`", file=sys.stderr)
    if not names:
        print(f"{len(list(folder.glob('*.json')))} files say what the contracts say")
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
