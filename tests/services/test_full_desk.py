"""A table that cannot keep up says `busy` at once, to whoever sends too much, and answers nothing late (DESIGN 4)."""

import asyncio

from contracts.codec import decode_outcome, encode
from contracts.commands import Act, PauseTable, TakeSeat
from contracts.events.table import TableOpened
from contracts.outcomes import Rejected
from contracts.subjects import command
from services.bus.desk import HOLD_S, Desk
from services.bus.log import InDoubt
from services.bus.memory import MemoryLog
from services.bus.waiting import PLAYER_WAITING_MAX, PROCESS_WAITING_MAX, WAITING_MAX
from services.table.app import RULES
from tests.simulation.test_mended import CONFIG, follower, in_virtual_time, loop_over, seated, told


class Answers:
    """The answers by reply subject, in the order in which they came, and when."""

    def __init__(self) -> None:
        self.codes: dict[str, str] = {}
        self.at: dict[str, float] = {}

    def publish(self, subject: str, data: bytes) -> None:
        """Takes what a desk publishes."""
        if subject.startswith("_R_."):
            assert subject not in self.codes
            outcome = decode_outcome(data)
            self.codes[subject] = outcome.code if isinstance(outcome, Rejected) else "accepted"
            self.at[subject] = asyncio.get_running_loop().time()


def act(number: int) -> bytes:
    return encode(Act(id=f"a{number}", hand=1, turn=2, action="fold"))


def test_who_floods_a_table_is_busy_at_once_and_the_others_at_it_wait_their_turn() -> None:
    answers = Answers()

    async def story() -> dict[str, str]:
        log = MemoryLog()
        await told(log, TableOpened(config=CONFIG), seated(1), seated(2))
        over = follower(log)
        await over.start()
        loop = loop_over(log, over)
        await loop.pay(over.replica("main", "T1"))  # the hand has begun, and no dealer deals
        desk = Desk(loop, RULES, answers.publish)
        for number in range(10 * PLAYER_WAITING_MAX):
            desk.submit(command("main", "T1", "player", "P1"), f"_R_.{number}", act(number))
        desk.submit(command("main", "T1", "player", "P2"), "_R_.P2", act(0))
        at_once = dict(answers.codes)
        assert desk.waiting.count == PLAYER_WAITING_MAX + 1
        await asyncio.sleep(HOLD_S + 1)
        assert desk.waiting.count == 0
        return at_once

    at_once = in_virtual_time(story())
    assert at_once == {f"_R_.{number}": "busy" for number in range(PLAYER_WAITING_MAX, 10 * PLAYER_WAITING_MAX)}
    assert set(answers.codes) == {*at_once, *(f"_R_.{number}" for number in range(PLAYER_WAITING_MAX)), "_R_.P2"}


def test_a_table_has_room_for_so_many_whoever_they_are() -> None:
    answers = Answers()

    async def story() -> None:
        log = MemoryLog()
        await told(log, TableOpened(config=CONFIG))
        over = follower(log)
        await over.start()
        desk = Desk(loop_over(log, over), RULES, answers.publish)
        for number in range(2 * WAITING_MAX):
            desk.submit(command("main", "T1", "player", f"P{number}"), f"_R_.{number}", act(number))
        assert list(answers.codes.values()) == ["busy"] * WAITING_MAX
        await asyncio.sleep(HOLD_S)

    in_virtual_time(story())
    assert len(answers.codes) == 2 * WAITING_MAX


def test_a_process_has_room_for_so_many_at_all_its_tables() -> None:
    answers = Answers()
    full = PROCESS_WAITING_MAX // WAITING_MAX

    async def story() -> None:
        log = MemoryLog()
        for table in range(full + 1):
            await told(log, TableOpened(config=CONFIG), table=f"T{table}")
        over = follower(log)
        await over.start()
        desk = Desk(loop_over(log, over), RULES, answers.publish)
        for number in range(PROCESS_WAITING_MAX):
            name = command("main", f"T{number // WAITING_MAX}", "player", f"P{number}")
            desk.submit(name, f"_R_.{number}", act(number))
        assert answers.codes == {}
        desk.submit(command("main", f"T{full}", "player", "P1"), "_R_.next", act(0))
        assert answers.codes == {"_R_.next": "busy"}
        await asyncio.sleep(HOLD_S)
        desk.submit(command("main", f"T{full}", "player", "P1"), "_R_.again", act(0))
        await asyncio.sleep(HOLD_S)

    in_virtual_time(story())
    assert len(answers.codes) == PROCESS_WAITING_MAX + 2
    assert answers.codes["_R_.again"] != "busy"


class Silent(MemoryLog):
    """From some moment on it takes no append and says nothing about it."""

    silent = False

    async def append(self, room: str, table: str, service: str, fact: str, data: bytes, expected: int) -> int:
        if self.silent:
            raise InDoubt("no answer")
        return await super().append(room, table, service, fact, data, expected)


def test_commands_behind_an_append_in_doubt_are_busy_in_time_and_the_one_in_doubt_is_told_nothing() -> None:
    """They once waited as long as the doubt lasted, and were then decided, however late."""
    answers = Answers()

    async def story() -> float:
        log, lobby = Silent(), command("main", "T1", "lobby", "lobby")
        await told(log, TableOpened(config=CONFIG))
        log.silent = True
        over = follower(log)
        await over.start()
        desk = Desk(loop_over(log, over), RULES, answers.publish)
        desk.submit(lobby, "_R_.doubt", encode(TakeSeat(id="a", player="P1", buy_in=1_000)))
        for number in range(3):
            desk.submit(lobby, f"_R_.{number}", encode(PauseTable(id=f"p{number}")))
        began = asyncio.get_running_loop().time()
        await asyncio.sleep(3 * HOLD_S)
        return began

    began = in_virtual_time(story())
    assert answers.codes == dict.fromkeys(("_R_.0", "_R_.1", "_R_.2"), "busy")
    assert max(answers.at.values()) - began <= HOLD_S + 0.5
