"""`croupier bots`: they come into a room that others run, play whatever befalls it, and leave when they are told."""

import asyncio
import contextlib
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from contracts.client import Client
from contracts.codec import decode_commit
from contracts.events.table import HandEnded
from contracts.queries import PublicTable
from services.access.admitting import admit
from services.access.house import House
from services.access.issuing import issue
from services.bots.people import partner
from services.bus.settings import Settings
from services.command_line import commands
from services.command_line.proof import prove, replay_log
from services.command_line.serve import SERVICES, make_streams, room
from tests.access.house import deployed_house
from tests.processes.fleet import RUN, Fleet
from tests.processes.playing import ROOM, a_server

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]

IN_TIME_S: Final = 60.0
GONE_S: Final = 12.0
EVERYTHING: Final = ("table", "dealer", "rake", "settlement", "cashier", "views")


@asynccontextmanager
async def playing(*options: object) -> AsyncIterator[asyncio.subprocess.Process]:
    """The command as a process; killed at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", RUN, "bots", "--think-ms", "1", *map(str, options), stderr=asyncio.subprocess.PIPE
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()


async def told(process: asyncio.subprocess.Process) -> int:
    """Tells it to end, and gives its exit code; it takes no longer than a container's grace."""
    process.send_signal(signal.SIGTERM)
    return await asyncio.wait_for(process.wait(), GONE_S)


async def until(lobby: Client, table: str, wanted: Callable[[PublicTable], bool]) -> PublicTable:
    """The picture of a table, once it is as wanted."""
    async with asyncio.timeout(IN_TIME_S), lobby.follow(ROOM, table) as following:
        async for _ in following:
            if following.table is not None and wanted(following.table):
                return following.table
    raise AssertionError("following ends by itself")


async def sound(settings: Settings, table: str) -> int:
    """The hands in a table's log, of which nothing is wrong."""
    async with replay_log(settings) as log:
        account, findings = await prove(log, ROOM, table)
        assert findings == []
        assert account.chips_in == account.chips_out + account.rake
        return account.hands


async def test_bots_play_the_hands_that_are_wanted_and_leave_their_open_tables(tmp_path: Path) -> None:
    settings = Settings(data_path=tmp_path / "room", log_level="error")
    async with room(settings, SERVICES) as running:
        place = ("--credentials", running.credentials_file, "--tables", "nlhe,lo8", "--bots", 3, "--hands", 3)
        async with playing(*place, "--bankroll", "cashier") as process:
            assert await asyncio.wait_for(process.wait(), IN_TIME_S) == 0
        async with await partner(running, "lobby") as lobby:
            for table in ("nlhe", "lo8"):
                left = await until(lobby, table, lambda seen: not seen.seats)
                assert (left.status, left.config.bankroll, left.reservations) == ("open", "cashier", ())
        assert [await sound(running, table) >= 3 for table in ("nlhe", "lo8")] == [True, True]


async def test_bots_play_on_after_everything_was_killed_and_leave_at_a_word(tmp_path: Path) -> None:
    """Services and bots die without a word; who comes next plays for who sits there, and all leave in the end."""
    async with a_server(tmp_path) as settings, Fleet(settings, (EVERYTHING,)) as fleet:
        place = (
            "--nats",
            settings.nats_url,
            "--credentials",
            settings.credentials_file,
            "--tables",
            "plo",
            "--bots",
            3,
        )
        async with await partner(settings, "lobby") as lobby:
            async with playing(*place) as killed:
                seen = await until(lobby, "plo", lambda seen: seen.hand >= 2 and len(seen.seats) == 3)
                killed.kill()
                await killed.wait()
            async with playing(*place) as process:
                seen = await until(lobby, "plo", lambda now: now.hand > seen.hand + 1)
                (member,) = fleet.members
                await member.end(signal.SIGKILL)
                await member.start()
                await member.serving()
                await until(lobby, "plo", lambda now: now.hand > seen.hand + 1)
                assert await told(process) == 0
            left = await until(lobby, "plo", lambda now: not now.seats)
        assert left.status == "open"
        assert await sound(settings, "plo") >= left.hand
        assert await _doubled(settings) == {}


async def _doubled(settings: Settings) -> dict[int, int]:
    """Hands that ended twice: none, whoever played them."""
    async with replay_log(settings) as log:
        commits = [decode_commit(stored.data) async for stored in log.read(ROOM, "plo")]
    ended = Counter(event.number for commit in commits for event in commit.events if isinstance(event, HandEnded))
    return {hand: count for hand, count in ended.items() if count > 1}


async def test_bots_wait_for_a_server_that_is_not_there_and_go_at_a_word(tmp_path: Path) -> None:
    (tmp_path / "credentials.json").write_text(
        '{"url": "nats://127.0.0.1:1", "passwords": {"lobby": "x", "players": "x"}}'
    )
    async with playing("--credentials", tmp_path / "credentials.json") as process:
        assert process.stderr is not None
        said = ""
        while "bots_wait" not in said:
            said = (await asyncio.wait_for(process.stderr.readline(), IN_TIME_S)).decode()
        assert await told(process) == 0


async def test_bots_of_a_house_come_in_with_credentials_of_their_own(tmp_path: Path) -> None:
    """A lobby by its NKey, each player by a credential that the issuer made, all over TLS, past the doorman."""
    with deployed_house(tmp_path) as house:
        admit(house.house, "lobby", "bots")
        house.reload()
        await make_streams(house.settings("deploy"))
        async with house.serving("doorman", *EVERYTHING):
            folder = house.house.folder
            async with playing("--house", folder, "--nats", house.url, "--tables", "lhe", "--hands", 2) as process:
                credentials = folder / "lobbies" / "bots" / "credentials.json"
                async with await Client.of_file(credentials, "lobby", "bots", url=house.url) as lobby:
                    await until(lobby, "lhe", lambda seen: seen.hand >= 1)
                    names = {entry["authorized_user"] for entry in house.connections() if "authorized_user" in entry}
                    assert await asyncio.wait_for(process.wait(), IN_TIME_S) == 0
                    left = await until(lobby, "lhe", lambda seen: not seen.seats)
        assert left.hand >= 2
        assert names
        players = _made(tmp_path, folder)
        given = ("--nats", house.url, "--credentials", credentials, "--players", players, "--tables", "lhe")
        async with (
            house.serving("doorman", *EVERYTHING),
            playing(*given, "--bots", 3, "--hands", 1) as process,
        ):
            assert await asyncio.wait_for(process.wait(), IN_TIME_S) == 0


def _made(tmp_path: Path, folder: Path) -> Path:
    """A folder with the credentials of three players."""
    players = tmp_path / "players"
    players.mkdir()
    for name in ("ann", "bob", "cat"):
        (players / f"{name}.creds").write_text(issue(House(folder), name, 1).written())
    return players


def test_who_has_nothing_that_lets_players_in_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "credentials.json"
    file.write_text('{"url": "nats://127.0.0.1:1", "passwords": {"lobby": "x"}}')
    assert commands.run(["bots", "--credentials", str(file)]) == 2
    assert "lets in nobody who plays: give --players or --house too" in capsys.readouterr().err
