"""A full disk: nothing is accepted that is not stored, and play goes on where it stopped once there is room."""

import asyncio
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from nats.aio.client import Client

from contracts.commands import OpenTable, TakeSeat
from contracts.outcomes import Accepted, Rejected
from services.bots.games import config_of
from services.bus.connection import Line, connect
from services.bus.credentials import Credentials
from services.bus.health import FAILURES_MIN
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from services.command_line.serve import make_streams
from tests.faults.running import a_member, is_not_ready, is_ready, probed, reached
from tests.processes.playing import ROOM, a_sender, people, plans, play, played_and_sound, proofs

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]

MEGABYTE: Final = 1024 * 1024
MEGABYTE_LESS: Final = 1_000_000
LIMIT_MB: Final = 296
AT_ONCE_S: Final = 1.0
DISK_MB: Final = 420
"""JetStream promises the refusals 272 MB, and uses three quarters of what is free when it starts."""


@contextmanager
def a_small_disk(folder: Path) -> Iterator[Path]:
    """A disk of its own, in memory. Skips where this user may not mount one.

    With CI=true too: it takes root's rights, which a machine gives or does not, and nothing that could be installed.
    """
    folder.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_MB}m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if made.returncode != 0:
        pytest.skip(f"no disk can be mounted here: {made.stderr.decode().strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Takes all the room that is left; gives the file that has it."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (MEGABYTE, 1):
            try:
                while True:
                    file.write(b"\0" * size)
            except OSError:
                continue
    return filler


async def test_play_goes_on_after_a_full_disk_without_a_lost_or_doubled_commit(tmp_path: Path) -> None:
    """A server whose write failed answers no append any more, until it is started again on a disk with room."""
    wanted = plans(tables=2, hands=40, bots=3)
    with a_small_disk(tmp_path / "disk") as disk:
        async with EmbeddedServer(disk / "data") as server:
            settings = Settings(nats_url=server.url, credentials_path=disk / "data" / "credentials.json")
            await make_streams(settings)
            async with a_member(settings) as (member, port):
                await probed(port, is_ready)
                playing = asyncio.create_task(play(settings, wanted))
                await reached(settings, "T0", 3)
                assert not playing.done()
                filler = fill(disk)
                said = await probed(port, is_not_ready("table.appends"))
                assert "no answer" in said["reasons"]["table.appends"]
                filler.unlink()
                assert server.pid is not None
                os.kill(server.pid, signal.SIGTERM)
                await playing
                await probed(port, is_ready)
                found = await proofs(settings, [plan.table for plan in wanted])
                played_and_sound(found, wanted)
                assert await member.end(signal.SIGTERM) == 0


class SmallServer(EmbeddedServer):
    """A server whose streams may not grow beyond a limit of the operator's."""

    def _config(self) -> dict[str, Any]:
        config = super()._config()
        config["jetstream"]["max_file_store"] = LIMIT_MB * MEGABYTE
        return config


async def _fill_streams(client: Client) -> None:
    """Stores what is no part of any table's log until the server takes no more."""
    while True:
        answer = await client.request("table.main.FILLER.table.junk", b"x" * MEGABYTE_LESS, timeout=10)
        if b"error" in answer.data:
            assert b'"err_code":10047' in answer.data or b'"err_code":10023' in answer.data, answer.data
            return


async def test_at_the_servers_own_limit_commands_are_busy_at_once(tmp_path: Path) -> None:
    """Here the server says that it stored nothing: no append is in doubt."""
    seat = TakeSeat(id="s", player="P1", buy_in=2_000)
    async with SmallServer(tmp_path) as server:
        settings = Settings(nats_url=server.url, credentials_path=tmp_path / "credentials.json")
        await make_streams(settings)
        async with (
            a_member(settings) as (_, port),
            people(settings) as (lobby, _),
            a_sender(settings, "lobby", "lobby") as sender,
        ):
            await probed(port, is_ready)
            config = config_of("nlhe", None)
            assert isinstance(await lobby.command(ROOM, "T1", OpenTable(id="open", config=config)), Accepted)
            client = await connect(settings, Credentials.read(settings.credentials_file), Line("deploy"))
            await _fill_streams(client)
            for _ in range(FAILURES_MIN):
                began = asyncio.get_running_loop().time()
                answer = await sender.once("T1", "lobby", seat)
                assert isinstance(answer, Rejected)
                assert (answer.code, answer.n) == ("busy", 0)
                assert asyncio.get_running_loop().time() - began < AT_ONCE_S
            said = await probed(port, is_not_ready("table.appends"))
            assert "insufficient" in said["reasons"]["table.appends"] or "resource" in said["reasons"]["table.appends"]
            await client.jetstream().purge_stream("TABLES", subject="table.main.FILLER.>")
            accepted = await lobby.command(ROOM, "T1", seat)
            assert isinstance(accepted, Accepted)
            assert accepted.n == 2
            await probed(port, is_ready)
            await client.close()
        assert [proof.faults for proof in await proofs(settings, ["T1"])] == [[]]
