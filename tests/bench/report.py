"""What the bench reports: one line for each thing measured, with what it is held against."""

import os
import platform
from statistics import median
from typing import Final

import msgspec
from rich.console import Console
from rich.table import Table as Grid

SECTIONS: Final = {
    "a": "Hands by the deciders in memory, beside PokerKit",
    "b": "Commits folded from the server, beside counting them",
    "c": "Play through the services, beside raw appends",
    "d": "Idle tables, starts and recovery",
    "e": "Accounts",
    "f": "Players' connections and views",
}


class Line(msgspec.Struct, frozen=True, omit_defaults=True):
    """One measurement: the median of its `runs` where there are several.

    `ratio` is `value` by `beside`, the median of the ratios of single runs; `target` is the least it should be, or
    what `value` should be at most where there is no ratio.
    """

    section: str
    what: str
    value: float
    unit: str
    beside: float | None = None
    ratio: float | None = None
    target: float | None = None
    runs: tuple[float, ...] = ()
    notes: str = ""

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached; None: there is none."""
        if self.target is None:
            return None
        return self.ratio >= self.target if self.ratio is not None else self.value <= self.target


class Report(msgspec.Struct, frozen=True):
    """A whole run, and on what machine."""

    cpus: int
    python: str
    load: float
    lines: tuple[Line, ...]


def report(lines: list[Line]) -> Report:
    """The report of a run that ends now."""
    return Report(os.cpu_count() or 1, platform.python_version(), round(os.getloadavg()[0], 2), tuple(lines))


def compared(
    section: str,
    what: str,
    unit: str,
    runs: list[tuple[float, float]],
    target: float | None = None,
    notes: str = "",
) -> Line:
    """A line from runs of (ours, the thing beside it), each measured right before or after the other."""
    ratios = [ours / beside for ours, beside in runs]
    return Line(
        section,
        what,
        rounded(median(ours for ours, _ in runs)),
        unit,
        beside=rounded(median(beside for _, beside in runs)),
        ratio=rounded(median(ratios)),
        target=target,
        runs=tuple(map(rounded, ratios)),
        notes=notes,
    )


def rounded(value: float) -> float:
    """To three digits, which is more than a shared machine can promise."""
    return float(f"{value:.3g}")


def show(found: Report, console: Console) -> None:
    """Prints a table for each section."""
    for section, title in SECTIONS.items():
        lines = [line for line in found.lines if line.section == section]
        if lines:
            console.print(_grid(f"({section}) {title}", lines))
    console.print(f"{found.cpus} CPUs, load {found.load}, Python {found.python}")


def _grid(title: str, lines: list[Line]) -> Grid:
    grid = Grid(title=title, title_justify="left")
    for name in ("what", "measured", "beside", "ratio", "target", "reached", "notes"):
        grid.add_column(name, justify="left" if name in ("what", "notes") else "right")
    for line in lines:
        reached = {True: "yes", False: "NO", None: ""}[line.reached]
        grid.add_row(
            line.what,
            f"{line.value:g} {line.unit}",
            _said(line.beside),
            _said(line.ratio),
            _said(line.target),
            reached,
            line.notes,
        )
    return grid


def _said(value: float | None) -> str:
    return "" if value is None else f"{value:g}"
