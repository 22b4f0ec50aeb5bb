"""`croupier rake check` and `croupier rake schedules`: an operator's own schedule before a table is opened by it."""

from pathlib import Path

import msgspec
import pytest

from services.command_line import commands
from services.rake.families import Family
from services.rake.schedules import NAMES, family
from tests.rake.test_families import ALONE, FAMILY


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "rake.toml"


def test_a_schedule_that_tables_can_be_raked_by_is_shown(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, shown in ((ALONE, ("house-5", "2-4", "5%", "4.5%", "200")), (FAMILY, ("house-low", "10 per 1000"))):
        file.write_text(text)
        assert commands.run(["rake", "check", str(file)]) == 0
        out = capsys.readouterr().out
        assert [each for each in shown if each not in out] == []


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        (ALONE.replace("cap = 200", "cap = -1"), ["bands[0].cap: -1 is not accepted; a whole number from 0 to "]),
        (ALONE.replace("[5, 10]", "[4, 10]"), ["house-5: two bands count the same number of players"]),
        (
            ALONE.replace("[5, 10]", "[6, 10]"),
            ["house-5: no band counts 5 players: each number from 2 to 10 needs one"],
        ),
        (
            FAMILY.replace("step_rake = 5", "step_rake = 101").replace("[2, 10]", "[10, 2]", 1),
            ["house-low: ", "house-low: ", "house-low: rake.bands[0].step_rake is step_pot at most"],
        ),
        ("[[", ["this is not TOML: "]),
    ],
)
def test_all_that_is_wrong_is_said_and_the_exit_code_is_1(
    file: Path, capsys: pytest.CaptureFixture[str], text: str, faults: list[str]
) -> None:
    file.write_text(text)
    assert commands.run(["rake", "check", str(file)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(faults)
    assert all(line.startswith(f"{file}: {fault}") for line, fault in zip(lines, faults, strict=True)), lines
    assert commands.run(["rake", "check", str(file), "--json"]) == 1
    assert [f"{file}: {each}" for each in msgspec.json.decode(capsys.readouterr().out)["faults"]] == lines


def test_a_file_that_cannot_be_read_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    latin, long = tmp_path / "latin.toml", tmp_path / "long.toml"
    latin.write_bytes("id = 'é'".encode("latin-1"))
    long.write_bytes(b"#" * 1_000_001)
    for path, said in (
        (tmp_path, "Is a directory"),
        (tmp_path / "none.toml", "No such file or directory"),
        (latin, "no UTF-8 text, from byte 6 on"),
        (long, "longer than 1000000 bytes, so it was not written by hand"),
    ):
        assert commands.run(["rake", "check", str(path)]) == 2
        assert capsys.readouterr().err == f"croupier: {path}: {said}\n"


def test_the_published_families_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run(["rake", "schedules", "--json"]) == 0
    assert msgspec.json.decode(capsys.readouterr().out, type=list[Family]) == [family(name) for name in NAMES]
    assert commands.run(["rake", "schedules"]) == 0
    assert "party-fl-50-250" in capsys.readouterr().out
