"""How commands print: tables for people, one JSON document for programs (`--json`)."""

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import msgspec

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


def print_bytes(lines: Iterable[bytes]) -> None:
    """Prints bytes as they are."""
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
