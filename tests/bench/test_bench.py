"""The bench runs, and says what it measured; how fast anything was is no test's business."""

from io import StringIO

import msgspec
import pytest
from rich.console import Console

from services.command_line.bench import bench as command
from tests.bench import PARTS, bench
from tests.bench.report import Line, Report, compared, show
from tests.bench.sizes import TINY

MEASURED = {
    "a": [
        f"{game} {how}"
        for game in ("nlhe", "plo", "plo8", "lo8")
        for how in ("without hashes", "with the dealer's hashes")
    ],
    "b": ["folded", "folded, beside our own reading", "derived again"],
    "c": [
        f"{layout}, {sync}{what}"
        for layout in ("four processes", "one process")
        for sync in ("sync always", "lazy sync")
        for what in ("", ": hands")
    ],
    "d": [
        "memory of 10 idle tables",
        "until 10 tables with heads are served",
        "from start to the first deal",
        "until 3 tables are served again",
    ],
    "e": [
        "buy-ins and cash-outs, sync always",
        "buy-ins and cash-outs, lazy sync",
        "deposits, sync always",
        "deposits, lazy sync",
        "buy-ins at the ledger, in memory",
        "reconcile",
        "reconcile: processor",
        "reconcile: memory",
    ],
    "f": [
        "memory of a connection in the server",
        "views that arrive",
        "from commit to view, p99",
        "commits while 2 do not read",
        "p99 while 2 do not read",
        "commits of the others while 6 come anew",
        "p99 of the others while 6 come anew",
        "commits after both",
        "p99 after both",
    ],
}


@pytest.mark.parametrize("part", ["a", pytest.param("b", marks=pytest.mark.server)])
async def test_a_part_reports_all_that_it_measures(part: str) -> None:
    found = await bench([part], TINY)
    assert [line.what for line in found.lines] == MEASURED[part]
    assert all(line.value > 0 and line.beside and line.ratio for line in found.lines)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Report) == found


@pytest.mark.server
@pytest.mark.slow
async def test_players_buy_in_and_a_ledger_is_reconciled() -> None:
    """The issue's bench: buy-ins a second, and `reconcile` over many entries, in seconds and MB."""
    found = await bench(["e"], TINY)
    assert [line.what for line in found.lines] == MEASURED["e"]
    assert all(line.value > 0 for line in found.lines)


@pytest.mark.server
@pytest.mark.slow
@pytest.mark.parametrize("part", ["c", "d", "f"])
async def test_a_part_with_processes_reports_all_that_it_measures(part: str) -> None:
    found = await bench([part], TINY)
    assert [line.what for line in found.lines] == MEASURED[part]


def test_the_ratio_of_a_comparison_is_that_of_its_middle_run() -> None:
    line = compared("b", "folded", "commits/s", [(10.0, 20.0), (30.0, 40.0), (90.0, 100.0)], target=0.8)
    assert (line.value, line.beside, line.ratio, line.reached) == (30.0, 40.0, 0.75, False)
    assert line.runs == (0.5, 0.75, 0.9)


def test_a_report_is_shown_by_part() -> None:
    lines = (Line("a", "nlhe", 1.0, "hands/s", 2.0, 0.5, 0.4), Line("d", "memory", 700.0, "MB", target=500.0))
    console = Console(width=200, record=True, file=StringIO())
    show(Report(cpus=2, python="3.13", load=0.0, lines=lines), console)
    told = console.export_text()
    assert "(a)" in told
    assert "NO" in told
    assert "(b)" not in told


def test_an_unknown_part_is_refused() -> None:
    with pytest.raises(ValueError, match="not 'x'"):
        command(only="a,x")
    assert sorted(PARTS) == ["a", "b", "c", "d", "e", "f"]


def test_outside_a_checkout_the_command_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("services.command_line.bench.NEEDED", ("tests.bench", "no_such_library"))
    assert command() == 2
    assert capsys.readouterr().err == "bench runs from a checkout of Croupier: there is no no_such_library here.\n"
