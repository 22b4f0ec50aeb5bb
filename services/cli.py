"""`croupier`: shows what there is to do, or does it. A command is imported when it is run, so help is there at once."""

import sys
from typing import Final

from services.command_line.overview import overview
from services.command_line.probe import at_once

INTERRUPTED: Final = 130
"""The exit code after Ctrl-C."""


def main() -> None:
    """Runs the command that the arguments name, and ends with its exit code."""
    if sys.argv[1:] in ([], ["--help"], ["-h"]):
        print(overview())
        return
    if (well := at_once(sys.argv[1:])) is not None:
        sys.exit(well)
    try:
        _import_structlog()
        from services.command_line.commands import run

        code = run(sys.argv[1:])
    except KeyboardInterrupt:  # while something is imported
        code = INTERRUPTED
    sys.exit(code)


def _import_structlog() -> None:
    """Imports structlog without rich, which it would load for tracebacks in colours: we write JSON, and save 0.2 s."""
    hidden: dict[str, object] = sys.modules  # type: ignore[assignment]
    if "rich" not in hidden:
        hidden["rich"] = None
        import structlog  # noqa: F401

        del hidden["rich"]


if __name__ == "__main__":
    main()
