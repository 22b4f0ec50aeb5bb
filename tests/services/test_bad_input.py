"""Whatever arrives in a command's place is answered with a typed rejection, kept, and changes nothing."""

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from contracts.codec import decode_outcome, encode
from contracts.commands import Act, LeaveTable, PauseTable, SitOut, TakeSeat
from contracts.outcomes import Accepted, Allowed, Code, Rejected
from contracts.subjects import command
from services.bus.mailbox import NobodyThere
from services.table.intake import KINDS
from tests.services.room import ANSWER_S, ROOM, Caller, Room, a_room

pytestmark = pytest.mark.server

ANY = Allowed(actions=KINDS)
SEATING = Allowed(actions=("take_seat",))
A_SEAT = Allowed(actions=("take_seat",), minimum=1, maximum=10)
AMOUNT = Allowed(minimum=1, maximum=2**53 - 1, chip=1)


def take_seat(**changes: Any) -> bytes:
    """A good command with fields changed; ... leaves one out."""
    fields = {"type": "take_seat", "id": "c1", "player": "P1", "buy_in": 2_000} | changes
    return json.dumps({name: value for name, value in fields.items() if value is not ...}).encode()


def command_of(kind: str, **given: Any) -> bytes:
    """A command of another kind."""
    return json.dumps({"type": kind, "id": "c1"} | given).encode()


def of(kind: str) -> Allowed:
    """What is allowed instead: the same command, written well."""
    return Allowed(actions=(kind,))


BAD: dict[str, tuple[bytes, Code, str, Allowed]] = {
    "empty": (b"", "malformed", "cannot be read", ANY),
    "garbage": (bytes(range(256)), "malformed", "cannot be read", ANY),
    "nul": (b"\0", "malformed", "cannot be read", ANY),
    "cut": (take_seat()[:-5], "malformed", "cannot be read", ANY),
    "trailing": (take_seat() + b"x", "malformed", "cannot be read", ANY),
    "list": (b"[]", "malformed", "cannot be read", ANY),
    "null": (b"null", "malformed", "cannot be read", ANY),
    "number": (b"7", "malformed", "cannot be read", ANY),
    "invalid utf-8": (take_seat(player="P1").replace(b"P1", b"P\xff"), "malformed", "UTF-8", SEATING),
    "lone surrogate": (take_seat().replace(b"P1", b"\\ud800"), "malformed", "cannot be read", ANY),
    "nested deeply": (b'{"type":' + b"[" * 60_000, "malformed", "cannot be read", ANY),
    "nested in a field": (take_seat(reason=...)[:-1] + b',"x":' + b"[" * 60_000, "malformed", "deep", ANY),
    "unknown tag": (take_seat(type="rob_table"), "malformed", "rob_table", ANY),
    "tag of a fact": (take_seat(type="pots_awarded"), "malformed", "pots_awarded", ANY),
    "no tag": (take_seat(type=...), "malformed", "type", ANY),
    "missing player": (take_seat(player=...), "malformed", "player", SEATING),
    "missing id": (take_seat(id=...), "malformed", "id", SEATING),
    "bad id": (take_seat(id="a b"), "malformed", "$.id", SEATING),
    "newline in a name": (take_seat(player="P1\n"), "malformed", "$.player", SEATING),
    "dots in a name": (take_seat(player="P1.>"), "malformed", "$.player", SEATING),
    "name too long": (take_seat(player="P" * 41), "malformed", "$.player", SEATING),
    "seat 0": (take_seat(seat=0), "malformed", "$.seat", A_SEAT),
    "seat 11": (take_seat(seat=11), "malformed", "$.seat", A_SEAT),
    "hand as text": (take_seat(hand="0"), "malformed", "$.hand", SEATING),
    "amount as text": (take_seat(buy_in="300"), "not_a_whole_chip", "whole number", AMOUNT),
    "amount as float": (take_seat(buy_in=3.5), "not_a_whole_chip", "whole number", AMOUNT),
    "negative amount": (take_seat(buy_in=-1), "not_a_whole_chip", "whole number", AMOUNT),
    "huge amount": (take_seat(buy_in=10**30), "not_a_whole_chip", "whole number", AMOUNT),
    "no amount": (take_seat(buy_in=None), "not_a_whole_chip", "whole number", AMOUNT),
    "amount as list": (take_seat(buy_in=[300]), "not_a_whole_chip", "whole number", AMOUNT),
    "amount as truth": (take_seat(buy_in=True), "not_a_whole_chip", "whole number", AMOUNT),
    "later version": (take_seat(v=2), "unsupported_version", "version 1 is", Allowed(versions=(1,))),
    "later version of all": (b'{"v":9,"type":"new_thing"}', "unsupported_version", "version 1", Allowed(versions=(1,))),
    "no reason": (command_of("adjust_stack", player="P1", amount=5), "malformed", "reason", of("adjust_stack")),
    "empty reason": (command_of("void_hand", reason=""), "malformed", "$.reason", of("void_hand")),
    "adjusted by 2^63": (
        command_of("adjust_stack", player="P1", amount=2**63, reason="r"),
        *("not_a_whole_chip", "from -9007199254740991", Allowed(minimum=-(2**53) + 1, maximum=2**53 - 1, chip=1)),
    ),
    "request 2^63": (
        command_of("confirm_request", request=2**63, paid=True),
        *("malformed", "$.request", of("confirm_request")),
    ),
    "request -1": (
        command_of("confirm_request", request=-1, paid=True),
        *("malformed", "$.request", of("confirm_request")),
    ),
    "paid as text": (
        command_of("confirm_request", request=2, paid="yes"),
        *("malformed", "$.paid", of("confirm_request")),
    ),
    "reserved seat 2^63": (
        command_of("reserve_seat", player="P1", seat=2**63),
        *("malformed", "$.seat", Allowed(actions=("reserve_seat",), minimum=1, maximum=10)),
    ),
    "change to nothing": (
        command_of("change_options", config=None, reason="r"),
        *("malformed", "$.config", of("change_options")),
    ),
    "waiting as a list": (
        command_of("join_waiting_list", player=["P1"]),
        *("malformed", "$.player", of("join_waiting_list")),
    ),
    "70 kB": (take_seat(reason="x" * 70_000), "oversized", "65536", Allowed(maximum=65_536)),
    "900 kB": (b"[" * 900_000, "oversized", "65536", Allowed(maximum=65_536)),
}


async def test_bytes_that_are_no_command_are_refused_kept_and_change_nothing(tmp_path: Path) -> None:
    async with a_room(tmp_path) as room:
        lobby, deploy = await room.caller("lobby"), await room.caller("deploy")
        await room.open(lobby, "T1", ())
        wrong: dict[str, object] = {}
        for name, (body, code, said, allowed) in BAD.items():
            answer = await lobby.send("T1", "lobby", body)
            assert isinstance(answer, Rejected), name
            if (answer.code, answer.allowed) != (code, allowed) or said not in answer.message:
                wrong[name] = answer
        assert wrong == {}
        kept = await room.refusals(deploy, "T1", len(BAD))
        assert [refusal.code for refusal in kept] == [code for _, code, _, _ in BAD.values()]
        assert {refusal.subject for refusal in kept} == {command(ROOM, "T1", "lobby", "lobby")}
        bodies = [body[:4096].decode("utf-8", "replace") for body, *_ in BAD.values()]
        assert [refusal.body for refusal in kept] == bodies
        assert len(await room.log("T1")) == 1
        assert isinstance(await lobby.send("T1", "lobby", take_seat()), Accepted)
        assert await room.faults("T1") == []


async def test_names_that_are_none_are_answered(tmp_path: Path) -> None:
    """An answer costs nothing, and silence would look like a service that is away."""
    async with a_room(tmp_path) as room:
        lobby, players = await room.caller("lobby"), await room.caller("players", "player")
        await room.open(lobby, "T1", ())
        for caller, subject in (
            (players, f"command.{ROOM}.T1.player.an$n"),
            (lobby, f"command.{ROOM}.T$1.lobby.lobby"),
            (lobby, f"command.{ROOM}.{'T' * 41}.lobby.lobby"),
            (players, f"query.table.{ROOM}.T1.player.an$n"),
            (players, f"query.cards.{ROOM}.T1.player.an$n"),
            (lobby, f"query.table.{ROOM}.T$1.lobby.lobby"),
        ):
            answer = decode_outcome(await caller.ask(subject, encode(SitOut(id="c1"))))
            assert isinstance(answer, Rejected), subject
            assert (answer.code, "[A-Za-z0-9_-]{1,40}" in answer.message) == ("malformed", True), subject
        assert len(await room.log("T1")) == 1


async def test_two_megabytes_end_the_senders_connection_and_nobody_elses(tmp_path: Path) -> None:
    async with a_room(tmp_path) as room:
        lobby = await room.caller("lobby")
        await room.open(lobby, "T1", ())
        reader, writer = await _raw(room, "players")
        writer.write(b"PUB command.main.T1.player.P1 2000000\r\n" + b"x" * 2_000_000 + b"\r\n")
        async with asyncio.timeout(ANSWER_S):
            with contextlib.suppress(ConnectionResetError):  # it may come before what the server says
                await reader.read()
        writer.close()
        assert isinstance(await lobby.command("T1", "lobby", TakeSeat(id="1", player="P1", buy_in=2_000)), Accepted)


async def _raw(room: Room, user: str) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection that no library keeps from doing wrong."""
    assert room.settings.nats_url is not None
    host, port = room.settings.nats_url.removeprefix("nats://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    await reader.readline()
    passwords = json.loads(room.settings.credentials_file.read_bytes())["passwords"]
    writer.write(b"CONNECT %s\r\n" % json.dumps({"user": user, "pass": passwords[user], "verbose": False}).encode())
    return reader, writer


async def test_nobody_acts_for_somebody_else(tmp_path: Path) -> None:
    async with a_room(tmp_path) as room:
        lobby, players = await room.caller("lobby"), await room.caller("players", "player")
        await room.open(lobby, "T1", ("P1", "P2"))
        picture = await room.picture(lobby, "T1", lambda seen: seen.turn_number is not None)
        assert picture.turn is not None
        assert picture.turn_number is not None
        other = next(seat.player for seat in picture.seats if seat.seat != picture.turn.seat)
        theirs = Act(id="a1", hand=1, turn=picture.turn_number, action="fold")
        cases = (
            (players, other, theirs, "not_your_turn", picture.turn, ()),
            (players, "P9", theirs, "not_seated", None, ()),
            (players, "P1", TakeSeat(id="a2", hand=1, player="P1", buy_in=2_000), "not_allowed", None, ("lobby",)),
            (players, "P1", PauseTable(id="a3", hand=1), "not_allowed", None, ("operator", "lobby")),
            (players, "P1", LeaveTable(id="a4", hand=1, player="P2"), "not_allowed", None, ("lobby",)),
            (players, "P1", SitOut(id="a5", hand=1, player="P2"), "not_allowed", None, ("lobby",)),
            (lobby, "lobby", LeaveTable(id="a6", hand=1), "not_allowed", None, ("player",)),
            (lobby, "lobby", theirs, "not_allowed", None, ("player",)),
        )
        for caller, name, sent, code, turn, actors in cases:
            answer = await caller.command("T1", name, sent)
            assert isinstance(answer, Rejected)
            assert (answer.code, answer.allowed.turn, answer.allowed.actors) == (code, turn, actors), sent
            assert (answer.n, answer.head, answer.id) == (picture.n, picture.head, sent.id)
        assert await room.picture(lobby, "T1", lambda _: True) == picture


FORBIDDEN = (
    ("players", "command.main.T1.lobby.lobby"),
    ("players", "command.main.T1.operator.operator"),
    ("players", "query.key.main.T1.operator.operator"),
    ("players", "table.main.T1.table.table_closed"),
    ("players", "fact.main.T1.table.table_closed"),
    ("players", "view.main.T1.public"),
    ("lobby", "command.main.T1.player.P1"),
    ("lobby", "command.main.T1.lobby.other"),
    ("lobby", "query.cards.main.T1.player.P1"),
    ("lobby", "query.cards.main.T1.lobby.lobby"),
    ("lobby", "$JS.API.STREAM.DELETE.TABLES"),
    ("operator", "command.main.T1.player.P1"),
    ("rake", "table.main.T1.settlement.pots_awarded"),
    ("rake", "command.main.T1.lobby.lobby"),
    ("views", "view.main.T1.player.P1"),
)


async def test_what_an_account_may_not_say_reaches_nobody(tmp_path: Path) -> None:
    async with a_room(tmp_path) as room:
        lobby = await room.caller("lobby")
        await room.open(lobby, "T1", ())
        before = await room.log("T1")
        for user, subject in FORBIDDEN:
            assert await _unheard(await room.caller(user), subject, encode(PauseTable(id="1"))), (user, subject)
        assert await room.log("T1") == before


async def _unheard(caller: Caller, subject: str, body: bytes) -> bool:
    """Whether the server tells the asker that nobody is there, or that the asker may not."""
    asking = asyncio.create_task(caller.ask(subject, body))
    async with asyncio.timeout(ANSWER_S):
        while not asking.done() and caller.line.last_error is None:  # noqa: ASYNC110 - nothing tells of an error
            await asyncio.sleep(0.01)
    if caller.line.last_error is not None:
        asking.cancel()
        return "permissions violation" in str(caller.line.last_error).lower()
    return isinstance(asking.exception(), NobodyThere)
