"""DESIGN 3 and 4: any process may die at any moment; the log, the sweep and the clients' retries carry on."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from services.bots.table import BotTable
from tests.processes.fleet import Fleet
from tests.processes.playing import (
    TURN_S,
    Proof,
    a_server,
    longest_silence,
    measured,
    plans,
    play,
    played_and_sound,
    proofs,
)

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]


def longest(found: Sequence[Proof], tables: Sequence[BotTable]) -> str:
    """The longest waits, for whoever reads the output."""
    silence = longest_silence(found)
    slowest = max(table.slowest_s for table in tables)
    return f"{silence.silence_s:.2f} s at {silence.table} after {silence.after}; bots waited {slowest:.2f} s"


@pytest.mark.timeout(180)
async def test_a_room_plays_on_while_a_process_is_killed_every_second(tmp_path: Path) -> None:
    wanted = plans(tables=10, hands=10, bots=4)
    services = ("table", "dealer", "rake", "settlement", "views")
    async with a_server(tmp_path) as settings, Fleet(settings, [(name,) for name in (*services, *services)]) as fleet:
        async with fleet.under_fire(every_s=1.0, random=Random(7)):
            tables, clients = await play(settings, wanted)
        found = await proofs(settings, [plan.table for plan in wanted])
        measured(
            f"{len(fleet.kills)} kills, {sum(client.post.again for client in clients)} retries, "
            f"slowest start {fleet.slowest_start_s():.2f} s, longest wait {longest(found, tables)}",
        )
        played_and_sound(found, wanted)
        assert fleet.kills
        assert longest_silence(found).silence_s < TURN_S
        assert max(table.slowest_s for table in tables) < TURN_S
        await fleet.serving()
        assert set((await fleet.stop()).values()) == {0}
        assert fleet.alarms() == []
