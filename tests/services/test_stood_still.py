"""DESIGN 4: a refusal is final, so a process that stood still must not accept what others refused meanwhile."""

import asyncio

from contracts.codec import decode_outcome, encode
from contracts.commands import TakeSeat
from contracts.events.table import TableOpened
from contracts.outcomes import Accepted
from contracts.subjects import command
from services.bus.desk import Desk
from services.bus.memory import MemoryLog
from services.table.app import RULES
from tests.simulation.test_mended import CONFIG, follower, in_virtual_time, loop_over, told


def test_a_command_that_was_in_hand_when_the_process_stood_still_is_dropped_unanswered() -> None:
    """It was once decided after the wake-up, however long that took; only what came meanwhile was dropped."""
    log, answers, stalls = MemoryLog(), dict[str, bytes](), [0]

    async def story() -> None:
        await told(log, TableOpened(config=CONFIG))
        over = follower(log)
        await over.start()
        desk = Desk(loop_over(log, over), RULES, answers.__setitem__, lambda: stalls[0])
        lobby = command("main", "T1", "lobby", "lobby")
        desk.submit(lobby, "_R_.1", encode(TakeSeat(id="a", player="P1", buy_in=1_000)))
        stalls[0] = 1  # the process stands still before it gets to decide
        await asyncio.sleep(1)
        assert (answers, len(log.messages)) == ({}, 1)
        desk.submit(lobby, "_R_.2", encode(TakeSeat(id="a", player="P1", buy_in=1_000)))
        await asyncio.sleep(1)

    in_virtual_time(story())
    assert [reply for reply in answers if reply.startswith("_R_")] == ["_R_.2"]
    assert isinstance(decode_outcome(answers["_R_.2"]), Accepted)
