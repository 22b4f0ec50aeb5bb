"""`croupier refusals`: what was refused, to whom, and what they had sent."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from contracts.codec import encode
from contracts.outcomes import Refusal
from contracts.subjects import command, refused
from services.command_line import commands
from tests.replay.conftest import store
from tests.replay.playing import ROOM, Session

pytestmark = pytest.mark.server

AT = datetime(2026, 3, 1, 20, 0, 0, 7_000, tzinfo=UTC)
KEPT = [
    Refusal(
        subject=command(ROOM, "T1", "player", f"P{number}"),
        arrived=AT + timedelta(seconds=number),
        code="stale",
        message=f"Turn {number} is open, not 1.",
        body=f'{{"type":"act","id":"c{number}"}}',
        n=number,
        head="a" * 64,
    )
    for number in range(1, 400)
]
WILD = Refusal(
    subject=command(ROOM, "T1", "lobby", "lobby"),
    arrived=AT,
    code="malformed",
    message="No.\x1b[2J",
    body="\x1b]0;x\n{",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, nlhe: Session) -> Path:
    folder = tmp_path_factory.mktemp("refusals")
    junk = [(refused(ROOM, "T1"), encode(refusal)) for refusal in KEPT]
    junk += [(refused(ROOM, "T2"), encode(WILD)), (refused(ROOM, "T2"), b'{"code":"of_a_later_release"}')]
    asyncio.run(store(folder, {nlhe.table.id: nlhe.lines[:1]}, junk))
    return folder


def said(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> str:
    assert commands.run(["refusals", *arguments, "--data", str(folder)]) == 0
    return capsys.readouterr().out


def test_the_latest_refusals_of_a_table_are_listed_with_all_that_was_sent(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert said(capsys, folder, "T1", "--last", "2").splitlines() == [
        "2026-03-01 20:06:38.007 UTC  player P398  stale at commit 398: Turn 398 is open, not 1.",
        '    {"type":"act","id":"c398"}',
        "2026-03-01 20:06:39.007 UTC  player P399  stale at commit 399: Turn 399 is open, not 1.",
        '    {"type":"act","id":"c399"}',
    ]
    assert len(said(capsys, folder, "T1").splitlines()) == 2 * 20
    listed = msgspec.json.decode(said(capsys, folder, "T1", "--last", "300", "--json"), type=list[Refusal])
    assert listed == KEPT[-300:]


def test_what_was_sent_does_nothing_to_the_screen_and_hides_nothing(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    """Anybody may send anything, and an operator reads it in a terminal."""
    assert said(capsys, folder, "T2").splitlines() == [
        "2026-03-01 20:00:00.007 UTC  lobby lobby  malformed: No.\\x1b[2J",
        "    \\x1b]0;x\\n{",
        'a refusal that this release cannot read: {"code":"of_a_later_release"}',
    ]


def test_a_table_without_refusals_is_said_to_have_none(
    capsys: pytest.CaptureFixture[str], folder: Path, nlhe: Session
) -> None:
    table = nlhe.table.id
    assert said(capsys, folder, table) == f"no refused command of table {table} in room main is kept\n"
    assert said(capsys, folder, table, "--json") == "[]\n"


def test_a_table_that_is_not_there_is_told_from_one_without_refusals(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert commands.run(["refusals", "T3", "--data", str(folder)]) == 2
    assert capsys.readouterr().err == (
        "croupier: there is no table T3 in room main, and no refused command of it is kept\n"
    )
