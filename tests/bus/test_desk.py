"""The way of a command, over the log in memory."""

import asyncio
from random import Random

import msgspec

from contracts.codec import decode_outcome, encode
from contracts.commands import SitOut
from contracts.outcomes import Outcome, Rejected
from contracts.subjects import command
from services.bus.clock import Clock
from services.bus.desk import Desk
from services.bus.follower import Follower
from services.bus.loop import Loop
from services.bus.memory import MemoryLog
from services.table.app import ROLE, RULES


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
    follower = Follower(log, ["main"], Clock())
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
