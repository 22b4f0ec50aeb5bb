"""What a table's log still tells where a message of it is damaged, and where a command cannot read on."""

import asyncio
import re
import shutil
from pathlib import Path

import msgspec
import pytest

from contracts.codec import encode
from contracts.commit import Head
from contracts.events.table import HandStarted
from contracts.subjects import heads
from services.command_line import commands
from tests.damage.store import flip_commit, of_stream
from tests.replay.conftest import store
from tests.replay.playing import ROOM, Session, session

pytestmark = pytest.mark.server

TABLE = "nlhe-1"


@pytest.fixture(scope="module")
def played() -> Session:
    return session("nlhe", seed=1, hands=4)


def begins(played: Session) -> list[int]:
    """The numbers of the commits with which hands began."""
    return [commit.n for commit in played.commits if isinstance(commit.events[0], HandStarted)]


def damaged(folder: Path, played: Session, n: int, last: int | None = None) -> Path:
    """A room in which commit `n` is damaged; commit `last` is the last one that was stored."""
    asyncio.run(store(folder, {TABLE: played.lines[:last]}))
    flip_commit(folder, TABLE, n)
    return folder


def said(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: object) -> tuple[int, str, str]:
    """How a command ends, and what it prints."""
    capsys.readouterr()
    code = commands.run([*map(str, arguments), "--data", str(folder)])
    return code, *capsys.readouterr()


@pytest.mark.parametrize("at_the_end", [True, False], ids=["last message", "messages behind it"])
def test_hands_are_found_though_the_last_ones_beginning_is_damaged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], played: Session, *, at_the_end: bool
) -> None:
    """The server says of a damaged message that it is not there: those of the same kind before it still are.

    Of the hand right before a hole nobody can tell whether it is whole.
    """
    *whole, broken = begins(played)
    damaged(tmp_path, played, broken, broken if at_the_end else None)
    for hand in range(1, len(whole) + at_the_end):
        code, out, _ = said(capsys, tmp_path, "replay", TABLE, hand)
        assert (code, out.startswith(f"Hand {hand} at table {TABLE}")) == (0, True)
        assert said(capsys, tmp_path, "export", TABLE, hand)[0] == 0
        code, out, _ = said(capsys, tmp_path, "verify", TABLE, hand)
        assert (code, f"Table {TABLE}: sound" in out) == (0, True)


def test_a_table_that_lost_its_last_hand_is_listed_and_watched_from_the_hand_before(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], played: Session
) -> None:
    *whole, broken = begins(played)
    damaged(tmp_path, played, broken, broken)
    code, out, _ = said(capsys, tmp_path, "hands", TABLE)
    listed = re.findall(r"^ +(\d+)  ", out, re.MULTILINE)
    assert (code, listed) == (0, [str(hand) for hand in range(1, len(whole) + 1)])
    assert said(capsys, tmp_path, "hands", TABLE, "--player", "alice")[0] == 0
    code, out, _ = said(capsys, tmp_path, "watch", TABLE, "--hands", 1)
    assert (code, f"Hand {len(whole)} at table {TABLE}" in out) == (0, True)


@pytest.mark.parametrize(
    "arguments",
    [
        ("hands", TABLE),
        ("hands", TABLE, "--player", "alice"),
        ("replay", TABLE, 4),
        ("watch", TABLE),
        ("export", TABLE),
        ("export", TABLE, 4),
        ("verify", TABLE, 4),
        ("rake",),
    ],
    ids=lambda arguments: " ".join(map(str, arguments)),
)
def test_where_a_hole_ends_a_command_it_says_which_one_tells_more(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], played: Session, arguments: tuple[object, ...]
) -> None:
    broken = begins(played)[-1]
    damaged(tmp_path, played, broken)
    code, out, err = said(capsys, tmp_path, *arguments)
    hole = f"table {TABLE}: the log has a hole: commit {broken + 1} where {broken} is due"
    assert (code, out, err) == (2, "", f"croupier: {hole}; `croupier verify {TABLE}` tells more\n")


def test_a_table_with_a_hole_is_listed_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], played: Session
) -> None:
    damaged(tmp_path, played, begins(played)[-1])
    code, out, _ = said(capsys, tmp_path, "tables")
    assert (code, "the log has a hole" in out) == (0, True)
    assert out.endswith("`croupier verify TABLE` tells more of a table that is halted, or cannot be read\n")


def test_a_table_that_lost_its_end_is_listed_as_halted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], played: Session
) -> None:
    """A service published a head that the log does not reach."""
    last = len(played.lines)
    damaged(tmp_path, played, last)
    code, out, _ = said(capsys, tmp_path, "tables", "--json")
    (line,) = msgspec.json.decode(out)
    fault = f"halted: the log ends at commit {last - 1}, and commit {last} is known"
    assert (code, line["status"], line["n"], line["fault"]) == (0, "open", last - 1, fault)
    _, out, _ = said(capsys, tmp_path, "tables")
    assert out.endswith("`croupier verify TABLE` tells more of a table that is halted, or cannot be read\n")


def test_a_table_whose_last_commit_is_another_than_was_published_is_listed_as_halted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], played: Session
) -> None:
    last = len(played.lines)
    published = (heads("table", ROOM, TABLE), encode(Head(n=last, hash="0" * 64)))
    asyncio.run(store(tmp_path, {TABLE: played.lines}, [published]))
    _, out, _ = said(capsys, tmp_path, "tables", "--json")
    assert msgspec.json.decode(out)[0]["fault"] == f"halted: commit {last} is not the one that was published"


def test_tables_are_listed_though_their_heads_are_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], played: Session
) -> None:
    asyncio.run(store(tmp_path, {TABLE: played.lines}))
    shutil.rmtree(of_stream(tmp_path, "HEADS"))
    code, out, _ = said(capsys, tmp_path, "tables", "--json")
    (line,) = msgspec.json.decode(out)
    assert (code, line["n"], "fault" in line) == (0, len(played.lines), False)
