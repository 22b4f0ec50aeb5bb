"""How commands print: tables for people, one JSON document for programs (`--json`)."""

import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from services.bus.faults import of_a_file
from services.command_line.refusals import CannotRead

if TYPE_CHECKING:
    from rich.table import Table as Grid

WIDTH_MAX: Final = 400


def print_json(value: object) -> None:
    """Prints a value as one JSON document."""
    print(msgspec.json.format(msgspec.json.encode(value)).decode())


def print_lines(lines: Iterable[object]) -> None:
    """Prints text as it is, line by line."""
    for line in lines:
        print(line)


def print_or_write(lines: Iterable[bytes], to: Path | None, told: Mapping[str, object], *, json: bool) -> int:
    """Prints bytes as they are, or writes them to a file, and with `json` prints what was written; the exit code.

    Raises `CannotRead` for a file that cannot be written.
    """
    if to is None:
        _print_bytes(lines)
        return 0
    try:
        to.write_bytes(b"".join(lines))
    except OSError as error:
        raise CannotRead(of_a_file(error)) from error
    if json:
        print_json({"written": str(to), **told})
    return 0


def _print_bytes(lines: Iterable[bytes]) -> None:
    for line in lines:
        sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()


def print_grid(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Prints rows under their headings; numbers stand to the right."""
    from rich.console import Console

    grid = _grid(columns, list(rows))
    console = Console(highlight=False)
    # A name that is cut is of no use for the next command: rather a line that is longer than the screen.
    console.width = max(console.width, console.measure(grid, options=console.options.update(width=WIDTH_MAX)).maximum)
    console.print(grid, soft_wrap=True)


def _grid(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> "Grid":
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(columns):
        numbers = all(isinstance(row[index], int) for row in rows)
        grid.add_column(column, justify="right" if numbers else "left")
    for row in rows:
        grid.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    return grid
