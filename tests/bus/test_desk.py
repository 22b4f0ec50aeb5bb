"""The way of a command, over the log in memory."""

import asyncio
from random import Random

import msgspec
import pytest
import structlog

from contracts.codec import decode_commit, decode_outcome, encode
from contracts.commands import Act, SitOut, VoidHand
from contracts.events import fact_of
from contracts.events.state import SeatRecord
from contracts.events.table import ActionTaken, HandStarted, HandVoided
from contracts.outcomes import Accepted, Outcome, Rejected
from contracts.subjects import command
from services.bus.aggregates import TABLES
from services.bus.clock import Clock
from services.bus.desk import Desk
from services.bus.follower import Follower
from services.bus.loop import Loop
from services.bus.memory import MemoryLog
from services.table.app import ROLE, RULES
from tests.simulation.test_mended import in_virtual_time
from tests.table.stories import Game, config


class Answers:
    """What was published, by subject."""

    def __init__(self) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self.arrived = asyncio.Event()

    def publish(self, subject: str, data: bytes) -> None:
        if subject.startswith("_INBOX."):
            self.outcomes[subject] = decode_outcome(data)
            self.arrived.set()


async def test_commands_to_tables_that_are_not_there_leave_nothing_behind() -> None:
    """Anybody may make names up: a process must not remember them."""
    log, answers = MemoryLog(), Answers()
    follower = Follower(TABLES, log, ["main"], Clock())
    await follower.start()
    loop = Loop(ROLE, follower, log, publish=answers.publish, random=Random(1))
    desk = Desk(loop, RULES, answers.publish)
    for number in range(50):
        body = encode(SitOut(id=f"c{number}"))
        desk.submit(command("main", f"made-up-{number}", "player", "mallory"), f"_INBOX.{number}", body)
        while f"_INBOX.{number}" not in answers.outcomes:
            answers.arrived.clear()
            await asyncio.wait_for(answers.arrived.wait(), 5)
    await desk.stop()
    codes = {outcome.code for outcome in answers.outcomes.values() if isinstance(outcome, Rejected)}
    assert (len(answers.outcomes), codes) == (50, {"unknown_table"})
    assert follower.replicas == {}
    assert msgspec.json.encode(log.messages) == b"[]"


@pytest.mark.parametrize(
    ("subject", "part"),
    [
        ("command.main.T1.player.an$n", "player"),
        (f"command.main.T1.player.{'n' * 41}", "player"),
        ("command.main.T$1.lobby.lobby", "table"),
        ("command.ma$n.T1.operator.operator", "room"),
    ],
)
async def test_a_name_that_is_none_is_answered_and_goes_nowhere_else(subject: str, part: str) -> None:
    """Nothing is kept of it: a refusal's subject would hold the name."""
    log, published = MemoryLog(), list[tuple[str, Outcome]]()
    follower = Follower(TABLES, log, ["main"], Clock())
    await follower.start()

    def publish(subject: str, data: bytes) -> None:
        published.append((subject, decode_outcome(data)))

    loop = Loop(ROLE, follower, log, publish=publish, random=Random(1))
    desk = Desk(loop, RULES, publish)
    desk.submit(subject, "_INBOX.1", encode(SitOut(id="c1")))
    desk.submit("command.main.T1.player.P1.more", "_INBOX.2", encode(SitOut(id="c2")))
    await desk.stop()
    said = f"The name of the {part} in the subject is none: 1 to 40 letters, digits, - and _ ([A-Za-z0-9_-]{{1,40}})."
    assert published == [("_INBOX.1", Rejected(code="malformed", message=said, id="c1"))]
    assert (follower.replicas, log.messages) == ({}, [])


async def told(log: MemoryLog, game: Game) -> None:
    """Writes the log of a story."""
    for number, line in enumerate(game.stored):
        commit = decode_commit(line)
        await log.append("main", "T1", commit.by, fact_of(commit.events[-1]), line, number)


async def test_a_hand_is_cancelled_while_the_dealer_owes_the_cards() -> None:
    """R121: a void does not wait for who may never come; a seat that is asked for does."""
    game = Game(config()).between_hands(
        {seat: SeatRecord(seat=seat, player=f"P{seat}", stack=500, sat=seat) for seat in (1, 2)}
    )
    assert game.owed()
    log, answers = MemoryLog(), Answers()
    await told(log, game)
    follower = Follower(TABLES, log, ["main"], Clock())
    await follower.start()
    desk = Desk(Loop(ROLE, follower, log, publish=answers.publish, random=Random(1)), RULES, answers.publish)
    replica = follower.replica("main", "T1")
    await follower.catch_up(replica)
    desk.submit(
        command("main", "T1", "operator", "O1"), "_INBOX.void", encode(VoidHand(id="v", hand=1, reason="no dealer"))
    )
    await asyncio.wait_for(answers.arrived.wait(), 1)
    await desk.stop()
    assert isinstance(answers.outcomes["_INBOX.void"], Accepted)
    voided, again = (decode_commit(stored.data).events[0] for stored in log.messages[len(game.stored) :])
    assert isinstance(voided, HandVoided)
    assert isinstance(again, HandStarted)
    assert (voided.number, again.number) == (1, 2)


async def test_a_decision_is_in_time_as_long_as_its_time_out_is_not_in_the_log() -> None:
    """R116: the time of the open turn was over long ago, and no replica has said so yet: the player is first."""
    game = Game(config()).given({1: 5000, 2: 5000, 3: 5000}, button=3)
    log, answers = MemoryLog(), Answers()
    await told(log, game)
    follower = Follower(TABLES, log, ["main"], Clock())
    await follower.start()
    loop = Loop(ROLE, follower, log, publish=answers.publish, random=Random(1))
    desk = Desk(loop, RULES, answers.publish)
    replica = follower.replica("main", "T1")
    await follower.catch_up(replica)
    assert loop.is_owing(replica)
    for name, turn in (("c1", game.table.n), ("c2", game.table.n)):
        body = encode(Act(id=name, hand=1, turn=turn, action="call"))
        desk.submit(command("main", "T1", "player", "P3"), f"_INBOX.{name}", body)
    while len(answers.outcomes) < 2:
        answers.arrived.clear()
        await asyncio.wait_for(answers.arrived.wait(), 5)
    await desk.stop()
    accepted, refused = answers.outcomes["_INBOX.c1"], answers.outcomes["_INBOX.c2"]
    assert isinstance(accepted, Accepted)
    assert isinstance(refused, Rejected)
    assert (accepted.n, refused.code) == (game.table.n + 1, "not_your_turn")
    (taken,) = decode_commit(log.messages[game.table.n].data).events
    assert isinstance(taken, ActionTaken)
    assert (taken.seat, taken.action, taken.timed_out) == (3, "call", False)
    assert taken.took_ms > 30_000


class Breaking:
    """Publishes; one answer it cannot."""

    def __init__(self, broken: str) -> None:
        self.outcomes: dict[str, Outcome] = {}
        self._broken = broken

    def publish(self, subject: str, data: bytes) -> None:
        """Raises for the subject that is broken."""
        if subject == self._broken:
            raise ZeroDivisionError(subject)
        if subject.startswith("_INBOX."):
            self.outcomes[subject] = decode_outcome(data)


def test_a_fault_while_answering_ends_no_tables_commands() -> None:
    """Once the table never answered again: its queue was left without anybody who worked on it."""
    told_of = Breaking("_INBOX.broken")

    async def story() -> int:
        game = Game(config()).given({1: 5000, 2: 5000, 3: 5000}, button=3)
        log = MemoryLog()
        await told(log, game)
        follower = Follower(TABLES, log, ["main"], Clock())
        await follower.start()
        desk = Desk(Loop(ROLE, follower, log, publish=told_of.publish, random=Random(1)), RULES, told_of.publish)
        for name in ("broken", "second"):
            desk.submit(command("main", "T1", "player", "P2"), f"_INBOX.{name}", encode(SitOut(id=name, hand=1)))
        await asyncio.sleep(1)
        desk.submit(command("main", "T1", "player", "P2"), "_INBOX.third", encode(SitOut(id="third", hand=1)))
        await asyncio.sleep(1)
        await desk.stop()
        return desk.waiting.count

    with structlog.testing.capture_logs() as lines:
        assert in_virtual_time(story()) == 0
    assert set(told_of.outcomes) == {"_INBOX.second", "_INBOX.third"}
    (failed,) = (line for line in lines if line["event"] == "task_failed")
    assert (failed["table"], failed["command"]) == ("T1", "broken")
