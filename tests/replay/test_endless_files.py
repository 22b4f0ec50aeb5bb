"""Files are somebody's: one that never ends, or is full of faults, takes neither all memory nor all time."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from services.bus.reading import Unreadable
from services.command_line import accounting, ledger_logs
from services.command_line.key_files import keys_of
from services.command_line.proving import verify_file
from services.command_line.refusals import WrongArgument
from services.conformance import files as hands
from services.replay import files
from services.replay.verification import FAULTS_MAX
from tests.fuzz.bounds import bounded_memory
from tests.replay.playing import ROOM, Session

ENDLESS = Path("/dev/zero")
LOGS: dict[str, Callable[[], object]] = {
    "verify": lambda: verify_file(ROOM, ENDLESS, None, None, heads=(), key_files=(), json=True),
    "verify a hand": lambda: verify_file(ROOM, ENDLESS, "T1", 3, heads=(), key_files=(), json=True),
    "reconcile": lambda: accounting.reconciled_files(ROOM, [ENDLESS], None),
    "rake": lambda: files.table_of(ENDLESS),
    "repair": lambda: [*files.messages(ROOM, ENDLESS)],
}


@pytest.mark.parametrize("command", LOGS.values(), ids=LOGS)
def test_an_exported_log_with_a_line_that_never_ends_is_refused(command: Callable[[], object]) -> None:
    """It once was read until there was no memory left, and that ended in a traceback."""
    with bounded_memory(), pytest.raises(Unreadable, match="/dev/zero: line 1 is longer than any commit"):
        command()


def test_a_file_that_never_ends_is_no_ledgers() -> None:
    with bounded_memory():
        assert not ledger_logs.is_meant(ENDLESS, table=False, ledger=None)


def test_a_file_of_hands_that_never_ends_is_refused() -> None:
    with bounded_memory(), pytest.raises(hands.Unreadable, match="/dev/zero: longer than 50000000 bytes: split it"):
        hands.cases(ENDLESS)


def test_a_file_of_keys_that_never_ends_is_refused() -> None:
    with bounded_memory(), pytest.raises(WrongArgument, match="/dev/zero is no file of hand keys: it is longer than"):
        keys_of([ENDLESS], "T1")


def test_a_line_as_long_as_a_commit_may_be_is_read(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"x" * files.LINE_BYTES_MAX + b"\n" + b"y" * files.LINE_BYTES_MAX)
    assert [len(line) for line in files.lines(path)] == 2 * [files.LINE_BYTES_MAX]
    path.write_bytes(b"x\n" + b"y" * (files.LINE_BYTES_MAX + 1))
    with pytest.raises(Unreadable, match="line 2 is longer than any commit, which has 1048576 bytes at most"):
        [*files.lines(path)]


def test_a_log_of_faults_alone_is_verified_until_there_are_enough(
    tmp_path: Path, nlhe: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each line once took a hundred times its own memory, up to the file's end."""
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"".join(line + b"\n" for line in nlhe.lines) + b"x\n" * (FAULTS_MAX + 1))
    assert verify_file(ROOM, path, None, None, heads=(), key_files=(), json=True) == 2
    (report,) = msgspec.json.decode(capsys.readouterr().out)["tables"]
    assert report["commits"] == nlhe.table.n
    assert len(report["findings"]) == FAULTS_MAX
    assert report["notes"] == [f"what lies behind the first {FAULTS_MAX} faults was not verified"]


def test_the_key_of_a_hand_that_was_not_reached_is_no_wrong_argument(
    tmp_path: Path, nlhe: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    log, keys = tmp_path / "log.jsonl", tmp_path / "keys.json"
    first = max(n for n, commit in enumerate(nlhe.commits, 1) if commit.hand == 2)
    log.write_bytes(b"\n".join([*nlhe.lines[:first], *([b"x"] * FAULTS_MAX), *nlhe.lines[first:]]))
    keys.write_bytes(msgspec.json.encode(nlhe.hand_key(5)))
    assert verify_file(ROOM, log, None, None, heads=(), key_files=[keys], json=True) == 2
    (report,) = msgspec.json.decode(capsys.readouterr().out)["tables"]
    assert report["hands"] == 2
    assert report["notes"] == [f"what lies behind the first {FAULTS_MAX} faults was not verified"]


@pytest.mark.parametrize("hand", [None, 3])
def test_each_line_that_is_no_commit_is_named_by_its_place_in_the_file(
    hand: int | None, tmp_path: Path, nlhe: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each was once named as the line behind the last commit, counted from where the verification began."""
    last = max(n for n, commit in enumerate(nlhe.commits, 1) if commit.hand == 3)
    path = tmp_path / "log.jsonl"
    path.write_bytes(b"\n".join([*nlhe.lines[: last - 1], b"x", b"y", *nlhe.lines[last - 1 :]]))
    assert verify_file(ROOM, path, None, hand, heads=(), key_files=(), json=True) == 2
    (report,) = msgspec.json.decode(capsys.readouterr().out)["tables"]
    assert [finding["message"].split(":")[0] for finding in report["findings"]] == [
        f"line {last} is not a commit",
        f"line {last + 1} is not a commit",
    ]
