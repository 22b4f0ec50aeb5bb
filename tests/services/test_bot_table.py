"""A lobby of bots knows for whom it plays, in whatever order it is answered."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from nats.aio.msg import Msg

from contracts.commands import TakeSeat, TopUp
from contracts.outcomes import Accepted, Rejected
from contracts.queries import PublicTable
from services.bots.people import People
from services.bots.table import BotTable, Plan
from services.table.intake import read_command
from tests.client.stage import IN_TIME_S, ROOM, TABLE, UNKNOWN, Stage, a_stage
from tests.client.watching import a_showdown
from tests.table.cash import cash

pytestmark = pytest.mark.server

GAME = a_showdown(cash(seats=6))
HEAD = "0" * 64


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(tmp_path) as running:
        yield running


class Late:
    """A table that accepts a top-up as one commit and a seat as the next, and whose first answer is lost."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.topped_up = asyncio.Event()
        self.sent = 0

    def __call__(self, message: Msg) -> Accepted | None:
        """What comes back."""
        command = read_command(message.data)
        if isinstance(command, Rejected):
            return None
        if isinstance(command, TakeSeat):
            return Accepted(id=command.id, n=self.n + 1, head=HEAD)
        self.topped_up.set()
        self.sent += 1
        return Accepted(id=command.id, n=self.n, head=HEAD) if self.sent > 1 else None


def before_the_first_hand() -> PublicTable:
    """Three players sit and wait, and a fourth is not to be seen yet."""
    return next(picture for picture in GAME.pictures if len(picture.seats) == 3 and not picture.in_hand)


async def test_an_answer_that_comes_late_calls_nobody_off_who_has_sat_down_since(stage: Stage) -> None:
    """Else nobody would play for the new seat: each of its turns would run out, and the table stand for minutes."""
    seen = before_the_first_hand()
    answers = Late(seen.n)
    await stage.answering("table", "command.*.*.*.*", answers)
    await stage.shows(lambda: UNKNOWN)
    people = People(lambda name: stage.client("player", name))
    lobby = await stage.client("lobby", "lobby")
    table = BotTable(Plan(ROOM, TABLE, seen.config, bots=4, hands=9, seed=0), lobby, people)
    async with asyncio.timeout(IN_TIME_S), asyncio.TaskGroup() as bots:
        topping_up = asyncio.create_task(table._ask(TopUp(id="t", player="P1", amount=1)))  # noqa: SLF001
        await answers.topped_up.wait()
        await table._seat(bots)  # noqa: SLF001 - what else it does at a table is of no interest here
        assert isinstance(await topping_up, Accepted)
        await table._mind(lobby.follow(ROOM, TABLE), seen, bots)  # noqa: SLF001
        (newcomer,) = table._bots.values()  # noqa: SLF001
        assert not newcomer.cancelling()
        newcomer.cancel()
