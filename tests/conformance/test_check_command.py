"""`croupier check`: what it prints, and its exit code."""

import json
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from services.command_line.check import check, show
from services.conformance.judging import check_files
from tests.conformance.cases import RULES, recorded

NAME = "plo8-dc8ddfb09ea5"


def tampered(tmp_path: Path) -> Path:
    hand = recorded(NAME)
    hand["rake"] += 1
    path = tmp_path / "tampered.jsonl"
    path.write_text(json.dumps(hand))
    return path


def test_files_that_agree_give_exit_code_0(capsys: pytest.CaptureFixture[str]) -> None:
    faults, disputes = RULES / "faults.jsonl", RULES / "recorded" / "disputes.jsonl"
    assert check(faults, disputes, json=True) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["files"][0] == {"file": str(faults), "hands": 27, "agree": 27, "differ": [], "not_covered": []}
    assert [skipped["id"] for skipped in printed["files"][1]["not_covered"]] == [
        "nlhe-128804386b48",
        "nlhe-14d005aaf6d0",
    ]
    assert list(printed) == ["files"]


def test_a_difference_gives_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tampered(tmp_path)
    assert check(path, json=True) == 1
    (report,) = json.loads(capsys.readouterr().out)["files"]
    assert (report["file"], report["hands"], report["agree"], report["not_covered"]) == (str(path), 1, 0, [])
    payouts, finishing = report["differ"]
    paid = recorded(NAME)["payouts"]
    assert (payouts["id"], payouts["what"], payouts["expected"]) == (NAME, "payouts", paid)
    assert sum(payouts["got"].values()) == sum(paid.values()) - 1
    assert finishing["what"] == "finishing stacks"


def test_a_file_that_cannot_be_read_gives_exit_code_2_and_the_others_are_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text(json.dumps(recorded(NAME)) + "\ngarbage\n")
    assert check(bad, tampered(tmp_path), json=True) == 2
    printed = capsys.readouterr()
    sentence = f"{bad}, line 2: not a recorded hand: JSON is malformed: invalid character (byte 0)"
    assert printed.err == sentence + "\n"
    assert json.loads(printed.out)["unreadable"] == [sentence]
    assert len(json.loads(printed.out)["files"]) == 1


def test_no_file_at_all_gives_exit_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert check() == 2
    assert capsys.readouterr().err == "Name at least one file to check.\n"


def test_the_table_counts_hands_and_names_each_difference(tmp_path: Path) -> None:
    path = tampered(tmp_path)
    printed = StringIO()
    show(check_files([path, RULES / "vectors.json"]), Console(file=printed, width=200))
    lines = printed.getvalue().splitlines()
    cells = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if line.startswith("│")]
    assert cells == [[str(path), "1", "0", "1", "0"], [str(RULES / "vectors.json"), "101", "101", "0", "0"]]
    told = [line for line in lines if line.startswith((str(path), "  "))]
    assert [line.partition(" differs: ")[2] for line in told[::3]] == ["payouts", "finishing stacks"]
    assert told[1].startswith("  expected {")
    assert told[2].startswith("  got      {")
