"""A log that lost its last commits before their heads were published: who can know it, and what becomes of it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from services.command_line.serve import SERVICES, room
from tests.damage.conftest import Played
from tests.damage.running import a_caller, answered, ask, ask_verify, croupier, halted_with, resumed, verified
from tests.damage.store import flip_last
from tests.services.room import ROOM, Room, a_house
from tests.services.test_forged_log import played_on

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("damage")]

TABLE = "T4"
"""Its last commit is the last one of the log."""
TOLD_S_MAX = 10


async def without_heads(running: Room) -> None:
    """As if nobody had published a head of the table yet: they may be a second late."""
    deploy = await running.caller("deploy")
    await deploy.client.jetstream().purge_stream("HEADS", subject=f"heads.*.{ROOM}.{TABLE}")


@contextlib.asynccontextmanager
async def alive_while_the_end_is_lost(folder: Path) -> AsyncIterator[Room]:
    """A room whose services stay alive while the server stops, loses the last commit, and comes back."""
    services = AsyncExitStack()
    async with EmbeddedServer(folder) as server:
        settings = Settings(nats_url=server.url, data_path=folder, credentials_path=folder / "credentials.json")
        port = server.port
        await services.enter_async_context(room(settings, SERVICES))
        async with a_caller(settings) as running:
            await without_heads(running)
    flip_last(folder)
    async with EmbeddedServer(folder, port=port), services, a_caller(settings) as running:
        yield running


async def test_services_that_hold_the_fold_halt_the_table_and_leave_what_they_know(
    played: Played, tmp_path: Path
) -> None:
    """Once only the living knew of the lost commit: after a restart of theirs the table played on without it."""
    folder, n = played.copy(tmp_path), played.commits[TABLE]
    missing = f"commit {n} is missing: the log ends at commit {n - 1}, and commit {n} is known"
    async with alive_while_the_end_is_lost(folder) as running:
        lobby = await running.caller("lobby")
        await answered(running, lobby, "T1")
        assert missing in await halted_with(lobby, TABLE)
        await played_on(running, lobby, "T1")
        async with asyncio.timeout(TOLD_S_MAX):
            while (found := await ask_verify(folder))[0] == 0:
                pass
        assert {table: finding["n"] for table, finding in found[1].items()} == {TABLE: n}
    async with a_house(folder) as running:
        lobby = await running.caller("lobby")
        assert missing in await halted_with(lobby, TABLE)
        said = await ask("repair", TABLE, "--from", played.exports[TABLE], "--data", folder)
        assert said.code == 0, said
        await resumed(running, lobby, TABLE, n)
        await played_on(running, lobby, TABLE)
    assert await ask_verify(folder) == (0, {})


async def test_what_nobody_knows_is_not_missed_and_one_answer_proves_it(played: Played, tmp_path: Path) -> None:
    """Every answer and every public view carries a head; without any, a shorter log is a whole one."""
    folder, n = played.copy(tmp_path), played.commits[TABLE]
    async with a_house(folder) as running:
        lobby = await running.caller("lobby")
        seen = await running.picture(lobby, TABLE, lambda seen: seen.n == n)
        await without_heads(running)
    flip_last(folder)
    said = await asyncio.to_thread(croupier, "verify", TABLE, "--data", folder)
    assert said.code == 0
    assert "nothing vouches for the end of the log: compare the head" in said.out
    assert await asyncio.to_thread(verified, folder) == (0, {})
    said = await asyncio.to_thread(croupier, "verify", TABLE, "--head", f"{seen.n}:{seen.head}", "--data", folder)
    assert said.code == 1
    assert f"commit {n} is missing: the log ends at commit {n - 1}, and somebody knows commit {n}" in said.out


async def test_a_table_that_played_on_without_its_lost_end_is_told_from_the_one_somebody_saw(
    played: Played, tmp_path: Path
) -> None:
    folder, n = played.copy(tmp_path), played.commits[TABLE]
    async with a_house(folder) as running:
        await without_heads(running)
    flip_last(folder)
    async with a_house(folder) as running:
        await played_on(running, await running.caller("lobby"), TABLE)
    assert await ask_verify(folder) == (0, {})
    head = f"{n}:{played.head(TABLE)}"
    said = await ask("verify", TABLE, "--head", head, "--data", folder)
    assert said.code == 1
    assert f"commit {n}" in said.out
    said = await ask("repair", TABLE, "--from", played.exports[TABLE], "--data", folder)
    assert said.code == 1
    assert said.out.startswith("Nothing was changed: something would be lost")
