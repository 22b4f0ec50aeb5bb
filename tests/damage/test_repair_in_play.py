"""A table is repaired while it is being played, as fast as bots click: nothing is lost, and the hands go on."""

import asyncio
from pathlib import Path

import pytest

from contracts.codec import digest
from tests.damage.running import ask, ask_verify
from tests.faults.running import reached
from tests.processes.playing import ROOM, plans, play, played_and_sound, proofs
from tests.services.room import a_house

pytestmark = [pytest.mark.server, pytest.mark.xdist_group("damage")]

REPAIRS = 2


async def test_a_table_in_play_is_repaired_under_its_players(tmp_path: Path) -> None:
    """Its first commit is lost, which nobody who plays needs; each repair purges all, and puts all back."""
    wanted = plans(tables=1, hands=250, bots=3)
    table = wanted[0].table
    async with a_house(tmp_path / "room") as running:
        deploy = await running.caller("deploy")
        context = deploy.client.jetstream()
        playing = asyncio.create_task(play(running.settings, wanted))
        exported = list[bytes]()
        for repair in range(1, REPAIRS + 1):
            await reached(running.settings, table, 4 * repair)
            exported = [stored.data for stored in await running.log(table)]
            export = tmp_path / f"export{repair}.jsonl"
            export.write_bytes(b"".join(line + b"\n" for line in exported))
            await context.purge_stream("TABLES", subject=f"table.{ROOM}.{table}.table.table_opened")
            assert not playing.done()
            said = await ask("repair", table, "--from", export, "--data", tmp_path / "room")
            assert said.code == 0, said
            log = [stored.data for stored in await running.log(table)]
            assert log[: len(exported)] == exported
            assert f"head {len(log)}:{digest(log[-1])}" in said.out or len(log) > len(exported)
        assert not playing.done()
        await playing
        played_and_sound(await proofs(running.settings, [table]), wanted)
        assert await running.faults(table) == []
    assert await ask_verify(tmp_path / "room") == (0, {})
