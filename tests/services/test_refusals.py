"""Every way in which a table refuses a command, over the bus: the code, the sentence, and what would be accepted."""

from pathlib import Path
from typing import get_args

import pytest
from msgspec.structs import replace

from contracts.codec import decode_commit, digest, encode
from contracts.commands import (
    Act,
    AnyCommand,
    CloseTable,
    Connected,
    Disconnected,
    JoinWaitingList,
    LeaveTable,
    LeaveWaitingList,
    OpenTable,
    PauseTable,
    ReleaseSeat,
    ReserveSeat,
    ResumeTable,
    ReturnToPlay,
    SitOut,
    TakeSeat,
    TopUp,
    VoidHand,
)
from contracts.outcomes import Accepted, Allowed, Code, Rejected
from services.command_line.serve import SERVICES
from tests.services.room import CONFIG, Caller, Room, a_room

pytestmark = pytest.mark.server

NEVER_SENT = {"unknown_actor"}
"""Codes that only another front of the room may send: on the bus the server refuses an unknown sender."""

OF_ACCOUNTS = {
    *("unknown_account", "account_exists", "account_frozen", "account_not_frozen"),
    *("not_enough", "wrong_currency", "duplicate_reference"),
}
"""Codes of ledgers, which no table sends."""


class Story:
    """Sends commands to one table under new ids, and notes every refusal by its code."""

    def __init__(self, lobby: Caller, players: Caller, operator: Caller | None = None) -> None:
        self.lobby = lobby
        self.players = players
        self.operator = operator
        self.seen: dict[str, Rejected] = {}
        self.ids = 0

    async def accepts(self, *commands: AnyCommand, by: str = "lobby", table: str = "T1") -> None:
        for command in commands:
            answer = await self._send(table, by, command)
            assert isinstance(answer, Accepted), answer

    async def refuses(
        self, code: Code, said: str, command: AnyCommand, by: str = "lobby", table: str = "T1"
    ) -> Allowed:
        """The refusal must have this code and this in its sentence; gives what it says is allowed."""
        answer = await self._send(table, by, command)
        assert isinstance(answer, Rejected), answer
        assert (answer.code, answer.id) == (code, f"c{self.ids}")
        assert said in answer.message
        self.seen[code] = answer
        return answer.allowed

    async def refuses_bytes(self, code: Code, said: str, body: bytes) -> None:
        answer = await self.lobby.send("T1", "lobby", body)
        assert isinstance(answer, Rejected)
        assert answer.code == code
        assert said in answer.message
        self.seen[code] = answer

    async def _send(self, table: str, by: str, command: AnyCommand) -> Accepted | Rejected:
        self.ids += 1
        caller = self.lobby if by == "lobby" else self.players
        if by == "operator" and self.operator is not None:
            caller = self.operator
        return await caller.command(table, by, replace(command, id=f"c{self.ids}"))


async def test_every_code_is_sent_where_it_belongs_and_says_what_would_be_accepted(tmp_path: Path) -> None:
    async with a_room(tmp_path) as room:
        lobby, players = await room.caller("lobby"), await room.caller("players", "player")
        story = Story(lobby, players, await room.caller("operator", "operator"))
        await before_a_hand(story)
        await in_a_hand(story, room)
        await around_the_hand(story, room)
        await at_the_end(story, room)
    assert set(story.seen) == set(get_args(Code.__value__)) - NEVER_SENT - OF_ACCOUNTS - {"busy"}


async def before_a_hand(story: Story) -> None:
    await story.refuses("unknown_table", "no table T1", TakeSeat(id="", player="A", buy_in=2_000))
    await story.accepts(OpenTable(id="", config=CONFIG))
    await story.refuses("table_exists", "opened already", OpenTable(id="", config=CONFIG))
    await story.refuses_bytes("malformed", "cannot be read", b"{}")
    await story.refuses_bytes("oversized", "at most 65536 bytes", b" " * 70_000)
    await story.refuses_bytes("unsupported_version", "version 1 is", encode(PauseTable(id="x", v=2)))
    allowed = await story.refuses("not_allowed", "lobby can", TakeSeat(id="", player="A", buy_in=2_000), by="A")
    assert allowed == Allowed(actors=("lobby",))
    await story.refuses("not_seated", "A holds no seat", LeaveTable(id="", player="A"))
    await story.refuses("no_hand", "decisions are taken in a hand", Act(id="", turn=1, action="fold"), by="A")
    allowed = await story.refuses("buy_in_out_of_range", "1000", TakeSeat(id="", player="A", buy_in=999))
    assert allowed == Allowed(minimum=1_000, maximum=10_000)
    await story.accepts(TakeSeat(id="", player="A", buy_in=2_000, seat=1))
    await story.refuses("already_seated", "at most one seat", TakeSeat(id="", player="A", buy_in=2_000))
    allowed = await story.refuses("seat_taken", "free: 2, 3", TakeSeat(id="", player="B", buy_in=2_000, seat=1))
    assert allowed == Allowed(seats=(2, 3))
    allowed = await story.refuses("below_minimum", "at least one chip", TopUp(id="", player="A", amount=0))
    assert allowed == Allowed(minimum=1)
    await story.refuses("not_sitting_out", "only one who sits out", ReturnToPlay(id="", player="A"))
    await story.accepts(SitOut(id="", player="A"))
    await story.refuses("sitting_out", "return_to_play ends it", SitOut(id="", player="A"))
    await story.accepts(ReturnToPlay(id="", player="A"))
    await story.refuses("not_paused", "only pause_table", ResumeTable(id=""))
    await story.accepts(PauseTable(id=""))
    await story.refuses("paused", "resume_table ends it", PauseTable(id=""))
    await story.accepts(*(TakeSeat(id="", player=player, buy_in=2_000) for player in "BC"))
    await story.refuses("table_full", "All 3 seats", TakeSeat(id="", player="D", buy_in=2_000))
    story.ids = 0  # the first id was that of a refused command; the second opened the table
    await story.refuses("unknown_table", "no table T9", PauseTable(id=""), table="T9")
    await story.refuses("duplicate_id", "ids are used once", PauseTable(id=""))
    story.ids = 100


async def in_a_hand(story: Story, room: Room) -> None:
    await story.accepts(ResumeTable(id=""))
    picture = await room.picture(story.lobby, "T1", lambda seen: seen.turn_number is not None)
    turn, number = picture.turn, picture.turn_number
    assert turn is not None
    assert number is not None
    name = {seat.seat: seat.player for seat in picture.seats}
    mine, others = name[turn.seat], name[turn.seat % 3 + 1]

    def act(action: str, to: int | None = None, turn: int = number) -> Act:
        return replace(Act(id="", hand=1, turn=turn, action="fold", to=to), action=action)

    legal = await story.refuses("not_your_turn", f"seat {turn.seat}'s turn", act("fold"), by=others)
    assert legal.turn == turn
    assert (legal.actions, legal.number, legal.hand) == (("fold", "call", "raise", "all_in"), number, 1)
    assert (legal.minimum, legal.maximum) == (200, 2_000)
    assert await story.refuses("stale", f"Turn {number} is open", act("fold", turn=number - 1), by=mine) == legal
    wrong: tuple[tuple[str, int | None, Code, str], ...] = (
        ("check", None, "illegal_action", "legal: fold, call, raise, all_in"),
        ("bet", 300, "illegal_action", "legal: fold, call, raise, all_in"),
        ("raise", None, "illegal_action", "200 to 2000"),
        ("call", 100, "illegal_action", "Only a bet or a raise names an amount"),
        ("raise", 199, "below_minimum", "least raise is to 200"),
        ("raise", 2_001, "above_maximum", "highest raise is to 2000"),
    )
    for action, to, code, said in wrong:
        chip = 5 if code in ("below_minimum", "above_maximum") else None
        assert await story.refuses(code, said, act(action, to), by=mine) == replace(legal, chip=chip)
    allowed = await story.refuses("not_a_whole_chip", "multiple of 5", act("raise", 333), by=mine)
    assert allowed == replace(legal, chip=5)
    allowed = await story.refuses("stale", "at hand 1", replace(act("fold"), hand=7), by=mine)
    assert allowed == Allowed(hand=1)
    await story.refuses("hand_in_progress", "Hand 1", CloseTable(id="", hand=1))
    now = await room.picture(story.lobby, "T1", lambda _: True)
    assert now.n == picture.n + 1, "only what was refused to the lobby is in the log"
    assert replace(now, n=picture.n, head=picture.head) == picture
    await story.accepts(act("call"), by=mine)


async def around_the_hand(story: Story, room: Room) -> None:
    """Seats that are kept, the waiting list, presence, and what operators may not do, at a table of its own."""
    story.ids = 200
    await story.accepts(OpenTable(id="", config=CONFIG), TakeSeat(id="", player="A", buy_in=2_000, seat=1), table="T3")
    await story.accepts(ReserveSeat(id="", player="K", seat=2), table="T3")
    allowed = await story.refuses(
        "seat_reserved", "free: 3", TakeSeat(id="", player="B", buy_in=2_000, seat=2), table="T3"
    )
    assert allowed == Allowed(seats=(3,))
    allowed = await story.refuses("no_request", "No seat is kept for B", ReleaseSeat(id=""), by="B", table="T3")
    assert allowed == Allowed(actions=("reserve_seat",))
    await story.accepts(TakeSeat(id="", player="B", buy_in=2_000), table="T3")
    picture = await room.picture(story.lobby, "T3", lambda seen: seen.turn_number is not None)
    await story.accepts(JoinWaitingList(id="", hand=1), by="W", table="T3")
    allowed = await story.refuses(
        "already_waiting", "number 1 of 1", JoinWaitingList(id="", hand=1), by="W", table="T3"
    )
    assert allowed == Allowed(actions=("leave_waiting_list",))
    await story.refuses("not_waiting", "V does not wait", LeaveWaitingList(id="", hand=1), by="V", table="T3")
    await story.refuses("already_connected", "connected already", Connected(id="", hand=1, player="A"), table="T3")
    await story.accepts(Disconnected(id="", hand=1, player="A"), table="T3")
    allowed = await story.refuses(
        "already_disconnected", "disconnected already", Disconnected(id="", hand=1, player="A"), table="T3"
    )
    assert allowed == Allowed(actions=("connected",))
    assert picture.turn is not None
    assert picture.turn_number is not None
    acts = next(seat.player for seat in picture.seats if seat.seat == picture.turn.seat)
    await story.accepts(Act(id="", hand=1, turn=picture.turn_number, action="fold"), by=acts, table="T3")
    await room.picture(story.lobby, "T3", lambda seen: seen.hand > 1)
    allowed = await story.refuses(
        "hand_settled", "Hand 1 is over", VoidHand(id="", hand=1, reason="doubt"), by="operator", table="T3"
    )
    assert allowed.actions == ("adjust_stack",)


async def at_the_end(story: Story, room: Room) -> None:
    await story.accepts(OpenTable(id="", config=CONFIG), CloseTable(id=""), table="T2")
    await story.refuses("table_closed", "closed for good", PauseTable(id=""), table="T2")
    deploy = await room.caller("deploy")
    last = (await room.log("T1"))[-1]
    await deploy.client.jetstream().publish("table.main.T1.table.table_paused", torn(last.data))
    await story.refuses("halted", "cannot be read", PauseTable(id="", hand=1))


def torn(data: bytes) -> bytes:
    """A commit that extends this one, and that no release can read."""
    commit = decode_commit(data)
    event = b'{"type":"table_paused","reason":7}'
    return b'{"v":2,"table":"T1","n":%d,"hand":1,"by":"table","prev":"%s","events":[%s]}' % (
        commit.n + 1,
        digest(data).encode(),
        event,
    )


async def test_a_command_that_waits_too_long_for_another_service_is_told_to_come_again(tmp_path: Path) -> None:
    """DESIGN 3: there is no dealer; commands are held for 2 s, and a pause is not held at all."""
    without_dealer = [name for name in SERVICES if name != "dealer"]
    async with a_room(tmp_path, without_dealer) as room:
        lobby, players = await room.caller("lobby"), await room.caller("players", "player")
        story = Story(lobby, players)
        await story.accepts(OpenTable(id="", config=CONFIG), *(TakeSeat(id="", player=p, buy_in=2_000) for p in "AB"))
        await story.refuses("busy", "send the same command again", SitOut(id="", hand=1, player="A"))
        await story.accepts(PauseTable(id="", hand=1))
