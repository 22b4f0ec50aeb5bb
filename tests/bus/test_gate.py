"""What floods a service is turned away at once, whoever floods alone, and nothing waits that would be answered late."""

import asyncio
from typing import Any

from nats.aio.msg import Msg

from contracts.codec import decode_outcome
from contracts.outcomes import Rejected
from services.bus.gate import PLAYER_WAITING_MAX, WAITING_MAX, Gate

NOBODY: Any = None


class Counter:
    """Handles requests, and keeps what was answered."""

    def __init__(self) -> None:
        self.handled: list[str] = []
        self.answers: dict[str, bytes] = {}
        self.stalled = False
        self.gate = Gate(self.answers.__setitem__, lambda: self.stalled)

    def send(self, sender: str, reply: str) -> None:
        """A command arrives from a sender, like `player.P1`."""
        self.gate.take(Msg(NOBODY, f"command.main.T1.{sender}", reply, b""), self.handle)

    async def handle(self, message: Msg) -> None:
        """Handles one."""
        await asyncio.sleep(0)
        self.handled.append(message.reply)

    async def rest(self) -> None:
        """Returns when nothing waits."""
        while self.gate.waiting:  # noqa: ASYNC110
            await asyncio.sleep(0)


async def test_of_a_flood_by_one_player_so_many_are_handled_and_the_rest_is_busy_at_once() -> None:
    counter = Counter()
    for number in range(10 * PLAYER_WAITING_MAX):
        counter.send("player.P1", f"_R_.{number}")
    counter.send("player.P2", "_R_.other")
    counter.send("lobby.lobby", "_R_.lobby")
    turned_away = [f"_R_.{number}" for number in range(PLAYER_WAITING_MAX, 10 * PLAYER_WAITING_MAX)]
    assert list(counter.answers) == turned_away
    answer = decode_outcome(counter.answers[turned_away[0]])
    assert isinstance(answer, Rejected)
    assert (answer.code, answer.message) == ("busy", "Too much is asked at once; send the same again.")
    await counter.rest()
    assert counter.handled == [*(f"_R_.{number}" for number in range(PLAYER_WAITING_MAX)), "_R_.other", "_R_.lobby"]
    counter.send("player.P1", "_R_.again")
    await counter.rest()
    assert counter.handled[-1] == "_R_.again"


async def test_however_many_ask_so_many_wait_and_every_request_is_handled_or_turned_away() -> None:
    counter = Counter()
    sent = [f"_R_.{number}" for number in range(4 * WAITING_MAX)]
    for number, reply in enumerate(sent):
        counter.send(f"player.P{number}", reply)
    assert counter.gate.waiting == WAITING_MAX
    await counter.rest()
    assert counter.handled == sent[:WAITING_MAX]
    assert list(counter.answers) == sent[WAITING_MAX:]
    assert counter.gate.turned_away == 3 * WAITING_MAX


async def test_nothing_is_taken_during_a_stall_and_no_answer_goes_to_somebody_elses_subject() -> None:
    counter = Counter()
    counter.send("player.P1", "table.main.T1.table.table_closed")
    counter.stalled = True
    for number in range(2 * WAITING_MAX):
        counter.send(f"player.P{number}", f"_R_.{number}")
    assert (counter.gate.waiting, counter.answers) == (0, {})


async def test_a_request_that_fails_stops_no_other() -> None:
    counter = Counter()

    async def fail(message: Msg) -> None:
        raise ValueError(message.reply)

    counter.gate.take(Msg(NOBODY, "command.main.T1.player.P1", "_R_.1", b""), fail)
    counter.send("player.P1", "_R_.2")
    await counter.rest()
    assert counter.handled == ["_R_.2"]
