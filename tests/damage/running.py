"""What tests of damage do with a room: commands of an operator, and what tables say."""

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

from contracts.commands import Act, PauseTable
from contracts.outcomes import Accepted, Rejected
from contracts.queries import PublicTable
from services.bus.jetstream import JetStreamLog
from services.bus.mailbox import NobodyThere
from services.bus.replica import AGAIN
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from services.command_line.sources import connected
from tests.services.room import ROOM, Caller, Room

RESUMES_S_MAX = 20


class Said(NamedTuple):
    code: int
    out: str


def croupier(*arguments: object) -> Said:
    """Runs a command as an operator would."""
    ran = run(*arguments)
    assert not ran.stderr, ran.stderr
    return Said(ran.returncode, ran.stdout)


def complaint(*arguments: object) -> str:
    """What a command says that cannot read what it was asked about, and ends with 2."""
    ran = run(*arguments)
    assert (ran.returncode, ran.stdout) == (2, ""), ran
    return ran.stderr


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    """Runs a command as an operator would, whatever it says."""
    command = [sys.executable, "-m", "services.cli", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def unread_or_verified(folder: Path) -> dict[str, int] | None:
    """The first lost or altered commit of each table that `verify` names; None where it says that it cannot read."""
    ran = run("verify", "--data", folder, "--json")
    if ran.stderr:
        assert (ran.returncode, ran.stdout) == (2, ""), ran
        assert ran.stderr.startswith("croupier: "), ran.stderr
        return None
    tables = json.loads(ran.stdout)["tables"]
    found = {each["table"]: each["findings"][0]["n"] for each in tables if "findings" in each}
    assert bool(ran.returncode) == bool(found), ran.stdout
    return found


def verified(folder: Path) -> tuple[int, dict[str, dict[str, Any]]]:
    """The exit code of `croupier verify`, and the first finding of each table that has any."""
    said = croupier("verify", "--data", folder, "--json")
    reports = json.loads(said.out)["tables"]
    return said.code, {each["table"]: each["findings"][0] for each in reports if "findings" in each}


async def halted_with(lobby: Caller, table: str) -> str:
    """The reason with which a table refuses a pause, once its log has been read."""
    async with asyncio.timeout(RESUMES_S_MAX):
        while True:
            answer = await lobby.command(table, "lobby", PauseTable(id="is-it-halted"))
            assert isinstance(answer, Rejected), table
            assert answer.code == "halted", answer
            if AGAIN not in answer.message:
                return answer.message
            await asyncio.sleep(0.05)


async def read(folder: Path, tables: Iterable[str]) -> dict[str, list[bytes]]:
    """What a server over the folder gives out of each table."""
    settings = Settings(data_path=folder)
    async with EmbeddedServer(folder), connected(settings, "replay") as client:
        log = await JetStreamLog.open(client, settings)
        return {table: [stored.data async for stored in log.read(ROOM, table)] for table in tables}


async def ask(*arguments: object) -> Said:
    """The same beside a running room."""
    return await asyncio.to_thread(croupier, *arguments)


async def ask_verify(folder: Path) -> tuple[int, dict[str, dict[str, Any]]]:
    """`verified` beside a running loop."""
    return await asyncio.to_thread(verified, folder)


async def resumed(room: Room, lobby: Caller, table: str, n: int) -> PublicTable:
    """The picture of a table once it is at commit n at least, and takes commands again."""
    async with asyncio.timeout(RESUMES_S_MAX):
        while True:
            seen = await room.picture(lobby, table, lambda seen: seen.n >= n)
            answer = await lobby.command(table, "lobby", PauseTable(id="is-it-halted", hand=seen.hand + 9))
            if isinstance(answer, Rejected) and answer.code == "stale":
                return seen
            await asyncio.sleep(0.05)


async def answered(room: Room, lobby: Caller, table: str) -> None:
    """Returns once somebody answers: the services have found the server again."""
    async with asyncio.timeout(RESUMES_S_MAX):
        while True:
            with contextlib.suppress(NobodyThere):
                seen = await room.picture(lobby, table, lambda _: True)
                await lobby.command(table, "lobby", PauseTable(id="is-it-there", hand=seen.hand + 9))
                return
            await asyncio.sleep(0.05)


async def pauses_and_ends_its_hand(room: Room, lobby: Caller, table: str) -> None:
    """Has a table rest: paused, and no hand in progress."""
    seen = await room.picture(lobby, table, lambda seen: seen.turn_number is not None)
    assert isinstance(await lobby.command(table, "lobby", PauseTable(id="pause", hand=seen.hand)), Accepted)
    assert seen.turn is not None
    assert seen.turn_number is not None
    player = next(seat.player for seat in seen.seats if seat.seat == seen.turn.seat)
    players = await room.caller("players", "player")
    fold = Act(id="fold-at-last", hand=seen.hand, turn=seen.turn_number, action="fold")
    assert isinstance(await players.command(table, player, fold), Accepted)
    await room.picture(lobby, table, lambda seen: seen.turn is None and seen.status == "paused")


@asynccontextmanager
async def a_caller(settings: Settings) -> AsyncIterator[Room]:
    """Connections to a room that runs elsewhere."""
    async with AsyncExitStack() as stack:
        yield Room(settings, stack)
