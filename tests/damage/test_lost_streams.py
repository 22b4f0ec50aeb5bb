"""A stream of which the server finds nothing, or not what it is: a lost log is not taken for a new room."""

import asyncio
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest
import structlog

from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from services.bus.streams import HEADS, REFUSALS, TABLES, StreamDiffers
from services.command_line.serve import DEPLOY_PREFIX, SERVICES, room
from services.command_line.sources import connected
from tests.damage.conftest import Played
from tests.damage.running import complaint, croupier, halted_with, pauses_and_ends_its_hand, read, verified
from tests.damage.store import copied, flip, of_stream
from tests.faults.running import ended
from tests.processes.fleet import RUN
from tests.services.room import ROOM, a_house
from tests.services.test_forged_log import played_on

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("damage")]

USED: Final = "the streams are not as they must be: stream TABLES does not exist, though "


def _gone(folder: Path, *names: str) -> None:
    for name in names:
        shutil.rmtree(of_stream(folder, name))


DESCRIPTION: Final[dict[str, Callable[[Path], None]]] = {
    "altered": lambda stream: flip(stream / "meta.inf", 30),
    "cut off": lambda stream: os.truncate(stream / "meta.inf", 40),
    "missing": lambda stream: (stream / "meta.inf").unlink(),
    "without its sum": lambda stream: (stream / "meta.sum").unlink(),
}


async def serving(folder: Path, *options: str) -> str:
    """Why `croupier serve` does not serve; it ends with 1, and alarms once."""
    code, said = await ended([sys.executable, "-c", RUN, "serve", "all", "--data", str(folder), *options])
    alarms = [line for line in said if line["level"] in ("error", "critical") and line["event"] != "nats_closed"]
    assert (code, [line["event"] for line in alarms]) == (1, ["cannot_serve"])
    reason: str = alarms[0]["reason"]
    return reason


async def begun_anew(folder: Path) -> list[tuple[str, int]]:
    """Serves with `--new-log` for a moment: which streams were created though others were in use, with how much."""
    with structlog.testing.capture_logs() as said:
        async with room(Settings(data_path=folder, rooms=(ROOM,)), SERVICES, new_log=True):
            pass
    return [(line["stream"], line["messages"]) for line in said if line["event"] == "stream_created_anew"]


@pytest.mark.parametrize("fault", DESCRIPTION)
async def test_a_log_whose_description_is_damaged_is_refused_until_told_and_then_found_again(
    fault: str, played: Played, tmp_path: Path
) -> None:
    """Created in silence it would have been an empty log, had the server not found the old files by luck."""
    folder = played.copy(tmp_path)
    DESCRIPTION[fault](of_stream(folder, TABLES))
    reason = await serving(folder)
    assert reason.startswith(f"{USED}stream HEADS was in use"), reason
    assert "put its folder back from a copy" in reason
    assert "--new-log" in reason
    assert await begun_anew(folder) == [(TABLES, sum(played.commits.values()) + 10)]
    assert await asyncio.to_thread(verified, folder) == (0, {})
    found = await read(folder, played.exports)
    assert found == {table: played.lines(table) for table in played.exports}


async def test_a_log_that_is_gone_is_refused_until_told_and_then_every_table_is_halted(
    played: Played, tmp_path: Path
) -> None:
    folder = played.copy(tmp_path)
    _gone(folder, TABLES)
    assert (await serving(folder)).startswith(f"{USED}stream HEADS was in use")
    assert not of_stream(folder, TABLES).exists()
    assert await begun_anew(folder) == [(TABLES, 0)]
    code, found = await asyncio.to_thread(verified, folder)
    assert (code, {table: finding["n"] for table, finding in found.items()}) == (1, dict.fromkeys(played.exports, 1))
    async with a_house(folder) as running:
        lobby = await running.caller("lobby")
        for table, n in played.commits.items():
            assert f"commits 1 to {n} are missing" in await halted_with(lobby, table)
            assert await running.log(table) == []
    for table, export in played.exports.items():
        said = await asyncio.to_thread(croupier, "repair", table, "--from", export, "--data", folder)
        assert said.code == 0, said
    async with a_house(folder) as running:
        lobby = await running.caller("lobby")
        for table in played.exports:
            await played_on(running, lobby, table)
    assert await asyncio.to_thread(verified, folder) == (0, {})


async def test_a_log_goes_on_without_its_heads_and_says_so(played: Played, tmp_path: Path) -> None:
    """Without published heads a log that lost its end looks whole: that they are gone must not go unsaid."""
    folder = played.copy(tmp_path)
    _gone(folder, HEADS)
    said = await asyncio.to_thread(complaint, "verify", "--data", folder)
    assert "stream HEADS: stream not found" in said
    assert await begun_anew(folder) == [(HEADS, 0)]
    out = (await asyncio.to_thread(croupier, "verify", "T4", "--data", folder)).out
    assert "nothing vouches for the end of the log: compare the head" in out
    async with a_house(folder) as running:
        lobby = await running.caller("lobby")
        for table in played.exports:
            await played_on(running, lobby, table)
    assert await asyncio.to_thread(verified, folder) == (0, {})
    out = (await asyncio.to_thread(croupier, "verify", "T4", "--data", folder)).out
    assert "nothing vouches" not in out


@pytest.mark.parametrize("gone", [(TABLES, HEADS), (TABLES, HEADS, REFUSALS)])
async def test_a_room_that_lost_log_and_heads_is_told_by_the_keys_of_its_decks(
    gone: tuple[str, ...], played: Played, tmp_path: Path
) -> None:
    folder = played.copy(tmp_path)
    _gone(folder, *gone)
    keys = folder / "master-keys.json"
    assert (await serving(folder)).startswith(USED)
    keys.rename(tmp_path / "keys")
    if REFUSALS not in gone:
        return
    async with a_house(folder) as running:  # nothing at all is left that tells: this is a new room
        assert await running.log("T1") == []
    assert keys.exists()


async def test_a_room_that_never_had_a_log_is_not_taken_for_one_that_lost_it(tmp_path: Path) -> None:
    async with a_house(tmp_path / "new"):
        pass
    async with a_house(tmp_path / "new") as running:
        assert await running.log("T1") == []


async def test_in_process_the_refusal_is_a_stream_that_differs(played: Played, tmp_path: Path) -> None:
    folder = played.copy(tmp_path)
    _gone(folder, TABLES)
    with pytest.raises(StreamDiffers, match=r"nothing was created"):
        async with a_house(folder):
            pass


async def test_the_deploy_role_is_refused_too_until_it_says_that_it_knows(played: Played, tmp_path: Path) -> None:
    folder = played.copy(tmp_path)
    _gone(folder, TABLES)
    async with EmbeddedServer(folder) as server:
        place = ("--nats", server.url, "--credentials", str(folder / "credentials.json"))
        command = [sys.executable, "-c", RUN, "streams", *place]
        code, said = await ended(command)
        assert (code, said[-1]["event"]) == (1, "cannot_serve")
        assert said[-1]["reason"].startswith(f"{USED}stream HEADS was in use")
        code, said = await ended([*command, "--new-log"])
        assert code == 0, said
        assert [line["stream"] for line in said if line["event"] == "stream_created_anew"] == [TABLES]
        assert (await ended(command))[0] == 0


async def test_a_table_does_not_move_to_a_server_that_could_not_read_its_disk(played: Played, tmp_path: Path) -> None:
    """As one with another key to its disk: it has no stream, and deletes what lies there when one is created."""
    folder, other = played.copy(tmp_path), copied(played.folder, tmp_path / "other")
    for each in other.rglob("meta.sum"):
        each.unlink()
    async with a_house(folder) as here, EmbeddedServer(other) as there:
        await pauses_and_ends_its_hand(here, await here.caller("lobby"), "T1")
        target = ("--to", there.url, "--to-credentials", other / "credentials.json")
        said = await asyncio.to_thread(complaint, "move", "T1", *target, "--data", folder)
        assert "stream TABLES does not exist, and a server is not well" in said
        async with connected(Settings(data_path=other, nats_url=there.url), "deploy") as deploy:
            assert await deploy.jetstream(prefix=DEPLOY_PREFIX).streams_info() == []
