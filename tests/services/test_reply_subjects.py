"""An answer goes where the asker points it: that must be nobody else's subject (DESIGN 4, 5)."""

from pathlib import Path

import pytest

from contracts.codec import decode_commit, encode
from contracts.commands import OpenTable, TakeSeat
from contracts.events.table import CommandRefused
from contracts.subjects import command, query
from services.bus.connection import settle
from services.bus.streams import HEADS, REFUSALS, TABLES
from tests.services.room import CONFIG, ROOM, a_room

pytestmark = pytest.mark.server

POINTED_AT = (
    "table.main.T1.settlement.pots_awarded",
    "table.main.T1.table.table_opened",
    "$JS.API.STREAM.DELETE.TABLES",
    "$JS.API.STREAM.PURGE.TABLES",
    "log.STREAM.DELETE.TABLES",
    "heads.table.main.T1",
    "refused.main.T1",
    "fact.main.T1.table.table_closed",
    "view.main.T1.public",
    "view.main.T1.player.P1",
    "command.main.T1.lobby.lobby",
)


async def test_an_answer_that_is_pointed_at_somebody_else_is_stored_nowhere(tmp_path: Path) -> None:
    """Across accounts the server replaces the reply subject; what it would have named gets nothing."""
    async with a_room(tmp_path) as room:
        lobby, deploy, operator = [await room.caller(user) for user in ("lobby", "deploy", "operator")]
        await room.open(lobby, "T1", ())
        before = await room.log("T1")
        for number, reply in enumerate(POINTED_AT):
            seat = TakeSeat(id=f"c{number}", player="P1", buy_in=1)
            await lobby.client.publish(command(ROOM, "T1", "lobby", "lobby"), encode(seat), reply)
            await lobby.client.publish(query("table", ROOM, "T1", "lobby", "lobby"), b"{}", reply)
            await operator.client.publish(query("log", ROOM, "T1", "operator", "operator"), b"{}", reply)
        refusals = await room.refusals(deploy, "T1", len(POINTED_AT))
        last = len(before) + len(POINTED_AT)
        await room.picture(lobby, "T1", lambda seen: seen.n == last)
        assert [refusal.code for refusal in refusals] == ["buy_in_out_of_range"] * len(POINTED_AT)
        log = await room.log("T1")
        assert log[: len(before)] == before
        added = [decode_commit(stored.data).events[0] for stored in log[len(before) :]]
        assert [type(event) for event in added] == [CommandRefused] * len(POINTED_AT)
        info = deploy.client.jetstream()
        assert [(await info.stream_info(name)).config.name for name in (TABLES, HEADS, REFUSALS)]


async def test_a_request_from_inside_an_account_that_points_elsewhere_is_dropped(tmp_path: Path) -> None:
    """Whoever holds a service's own password could have its answers stored: it gets none, and nothing is done."""
    async with a_room(tmp_path) as room:
        lobby = await room.caller("lobby")
        await room.open(lobby, "T1", ())
        inside = {user: await room.caller(user) for user in ("table", "views", "dealer", "replay")}
        for reply in POINTED_AT:
            asked = encode(OpenTable(id="inside", config=CONFIG))
            await inside["table"].client.publish(command(ROOM, "T9", "lobby", "lobby"), asked, reply)
            await inside["views"].client.publish(query("table", ROOM, "T1", "lobby", "lobby"), b"{}", reply)
            await inside["dealer"].client.publish(query("cards", ROOM, "T1", "player", "P1"), b"{}", reply)
            await inside["replay"].client.publish(query("log", ROOM, "T1", "operator", "operator"), b"{}", reply)
        for caller in inside.values():
            await settle(caller.client)
        await room.open(lobby, "T2", ())  # what was sent before this has been read
        assert await room.log("T9") == []
        assert [decode_commit(stored.data).n for stored in await room.log("T1")] == [1]
