"""`croupier`: shows what there is to do, or does it. A command is imported when it is run, so help is there at once."""

import sys

from services.command_line.overview import overview


def main() -> None:
    """Runs the command that the arguments name, and ends with its exit code."""
    if sys.argv[1:] in ([], ["--help"], ["-h"]):
        print(overview())
        return
    from services.command_line.commands import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
