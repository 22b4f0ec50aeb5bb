"""DESIGN 3: only the sweep makes it certain that a table goes on; here nothing else starts work."""

from pathlib import Path

import pytest

from tests.processes.fleet import Fleet
from tests.processes.playing import TURN_S, a_server, longest_silence, measured, plans, play, played_and_sound, proofs

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]

CREWS = (("table", "rake", "views"), ("dealer", "settlement"), ("table", "dealer", "rake", "settlement"))


async def test_the_sweep_alone_keeps_every_table_going(tmp_path: Path) -> None:
    wanted = plans(tables=4, hands=2, bots=3)
    async with a_server(tmp_path) as settings, Fleet(settings, CREWS, "--no-nudges") as fleet:
        tables, _ = await play(settings, wanted)
        found = await proofs(settings, [plan.table for plan in wanted])
        longest = longest_silence(found)
        measured(f"longest wait {longest.silence_s:.2f} s at {longest.table} after {longest.after}")
        played_and_sound(found, wanted)
        assert 0.3 < longest.silence_s < TURN_S
        assert max(table.slowest_s for table in tables) < TURN_S
        assert set((await fleet.stop()).values()) == {0}
        assert fleet.alarms() == []
