"""Every code of a refusal, provoked: the whole answer, which says in a sentence and in `allowed` what is accepted."""

import asyncio
import json
from collections.abc import Callable
from random import Random
from typing import Any, Final, get_args

import pytest
from msgspec.structs import replace

from contracts.codec import decode_outcome, digest, encode
from contracts.commands import (
    Act,
    AnyCommand,
    CloseTable,
    LeaveTable,
    OpenTable,
    PauseTable,
    ResumeTable,
    ReturnToPlay,
    SitOut,
    TakeSeat,
    TopUp,
)
from contracts.commit import Cause
from contracts.data import CHIPS_MAX
from contracts.events.state import Actor, Turn
from contracts.events.table import TableOpened
from contracts.games import RULES_VERSION, BuyIn, Stakes
from contracts.outcomes import Allowed, Code, Outcome, Rejected
from contracts.subjects import ActorKind, command
from services.bus.aggregates import TABLES
from services.bus.clock import Clock
from services.bus.desk import Desk
from services.bus.follower import Follower
from services.bus.loop import Loop
from services.bus.memory import MemoryLog
from services.table import decider
from services.table.app import ROLE, RULES
from services.table.intake import KINDS, read_command
from tests.table.refused_around_the_hand import AROUND_THE_HAND
from tests.table.stories import Game, config, fold_

type Story = Callable[[], Game]

NOT_SENT: Final = {"unknown_actor"}
"""Codes that only another front of the room may send: here the server refuses an unknown sender."""
OF_ACCOUNTS: Final = {
    *("unknown_account", "account_exists", "account_frozen", "account_not_frozen"),
    *("not_enough", "wrong_currency", "duplicate_reference"),
}
"""Codes of ledgers, which no table sends."""
NOTHING: Final = {"table_closed", "busy", "halted"}
"""Codes where nothing else would be accepted: no command ever, the same one again, or none until it is mended."""
CONFIG: Final = config(seats=3, buy_in=BuyIn(minimum=400, maximum=20_000), odd_chip_unit=5)
TURN: Final = Turn(seat=3, check=False, act_ms=30_000, call=100, wager="raise", minimum=200, maximum=5000)
LEGAL: Final = Allowed(
    actions=("fold", "call", "raise", "all_in"), turn=TURN, number=4, minimum=200, maximum=5000, hand=1
)


def unopened() -> Game:
    return Game(CONFIG)


def opened() -> Game:
    game = unopened()
    game.append("table", (TableOpened(config=CONFIG),))
    return game


def one_seated() -> Game:
    return opened().sit(1, 5000)


def full_by_the_second_rules() -> Game:
    game = unopened()
    game.append("table", (TableOpened(config=replace(CONFIG, options=replace(CONFIG.options, rules=2))),))
    return game.sit(1, 20_000)


def one_away() -> Game:
    return sent(one_seated(), "player", "P1", SitOut(id=""))


def all_seated() -> Game:
    return one_seated().sit(2, 5000).sit(3, 5000)


def paused() -> Game:
    return sent(opened(), "operator", "O1", PauseTable(id=""))


def closed() -> Game:
    return sent(opened(), "operator", "O1", CloseTable(id=""))


def dealt() -> Game:
    """Button 3, blinds 50/100 from seats 1 and 2; seat 3 is to act in hand 1, and chips are multiples of 5."""
    return Game(CONFIG).given({1: 5000, 2: 5000, 3: 5000}, button=3)


def all_leaving() -> Game:
    game = dealt()
    for player in ("P1", "P2", "P3"):
        sent(game, "lobby", "L1", LeaveTable(id="", player=player))
    return game


def of_later_rules() -> Game:
    game = dealt()
    assert game.table.hand is not None
    game.table.hand.rules = RULES_VERSION + 1
    return game


def sent(game: Game, kind: ActorKind, who: str, asked: AnyCommand) -> Game:
    outcome = game.send(kind, who, asked)
    assert not isinstance(outcome, Rejected), outcome
    return game


def body(**fields: Any) -> bytes:
    return json.dumps({"id": "x", **fields}).encode()


def act(action: Any, to: int | None = None, turn: int = 4) -> Act:
    return Act(id="x", hand=1, turn=turn, action=action, to=to)


def take(player: str = "P9", chips: int = 5000, **more: Any) -> TakeSeat:
    return TakeSeat(id="x", player=player, buy_in=chips, **more)


OF_A_KIND: Final = f"a command is JSON whose `type` is one of {', '.join(KINDS)}"
WHOLE: Final = f"an amount is a whole number of the smallest chips, from 1 to {CHIPS_MAX}"
SIGNED: Final = f"an amount is a whole number of the smallest chips, from -{CHIPS_MAX} to {CHIPS_MAX}"
UNFIT: Final = replace(CONFIG, stakes=Stakes(small_blind=200, big_blind=100))
MISTYPED: Final = {"config": {**json.loads(encode(CONFIG)), "rakes": 1}}

BYTES: Final[dict[str, tuple[bytes, Code, str, str, Allowed]]] = {
    "no JSON": (
        b"deal me in",
        "malformed",
        "",
        f"The command cannot be read: JSON is malformed: invalid character (byte 0); {OF_A_KIND}.",
        Allowed(actions=KINDS),
    ),
    "no such command": (
        body(type="rob_table"),
        "malformed",
        "x",
        f"The command cannot be read: Invalid value 'rob_table' - at `$.type`; {OF_A_KIND}.",
        Allowed(actions=KINDS),
    ),
    "a field is missing": (
        body(type="take_seat", buy_in=5000),
        "malformed",
        "x",
        "The command cannot be read: Object missing required field `player`.",
        Allowed(actions=("take_seat",)),
    ),
    "an option that is none": (
        body(type="open_table", **MISTYPED),
        "malformed",
        "x",
        "No table can be opened like this: a configuration has no field `config.rakes`.",
        Allowed(actions=("open_table",)),
    ),
    "half a chip": (
        body(type="take_seat", player="P9", buy_in=0.5),
        "not_a_whole_chip",
        "x",
        f"The command cannot be read: Expected `int`, got `float` - at `$.buy_in`; {WHOLE}.",
        Allowed(minimum=1, maximum=CHIPS_MAX, chip=1),
    ),
    "an option that is none, to change to": (
        body(type="change_options", reason="r", **MISTYPED),
        "malformed",
        "x",
        "The table cannot be changed like this: a configuration has no field `config.rakes`.",
        Allowed(actions=("change_options",)),
    ),
    "half a chip to take away": (
        body(type="adjust_stack", player="P9", amount=-0.5, reason="r"),
        "not_a_whole_chip",
        "x",
        f"The command cannot be read: Expected `int`, got `float` - at `$.amount`; {SIGNED}.",
        Allowed(minimum=-CHIPS_MAX, maximum=CHIPS_MAX, chip=1),
    ),
    "too long": (
        b" " * 65_537,
        "oversized",
        "",
        "A command has at most 65536 bytes; this one has 65537.",
        Allowed(maximum=65_536),
    ),
    "a later version": (
        body(type="take_seat", v=2),
        "unsupported_version",
        "x",
        "Commands of version 2 are not known here; version 1 is.",
        Allowed(versions=(1,)),
    ),
}
"""Bytes that are no command, and their answer: code, id, message, allowed."""

DECIDED: Final[dict[str, tuple[Story, ActorKind, AnyCommand, Code, str, Allowed]]] = {
    "later rules at the opening": (
        unopened,
        "operator",
        OpenTable(id="x", config=config(rules=RULES_VERSION + 1)),
        "unsupported_version",
        "Rules 4 are not known here; the newest are 3.",
        Allowed(versions=(1, 2, 3)),
    ),
    "stakes that do not fit": (
        unopened,
        "operator",
        OpenTable(id="x", config=UNFIT),
        "malformed",
        "No table can be opened like this: the small blind of 200 is above the big blind of 100.",
        Allowed(actions=("open_table",)),
    ),
    "a player sits down alone": (
        opened,
        "player",
        take(),
        "not_allowed",
        "A player cannot send this command; lobby can.",
        Allowed(actors=("lobby",)),
    ),
    "a player for another": (
        one_seated,
        "player",
        LeaveTable(id="x", player="P2"),
        "not_allowed",
        "A player sends commands for nobody else; leave `player` out.",
        Allowed(actors=("lobby",)),
    ),
    "a lobby for nobody": (
        one_seated,
        "lobby",
        LeaveTable(id="x"),
        "not_allowed",
        "A lobby says in `player` whom the command is for.",
        Allowed(actors=("player",)),
    ),
    "no table": (
        unopened,
        "lobby",
        take(),
        "unknown_table",
        "There is no table T1; open_table opens one.",
        Allowed(actions=("open_table",)),
    ),
    "a table twice": (
        opened,
        "lobby",
        OpenTable(id="x", config=CONFIG),
        "table_exists",
        "Table T1 was opened already, and is at hand 0; another name opens another one.",
        Allowed(hand=0),
    ),
    "a closed table": (
        closed,
        "lobby",
        take(),
        "table_closed",
        "Table T1 is closed for good and accepts nothing; open_table opens one of another name.",
        Allowed(),
    ),
    "a paused table": (
        paused,
        "lobby",
        PauseTable(id="x"),
        "paused",
        "The table is paused already; resume_table ends it.",
        Allowed(actions=("resume_table",)),
    ),
    "a table that is not paused": (
        opened,
        "lobby",
        ResumeTable(id="x"),
        "not_paused",
        "The table is not paused; only pause_table is accepted.",
        Allowed(actions=("pause_table",)),
    ),
    "another hand": (
        dealt,
        "player",
        replace(act("fold"), hand=7),
        "stale",
        "The table is at hand 1; a command seen from hand 7 came too late or early.",
        Allowed(hand=1),
    ),
    "another turn": (dealt, "player", act("fold", turn=3), "stale", "Turn 4 is open, not 3.", LEGAL),
    "an id twice": (
        lambda: sent(opened(), "lobby", "P3", PauseTable(id="x")),
        "lobby",
        ResumeTable(id="x"),
        "duplicate_id",
        "Commit 2 answered another command with the id x; ids are used once. A new command at hand 0 takes a new id.",
        Allowed(hand=0),
    ),
    "rules of a later release": (
        of_later_rules,
        "player",
        act("fold"),
        "busy",
        "Rules newer than 3 are not known here; send the same command again.",
        Allowed(),
    ),
    "no hand": (
        one_seated,
        "player",
        replace(act("fold"), hand=0),
        "no_hand",
        "No hand is in progress; decisions are taken in a hand.",
        Allowed(hand=0),
    ),
    "closing in a hand": (
        dealt,
        "operator",
        CloseTable(id="x", hand=1),
        "hand_in_progress",
        "Hand 1 is in progress; pause the table and close it when the hand has ended.",
        Allowed(actions=("pause_table",), hand=1),
    ),
    "without a seat": (
        one_seated,
        "player",
        LeaveTable(id="x"),
        "not_seated",
        "P3 holds no seat at this table; take_seat gives one of 2, 3.",
        Allowed(actions=("take_seat",), seats=(2, 3)),
    ),
    "without a seat at a full table": (
        all_seated,
        "lobby",
        TopUp(id="x", player="P9", amount=100),
        "not_seated",
        "P9 holds no seat at this table; none is free.",
        Allowed(hand=0),
    ),
    "a decision without a seat": (
        lambda: Game(CONFIG).given({1: 5000, 2: 5000}, button=1),
        "player",
        act("fold"),
        "not_seated",
        "P3 holds no seat at this table; take_seat gives one of 3.",
        Allowed(actions=("take_seat",), seats=(3,)),
    ),
    "seated already": (
        one_seated,
        "lobby",
        take("P1"),
        "already_seated",
        "A player holds at most one seat at a table; P1 holds seat 1.",
        Allowed(seats=(1,)),
    ),
    "a held seat": (
        one_seated,
        "lobby",
        take(seat=1),
        "seat_taken",
        "Seat 1 is not free; free: 2, 3.",
        Allowed(seats=(2, 3)),
    ),
    "no free seat": (
        all_seated,
        "lobby",
        take(),
        "table_full",
        "All 3 seats are held; take_seat is accepted after somebody's leave_table.",
        Allowed(actions=("leave_table",), hand=0),
    ),
    "no free seat yet": (
        all_leaving,
        "lobby",
        take(hand=1),
        "table_full",
        "All 3 seats are held; one is free when hand 1 has ended.",
        Allowed(hand=1),
    ),
    "too small a buy-in": (
        opened,
        "lobby",
        take(chips=399),
        "buy_in_out_of_range",
        "The buy-in is 400 to 20000; 399 is not.",
        Allowed(minimum=400, maximum=20_000),
    ),
    "too large a top-up": (
        one_seated,
        "lobby",
        TopUp(id="x", player="P1", amount=15_001),
        "buy_in_out_of_range",
        "To a stack of 5000 are added 1 to 15000; 15001 is not.",
        Allowed(minimum=1, maximum=15_000),
    ),
    "a top-up of a full stack": (
        full_by_the_second_rules,
        "lobby",
        TopUp(id="x", player="P1", amount=1),
        "buy_in_out_of_range",
        "The stack is at the table's maximum: no top-up is accepted now.",
        Allowed(hand=0),
    ),
    "a top-up of a full stack, by the first rules": (
        lambda: opened().sit(1, 20_000),
        "lobby",
        TopUp(id="x", player="P1", amount=1),
        "buy_in_out_of_range",
        "The stack is at the table's maximum.",
        Allowed(minimum=0, maximum=0),
    ),
    "sitting out": (
        one_away,
        "lobby",
        SitOut(id="x", player="P1"),
        "sitting_out",
        "The player sits out already; return_to_play ends it.",
        Allowed(actions=("return_to_play",)),
    ),
    "not sitting out": (
        one_seated,
        "lobby",
        ReturnToPlay(id="x", player="P1"),
        "not_sitting_out",
        "The player is playing; only one who sits out returns.",
        Allowed(actions=("sit_out", "leave_table")),
    ),
    "after the hand": (
        lambda: dealt().when(fold_(3), fold_(1)),
        "player",
        act("fold"),
        "no_hand",
        "No hand is in progress; decisions are taken in a hand.",
        Allowed(hand=1),
    ),
    "leaving twice": (
        all_leaving,
        "player",
        LeaveTable(id="x", hand=1),
        "illegal_action",
        "The player leaves already, when hand 1 has ended; nothing more is to be sent.",
        Allowed(hand=1),
    ),
    "a check that a bet forbids": (
        dealt,
        "player",
        act("check"),
        "illegal_action",
        "The player cannot check here; legal: fold, call, raise, all_in.",
        LEGAL,
    ),
    "a raise to nothing": (
        dealt,
        "player",
        act("raise"),
        "illegal_action",
        "A raise names the total to reach: 200 to 5000.",
        LEGAL,
    ),
    "a call to an amount": (
        dealt,
        "player",
        act("call", 100),
        "illegal_action",
        "Only a bet or a raise names an amount to reach; call does not.",
        LEGAL,
    ),
    "a raise below the least": (
        dealt,
        "player",
        act("raise", 195),
        "below_minimum",
        "The least raise is to 200, then in multiples of 5; 195 is below it.",
        replace(LEGAL, chip=5),
    ),
    "a top-up of nothing": (
        one_seated,
        "lobby",
        TopUp(id="x", player="P1", amount=0),
        "below_minimum",
        "A top-up adds at least one chip.",
        Allowed(minimum=1),
    ),
    "a raise above the highest": (
        dealt,
        "player",
        act("raise", 5005),
        "above_maximum",
        "The highest raise is to 5000, below it in multiples of 5; 5005 is above it.",
        replace(LEGAL, chip=5),
    ),
    "a raise in smaller chips": (
        dealt,
        "player",
        act("raise", 333),
        "not_a_whole_chip",
        "A raise is to a multiple of 5, the smallest chip here; 333 is none.",
        replace(LEGAL, chip=5),
    ),
    "somebody else's turn": (
        lambda: dealt().when(fold_(3)),
        "player",
        act("fold"),
        "not_your_turn",
        "It is seat 1's turn.",
        replace(LEGAL, turn=replace(TURN, seat=1, call=50), number=5),
    ),
}
"""Commands that a table refuses: the story, who sends what, and the answer. Players and others send as P3."""
DECIDED.update(AROUND_THE_HAND)


@pytest.mark.parametrize("name", BYTES)
def test_bytes_that_are_no_command_are_told_what_would_be(name: str) -> None:
    sent_bytes, code, command_id, message, allowed = BYTES[name]
    assert read_command(sent_bytes) == Rejected(code=code, message=message, id=command_id, allowed=allowed)


@pytest.mark.parametrize("name", DECIDED)
def test_a_refused_command_is_told_what_would_be_accepted(name: str) -> None:
    story, kind, asked, code, message, allowed = DECIDED[name]
    table = story().table
    cause = Cause(actor=Actor(kind=kind, name="P3"), arrived=Game(CONFIG).at, command=asked)
    outcome = decider.known(table, cause) or decider.decide(table, cause, cause.arrived)
    assert outcome == Rejected(code=code, message=message, id="x", allowed=allowed, n=table.n, head=table.head)


async def test_a_halted_table_says_that_it_accepts_nothing_until_it_is_mended() -> None:
    """The last commit is one of a later release: whose bytes the desk cannot fold, it decides nothing on."""
    log, answered = MemoryLog(), asyncio.Queue[tuple[str, Outcome]]()
    game = opened()
    junk = body(v=2, table="T1", n=2, hand=0, by="table", prev=game.table.head, events=[{"type": "x"}])
    await log.append("main", "T1", "table", "table_opened", game.stored[0], 0)
    await log.append("main", "T1", "table", "table_paused", junk, 1)
    follower = Follower(TABLES, log, ["main"], Clock())
    await follower.start()

    def publish(subject: str, data: bytes) -> None:
        if subject == "_INBOX.1":
            answered.put_nowait((subject, decode_outcome(data)))

    desk = Desk(Loop(ROLE, follower, log, publish=publish, random=Random(1)), RULES, publish)
    desk.submit(command("main", "T1", "lobby", "L1"), "_INBOX.1", encode(take()))
    _, outcome = await asyncio.wait_for(answered.get(), 5)
    await desk.stop()
    reason = follower.replica("main", "T1").halted
    said = f"The table is halted: {reason}. It accepts nothing until an operator has mended that."
    assert outcome == Rejected(code="halted", message=said, id="x", n=1, head=digest(game.stored[0]))


def test_every_code_is_provoked_here_and_only_some_allow_nothing() -> None:
    allowed = {code: allowed for _, code, _, _, allowed in BYTES.values()}
    allowed |= {code: allowed for *_, code, _, allowed in DECIDED.values()}
    assert {*allowed, "halted"} == {*get_args(Code.__value__)} - NOT_SENT - OF_ACCOUNTS
    assert {code for code, instead in allowed.items() if instead == Allowed()} == NOTHING - {"halted"}
