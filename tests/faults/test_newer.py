"""What this release does not know it leaves alone: a later event, a later version, later rules. Others play on."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from contracts.codec import decode_commit
from contracts.commands import PauseTable, TakeSeat
from contracts.events import fact_of
from contracts.events.table import OptionsChanged
from contracts.games import RULES_VERSION
from contracts.outcomes import Rejected
from tests.faults.running import a_member, is_ready, probed
from tests.processes.fleet import Member
from tests.processes.playing import a_server
from tests.services.room import CONFIG, Room
from tests.services.test_forged_log import following, played_on, store

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]

LATER: dict[str, tuple[str, dict[str, Any], str]] = {
    "a later event": ("table_moved", {"events": [{"type": "table_moved"}]}, "table_moved"),
    "a later version": ("table_paused", {"v": 2}, "version 2"),
}


@asynccontextmanager
async def a_room(folder: Path) -> AsyncIterator[tuple[Room, Member, int]]:
    """A room whose services are a process."""
    async with a_server(folder) as settings, a_member(settings) as (member, port), AsyncExitStack() as stack:
        await probed(port, is_ready)
        yield Room(settings, stack), member, port


@pytest.mark.parametrize("case", LATER)
async def test_a_commit_of_a_later_release_halts_its_table_and_probes_are_told(case: str, tmp_path: Path) -> None:
    fact, changes, reason = LATER[case]
    async with a_room(tmp_path) as (room, member, port):
        lobby, deploy = await room.caller("lobby"), await room.caller("deploy")
        await room.open(lobby, "T1", ("P1",))
        await room.open(lobby, "T2", ("P1", "P2"))
        await store(deploy, f"table.main.T1.table.{fact}", following((await room.log("T1"))[-1], **changes))
        answer = await lobby.command("T1", "lobby", PauseTable(id="pause"))
        assert isinstance(answer, Rejected)
        assert answer.code == "halted"
        said = await probed(port, is_ready)
        assert set(said["halted"]) == {"T1"}
        assert reason in said["halted"]["T1"]
        alarm = next(line for line in member.said if line["event"] == "table_halted")
        assert (alarm["table"], alarm["level"], alarm["n"]) == ("T1", "critical", 2)
        assert alarm["reason"] == said["halted"]["T1"]
        await played_on(room, lobby, "T2")
        assert len(await room.log("T1")) == 3


async def test_a_table_under_later_rules_is_left_to_services_that_know_them(tmp_path: Path) -> None:
    later = msgspec.structs.replace(CONFIG, options=msgspec.structs.replace(CONFIG.options, rules=RULES_VERSION + 1))
    async with a_room(tmp_path) as (room, _, port):
        lobby, deploy = await room.caller("lobby"), await room.caller("deploy")
        await room.open(lobby, "T1", ("P1",))
        await room.open(lobby, "T2", ("P1", "P2"))
        changed = following((await room.log("T1"))[-1], events=msgspec.to_builtins((OptionsChanged(config=later),)))
        await store(deploy, "table.main.T1.table.options_changed", changed)
        seated = await lobby.command("T1", "lobby", TakeSeat(id="P2", player="P2", buy_in=2_000))
        assert isinstance(seated, Rejected)  # not final: a service that knows the rules may take the same command
        assert seated.code == "busy"
        await played_on(room, lobby, "T2")
        facts = [fact_of(event) for stored in await room.log("T1") for event in decode_commit(stored.data).events]
        assert facts == ["table_opened", "player_seated", "options_changed"]
        assert (await probed(port, is_ready))["halted"] == {}
