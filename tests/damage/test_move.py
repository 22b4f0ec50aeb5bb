"""`croupier move`: what is computed meanwhile, what is looked at before the table is paused, and what is said."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple, Never

import pytest

from contracts.commands import CloseTable, PauseTable
from contracts.outcomes import Accepted
from services.bus.settings import Settings
from services.command_line import commands, mending
from services.command_line.restoring import Restoring
from services.replay.restoration import NotTaken, Whole, whole
from tests.damage.conftest import Played
from tests.damage.running import ask, complaint, pauses_and_ends_its_hand
from tests.services.room import Caller, Room, a_house
from tests.services.test_long_computations import a_loop_runs_here

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("damage")]


async def test_a_long_log_is_verified_beside_the_loop_before_it_is_taken_elsewhere(
    played: Played, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server once hung up meanwhile, and the move of a long table failed each time on a slow machine."""
    folder, in_the_loop = played.copy(tmp_path), list[bool]()

    def watched(*arguments: object) -> Whole:
        in_the_loop.append(a_loop_runs_here())
        return whole(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(mending, "whole", watched)
    async with a_house(folder) as here, a_house(tmp_path / "there") as there:
        await pauses_and_ends_its_hand(here, await here.caller("lobby"), "T1")
        target = ["--to", str(there.settings.nats_url), "--to-credentials", str(there.settings.credentials_file)]
        assert await asyncio.to_thread(commands.run, ["move", "T1", *target, "--data", str(folder)]) == 0
    assert set(in_the_loop) == {False}


class Houses(NamedTuple):
    """Two houses; at the first one, table T1 is open, and waits for a second player."""

    here: Room
    there: Room
    lobby: Caller
    source: tuple[object, ...]
    target: tuple[object, ...]

    async def status(self) -> str:
        """Whether the table is open, here."""
        return (await self.here.picture(self.lobby, "T1", lambda _: True)).status


@asynccontextmanager
async def two_houses(folder: Path) -> AsyncIterator[Houses]:
    async with a_house(folder / "here") as here, a_house(folder / "there") as there:
        lobby = await here.caller("lobby")
        await here.open(lobby, "T1", ("P1",))
        source = ("--nats", here.settings.nats_url, "--credentials", here.settings.credentials_file)
        yield Houses(here, there, lobby, source, _to(there.settings))


def _to(settings: Settings) -> tuple[object, ...]:
    return "--to", settings.nats_url, "--to-credentials", settings.credentials_file


async def test_the_target_is_looked_at_before_a_live_table_is_paused(tmp_path: Path) -> None:
    """A wrong address, or a wrong file, once left a table paused for nothing, and did not say so."""
    async with two_houses(tmp_path) as houses:
        _, there, _, source, target = houses
        nowhere = ("--to", "nats://127.0.0.1:1", *target[2:])
        said = await asyncio.to_thread(complaint, "move", "T1", *nowhere, *source)
        assert "no server is reached at nats://127.0.0.1:1" in said
        assert await houses.status() == "open"
        another = (*target[:2], "--to-credentials", houses.here.settings.credentials_file)
        said = await asyncio.to_thread(complaint, "move", "T1", *another, *source)
        assert "does not let in the user 'deploy'" in said
        assert await houses.status() == "open"
        await there.open(await there.caller("lobby"), "T1", ())
        refused = await ask("move", "T1", *target, *source)
        assert refused == (1, "Nothing was moved: the other server has another table T1 in room main.\n")
        assert await houses.status() == "open"


async def test_a_live_table_between_two_hands_is_paused_and_moved(tmp_path: Path) -> None:
    async with two_houses(tmp_path) as houses:
        said = await ask("move", "T1", *houses.target, *houses.source)
        assert said.code == 0, said
        assert "There it is paused: `croupier resume T1`" in said.out
        assert "Close it here: `croupier close T1`" in said.out
        assert await houses.status() == "paused"
        log = [stored.data for stored in await houses.here.log("T1")]
        assert [stored.data for stored in await houses.there.log("T1")] == log


async def test_a_closed_table_is_moved_and_nobody_is_told_to_resume_it(tmp_path: Path) -> None:
    async with two_houses(tmp_path) as houses:
        for command in (PauseTable(id="pause"), CloseTable(id="close")):
            assert isinstance(await houses.lobby.command("T1", "lobby", command), Accepted)
        said = await ask("move", "T1", *houses.target, *houses.source)
        assert said.code == 0, said
        assert said.out.splitlines()[1:] == ["  It is closed, there as here."]


async def test_a_move_that_fails_after_the_pause_says_that_the_table_is_paused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def run(_: object, *_wanted: object) -> Never:
        raise NotTaken("the disk is full")

    monkeypatch.setattr(Restoring, "run", run)
    async with two_houses(tmp_path) as houses:
        command = ["move", "T1", *map(str, houses.target), *map(str, houses.source)]
        assert await asyncio.to_thread(commands.run, command) == 2
        said = capsys.readouterr().err
        assert "croupier: the disk is full\n" in said
        assert "croupier: table T1 is paused now: `croupier resume T1` has it play on here\n" in said
        assert await houses.status() == "paused"
