"""What a room logs: each line is JSON by itself, and whoever looks for a table or a command finds all that is said."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from contracts.codec import decode_commit, digest, encode
from contracts.commands import Act, PauseTable
from contracts.outcomes import Accepted, Rejected
from contracts.subjects import command
from services.bus import logging
from services.bus.placed import placed
from services.bus.settings import Settings
from services.command_line.serve import SERVICES
from tests.services.room import ROOM, Caller, Room, a_room
from tests.services.test_forged_log import store

pytestmark = pytest.mark.server

LEVELS: Final = {"debug", "info", "warning", "error", "critical"}
TABLE: Final = "T1"


def lines(text: str) -> Iterator[dict[str, Any]]:
    """Every line, each by itself."""
    for line in text.splitlines():
        found = json.loads(line)
        assert isinstance(found, dict)
        yield found


async def folded(room: Room, lobby: Caller, players: Caller) -> Act:
    """A hand that is folded; the command that folded it."""
    seen = await room.picture(lobby, TABLE, lambda seen: seen.turn_number is not None)
    assert seen.turn is not None
    assert seen.turn_number is not None
    name = next(seat.player for seat in seen.seats if seat.seat == seen.turn.seat)
    fold = Act(id=f"fold-{seen.hand}", hand=seen.hand, turn=seen.turn_number, action="fold")
    assert isinstance(await players.command(TABLE, name, fold), Accepted)
    await room.picture(lobby, TABLE, lambda now: now.hand > seen.hand and now.turn_number is not None)
    return fold


async def spoiled(room: Room, lobby: Caller) -> None:
    """What raises alarms: a command that no inbox waits for, a message that is no commit, and a commit of tomorrow."""
    deploy = await room.caller("deploy")
    asked = command(ROOM, TABLE, "lobby", "lobby")
    await lobby.client.publish(asked, encode(PauseTable(id="p", reason="x")))
    paused = f"table.main.{TABLE}.table.table_paused"
    await store(deploy, paused, b"noise")
    last = decode_commit((await room.log(TABLE))[-2].data)
    unread = {"v": 1, "table": TABLE, "n": last.n + 1, "by": "table", "prev": digest((await room.log(TABLE))[-2].data)}
    await store(deploy, paused, msgspec.json.encode(unread | {"events": [{"type": "of_tomorrow"}]}))
    answer = await lobby.command(TABLE, "lobby", PauseTable(id="p2", reason="x"))
    assert isinstance(answer, Rejected)
    assert answer.code == "halted"


async def test_every_line_is_json_and_names_what_it_is_about(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = Settings(log_level="debug")
    logging.configure(base)
    capsys.readouterr()
    async with a_room(tmp_path, base=base) as room:
        lobby, players = await room.caller("lobby"), await room.caller("players", "player")
        await room.open(lobby, TABLE, ("ann", "bob"))
        fold = await folded(room, lobby, players)
        await spoiled(room, lobby)
    said = list(lines(capsys.readouterr().err))

    for line in said:
        assert line["event"], line
        assert line["level"] in LEVELS, line
        assert line["timestamp"].endswith("Z"), line
        about = placed(line["subject"]) if "subject" in line else {}
        assert about.items() <= line.items(), line
        assert ("table" in line) == ("room" in line), line
        for named, kind in (("room", str), ("table", str), ("hand", int), ("seat", int), ("command", str), ("n", int)):
            assert isinstance(line.get(named, kind()), kind), line
    events = {line["event"] for line in said}
    assert events >= {"service_started", "request_dropped", "message_ignored", "table_halted", "committed"}
    by_service = [line["service"] for line in said if line["event"] == "service_started"]
    assert sorted(by_service) == sorted(SERVICES)

    (halted,) = (line for line in said if line["event"] == "table_halted")
    assert {key: halted[key] for key in ("room", "table", "hand", "level")} == {
        "room": ROOM,
        "table": TABLE,
        "hand": 2,
        "level": "critical",
    }
    # One command from its commit to its answer, by its id alone.
    found = [line for line in said if line.get("command") == fold.id]
    assert [(line["event"], line["service"], line["hand"]) for line in found] == [
        ("committed", "table", 1),
        ("command_answered", "table", 1),
    ]
    assert found[0]["fact"] == "betting_closed"
    assert found[0]["seat"] in (1, 2)
    assert (found[1]["by"].split(".")[0], found[1]["kind"]) == ("player", "act")
    assert found[0]["took_ms"] <= found[1]["took_ms"]
    refused = [line for line in said if line.get("command") == "p2"]
    assert [(line["event"], line["code"], line["table"]) for line in refused] == [("command_answered", "halted", TABLE)]
    for service in ("table", "dealer", "rake", "settlement"):
        commits = [line for line in said if line["event"] == "committed" and line["service"] == service]
        assert commits, service
        assert all((line["room"], line["table"]) == (ROOM, TABLE) for line in commits)


async def test_at_the_usual_level_play_says_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Thousands of commands a second are the log's to keep; what operators read are alarms."""
    logging.configure(Settings())
    async with a_room(tmp_path) as room:
        lobby, players = await room.caller("lobby"), await room.caller("players", "player")
        await room.open(lobby, TABLE, ("ann", "bob"))
        await folded(room, lobby, players)
        capsys.readouterr()  # what a dealer says of its keys
        for _ in range(3):
            await folded(room, lobby, players)
        assert list(lines(capsys.readouterr().err)) == []
