"""`croupier check`: plays recorded hands, fault cases and rule vectors through the services, and compares results."""

import sys
from pathlib import Path
from typing import Any

import msgspec
from rich.console import Console
from rich.table import Table

from services.conformance.findings import FileReport, Report
from services.conformance.judging import check_files


def check(*files: Path, json: bool = False, bus: bool = False) -> int:
    """Plays recorded hands, fault cases and rule vectors through the services, and compares what comes out.

    Exit code 0: nothing differs, 1: something does, 2: a file cannot be read.

    Parameters
    ----------
    files
        Recorded hands or fault cases, one JSON object a line, or rule vectors.
    json
        Prints the findings as JSON.
    bus
        Sends every decision through running services over a server of its own, with the recorded cards.
    """
    if not files:
        print("Name at least one file to check.", file=sys.stderr)
        return 2
    report = _over_the_bus(files) if bus else check_files(files)
    if json:
        print(msgspec.json.encode(_plain(report)).decode())
    else:
        show(report, Console())
    for sentence in report.unreadable:
        print(sentence, file=sys.stderr)
    return report.exit_code


def _over_the_bus(files: tuple[Path, ...]) -> Report:
    from services.command_line.check_bus import check_files_over_the_bus

    return check_files_over_the_bus(files)


def _plain(report: Report) -> dict[str, Any]:
    """The findings as JSON says them; `unreadable` is there only if a file could not be read."""
    plain: dict[str, Any] = msgspec.to_builtins(report, str_keys=True)
    if not report.unreadable:
        del plain["unreadable"]
    return plain


def show(report: Report, console: Console) -> None:
    """Prints a table of the files, then every difference and what is not covered."""
    table = Table()
    table.add_column("file", overflow="fold")
    for name in ("hands", "agree", "differ", "not covered"):
        table.add_column(name, justify="right")
    for file in report.files:
        counts = (file.hands, file.agree, file.differing, len(file.not_covered))
        table.add_row(file.file, *map(str, counts))
    if report.files:
        console.print(table)
    for file in report.files:
        _show_file(file, console)


def _show_file(file: FileReport, console: Console) -> None:
    lines = []
    for found in file.differ:
        lines.append(f"{file.file}: {found.id} differs: {found.what}")
        lines.append(f"  expected {_said(found.expected)}")
        lines.append(f"  got      {_said(found.got)}")
    reasons: dict[str, list[str]] = {}
    for skipped in file.not_covered:
        reasons.setdefault(skipped.why, []).append(skipped.id)
    lines += [f"{file.file}: not covered: {', '.join(ids)}: {why}" for why, ids in reasons.items()]
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _said(value: object) -> str:
    return msgspec.json.encode(msgspec.to_builtins(value, str_keys=True)).decode()
