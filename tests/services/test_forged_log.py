"""DESIGN 1: what does not extend a table's chain is no part of its log, whoever stored it; a hole halts the table."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import structlog

from contracts.codec import decode_commit, digest, encode
from contracts.commands import Act, PauseTable, TakeSeat
from contracts.commit import Commit
from contracts.events.table import TablePaused
from contracts.outcomes import Accepted, Rejected
from services.bus.jetstream import JetStreamLog
from services.bus.log import Refused, Stored
from tests.services.room import ROOM, Caller, Room, a_room

pytestmark = pytest.mark.server

DEEP = b"[" * 100_000
LEFT = {"type": "player_left", "seat": 3, "player": "P9", "stack": 0, "at": "2026-03-01T20:00:00Z"}
RETURNED = {"type": "uncalled_bet_returned", "seat": 1} | dict.fromkeys(
    ("amount", "street_total", "total", "stack", "pot"), 0
)


def following(last: Stored, **changes: Any) -> bytes:
    """A pause that the table might have appended next, with fields of the commit changed."""
    before = decode_commit(last.data)
    commit = Commit(
        v=1,
        table="T1",
        n=before.n + 1,
        hand=before.hand,
        by="table",
        at=before.at,
        prev=digest(last.data),
        events=(TablePaused(),),
    )
    return json.dumps(json.loads(encode(commit)) | changes).encode()


def forgeries(log: list[Stored]) -> dict[str, tuple[str, bytes]]:
    """Messages by what is wrong with them: subject and bytes."""
    last, paused = log[-1], "table.main.T1.table.table_paused"
    return {
        "empty": (paused, b""),
        "garbage": (paused, bytes(range(256))),
        "invalid utf-8": (paused, following(last).replace(b"T1", b"T\xff")),
        "nested too deeply": (paused, DEEP),
        "nested too deeply after a good start": (paused, following(last)[:-1] + b',"x":' + DEEP),
        "a list": (paused, b"[1]"),
        "the last commit again": (last.subject, last.data),
        "the first commit again": (log[0].subject, log[0].data),
        "the first of another table": (log[0].subject.replace("T1", "T2"), log[0].data),
        "next n, another chain": (paused, following(last, prev="0" * 64)),
        "an old n": (paused, following(last, n=1)),
        "n of 0": (paused, following(last, n=0)),
        "n as text": (paused, following(last, n="9")),
        "another table": (paused, following(last, table="T2")),
        "said by another": (paused, following(last, by="rake")),
        "said by nobody": (paused, following(last, by="croupier")),
        "in another's name": ("table.main.T1.rake.table_paused", following(last, by="rake")),
        "at another's subject": ("table.main.T1.rake.table_paused", following(last)),
        "at another fact's subject": ("table.main.T1.table.hand_started", following(last)),
        "at no table's subject": ("table.main.T~1.table.table_paused", following(last)),
    }


async def store(deploy: Caller, subject: str, data: bytes) -> None:
    """Stores a message in the log with the one right that the deploy role alone has."""
    assert (await deploy.client.jetstream().publish(subject, data)).stream == "TABLES"


async def played_on(room: Room, lobby: Caller, table: str) -> None:
    """A whole hand, from a fold to the next one's deal."""
    players = await room.caller("players", "player")
    picture = await room.picture(lobby, table, lambda seen: seen.turn_number is not None)
    assert picture.turn is not None
    assert picture.turn_number is not None
    name = next(seat.player for seat in picture.seats if seat.seat == picture.turn.seat)
    fold = Act(id=f"fold-{picture.hand}", hand=picture.hand, turn=picture.turn_number, action="fold")
    assert isinstance(await players.command(table, name, fold), Accepted)
    await room.picture(lobby, table, lambda seen: seen.hand > picture.hand and seen.turn_number is not None)


async def test_what_is_no_part_of_the_log_is_passed_over_with_an_alarm_and_play_goes_on(tmp_path: Path) -> None:
    with structlog.testing.capture_logs() as said:
        async with a_room(tmp_path) as room:
            lobby, deploy = await room.caller("lobby"), await room.caller("deploy")
            await room.open(lobby, "T1", ("P1", "P2"))
            await room.picture(lobby, "T1", lambda seen: seen.turn_number is not None)
            good = await room.log("T1")
            forged = forgeries(good)
            for n, (name, (subject, data)) in enumerate(forged.items(), len(good) + 1):
                await store(deploy, subject, data)
                seat = TakeSeat(id=f"x{n}", hand=1, player="P1", buy_in=2_000)
                answer = await lobby.command("T1", "lobby", seat)
                assert isinstance(answer, Rejected), name
                assert (answer.code, answer.n) == ("already_seated", n), name
            await played_on(room, lobby, "T1")
            log = await room.log("T1")
        async with a_room(tmp_path) as room:
            lobby = await room.caller("lobby")
            await played_on(room, lobby, "T1")
    ours = sum(subject.startswith("table.main.T1.") for subject, _ in forged.values())
    ignored = [line for line in said if line["event"] == "message_ignored" and line["table"] == "T1"]
    assert len(ignored) >= ours
    assert {line["log_level"] for line in ignored} == {"error"}
    assert not [line for line in said if line["event"] in ("message_not_taken", "table_halted", "command_failed")]
    assert len(log) > len(good) + ours


HALTING: dict[str, tuple[str, Callable[[Stored], bytes], str]] = {
    "a hole": (
        "table.main.T1.table.table_paused",
        lambda last: following(last, n=decode_commit(last.data).n + 2),
        "hole",
    ),
    "a huge n": ("table.main.T1.table.table_paused", lambda last: following(last, n=10**30), "hole"),
    "a later version": ("table.main.T1.table.table_paused", lambda last: following(last, v=2), "version 2"),
    "a new kind of event": (
        "table.main.T1.table.table_moved",
        lambda last: following(last, events=[{"type": "table_moved"}]),
        "table_moved",
    ),
    "somebody leaves who is not there": (
        "table.main.T1.table.player_left",
        lambda last: following(last, events=[LEFT]),
        "commit 3 does not follow",
    ),
    "a bet goes back where no hand is": (
        "table.main.T1.table.uncalled_bet_returned",
        lambda last: following(last, events=[RETURNED]),
        "commit 3 does not follow",
    ),
}


@pytest.mark.parametrize("case", HALTING)
async def test_a_chain_that_cannot_be_read_on_halts_its_table_with_the_reason_and_no_other(
    case: str, tmp_path: Path
) -> None:
    subject, forged, reason = HALTING[case]
    async with a_room(tmp_path) as room:
        lobby, deploy = await room.caller("lobby"), await room.caller("deploy")
        await room.open(lobby, "T1", ("P1",))
        await room.open(lobby, "T2", ("P1", "P2"))
        last = (await room.log("T1"))[-1]
        await store(deploy, subject, forged(last))
        answer = await lobby.command("T1", "lobby", PauseTable(id="pause"))
        assert isinstance(answer, Rejected)
        assert answer.code == "halted"
        assert reason in answer.message
        assert len(await room.log("T1")) == 3
        await played_on(room, lobby, "T2")


async def test_the_rake_service_cannot_settle_a_hand(tmp_path: Path) -> None:
    async with a_room(tmp_path) as room:
        lobby = await room.caller("lobby")
        await room.open(lobby, "T1", ("P1", "P2"))
        await room.picture(lobby, "T1", lambda seen: seen.turn_number is not None)
        before = await room.log("T1")
        rake = await room.caller("rake")
        log = await JetStreamLog.open(rake.client, room.settings)
        with pytest.raises(Refused):
            await log.append(ROOM, "T1", "settlement", "pots_awarded", before[-1].data, before[-1].sequence)
        assert await room.log("T1") == before
