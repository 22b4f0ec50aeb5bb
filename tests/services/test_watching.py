"""`croupier watch`: a hand is told while it is played, in the words in which it is told later."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from contracts.commands import Act
from contracts.outcomes import Accepted
from services.bus.settings import Settings
from tests.services.console import Croupier
from tests.services.room import a_room

pytestmark = pytest.mark.server


async def _watching(settings: Settings, *options: str) -> asyncio.subprocess.Process:
    where = ("--nats", str(settings.nats_url), "--credentials", str(settings.credentials_file))
    command = [sys.executable, "-m", "services.cli", "watch", "T1", *options, *where]
    return await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


async def test_who_watches_reads_what_replay_tells_when_the_hand_is_over(
    tmp_path: Path, croupier: Callable[[Settings], Croupier]
) -> None:
    async with a_room(tmp_path) as house:
        lobby, players = await house.caller("lobby"), await house.caller("players", "player")
        await house.open(lobby, "T1", ("ann", "bob"))
        seen = await house.picture(lobby, "T1", lambda seen: seen.turn_number is not None)
        assert seen.turn is not None
        assert seen.turn_number is not None
        watching = await _watching(house.settings, "--hands", "1")
        programs = await _watching(house.settings, "--hands", "1", "--json")
        assert watching.stdout is not None
        assert programs.stdout is not None
        first = [await watching.stdout.readline() for _ in range(2)]  # an empty line, and the heading
        plain = [await programs.stdout.readline()]

        actor = next(seat.player for seat in seen.seats if seat.seat == seen.turn.seat)
        fold = Act(id="fold", hand=1, turn=seen.turn_number, action="fold")
        assert isinstance(await players.command("T1", actor, fold), Accepted)

        out, err = await watching.communicate()
        lines = [line for line in (b"".join(first) + out).decode().splitlines() if line]
        told = await croupier(house.settings)("replay", "T1", 1)
        assert (watching.returncode, err) == (0, b"")
        assert lines == told.out.splitlines()[: len(lines)]
        assert any(line.startswith("hand 1 is over", line.find("hand")) for line in lines)
        out, err = await programs.communicate()
        texts = [msgspec.json.decode(line)["text"] for line in (*plain, *out.splitlines())]
        assert (programs.returncode, err) == (0, b"")
        assert [line.endswith(text) for line, text in zip(lines, texts, strict=True)] == [True] * len(lines)


async def test_a_table_that_is_not_there_is_said_in_a_sentence(
    tmp_path: Path, croupier: Callable[[Settings], Croupier]
) -> None:
    async with a_room(tmp_path, ("table",)) as house:
        ran = await croupier(house.settings)("watch", "T9")
    assert (ran.code, ran.err) == (2, "croupier: there is no table T9 in room main\n")
