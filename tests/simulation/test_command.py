"""`croupier simulate`: which seeds, which faults, what it says and keeps."""

from pathlib import Path

import msgspec
import pytest

from services.command_line.commands import run
from tests.simulation.faults import NONE, Faults, chosen
from tests.simulation.planted import UNWRITTEN
from tests.simulation.process import Build
from tests.simulation.simulate import Result, simulate


def test_a_seed_is_told_with_its_faults_and_the_command_that_plays_it_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(["simulate", "--seed", "3", "--hands", "1"]) == 0
    told = capsys.readouterr().out
    assert f"{simulate(3, hands=1)}\n" in told
    assert "again: croupier simulate --seed 3 --hands 1\n" in told
    assert told.endswith("nothing was found\n")


def test_only_named_faults_happen(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--seed", "4", "--seeds", "2", "--hands", "1", "--faults", "crash_s,clock_jump", "--json"]
    assert run(["simulate", *arguments]) == 0
    results = [msgspec.json.decode(line, type=Result) for line in capsys.readouterr().out.splitlines()]
    assert [result.seed for result in results] == [4, 5]
    for result in results:
        mix = result.faults
        assert mix == Faults(crash_s=mix.crash_s, clock_jump=mix.clock_jump, down_s=mix.down_s, delay_s=mix.delay_s)
        assert mix.crash_s > 0 < mix.clock_jump
        assert result.command == f"croupier simulate --seed {result.seed} --hands 1 --faults crash_s,clock_jump"
    assert chosen(4, ("none",)) == NONE


@pytest.mark.parametrize(
    ("faults", "told"), [("gremlins", "not gremlins"), (",", "not an empty name"), ("crash,", "not an empty name")]
)
def test_a_fault_that_is_not_known_is_said_to_be_none(
    faults: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once a comma alone was taken for no choice, and other faults happened than were meant."""
    assert run(["simulate", "--faults", faults]) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("where", ["file", "file/below"])
def test_what_cannot_keep_anything_is_refused_before_hours_have_passed(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once it was looked at when something was found, and that was lost."""
    (tmp_path / "file").write_bytes(b"")
    assert run(["simulate", "--hands", "1", "--keep", str(tmp_path / where)]) == 2
    told = capsys.readouterr()
    assert f"{tmp_path / 'file'} is no directory" in told.err
    assert told.out == ""


def test_nothing_is_kept_where_nothing_is_found(tmp_path: Path) -> None:
    assert run(["simulate", "--hands", "1", "--keep", str(tmp_path / "found" / "here")]) == 0
    assert list(tmp_path.iterdir()) == []


def test_the_log_of_what_was_found_is_kept(tmp_path: Path) -> None:
    results = (simulate(seed, Build(rules=UNWRITTEN), keep=tmp_path / "found") for seed in range(50))
    found = next(result for result in results if result.violations)
    files = sorted((tmp_path / "found").glob(f"seed-{found.seed}-T*.jsonl"))
    lines = [line for file in files for line in file.read_bytes().splitlines()]
    assert len(lines) == found.commits + found.ignored
