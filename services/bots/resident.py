"""Bots at a table that others run: they play until they are told to stop, and leave the table as they found it."""

import asyncio
import re
from collections.abc import Sequence
from typing import Final

from contracts.client import Client, Following
from contracts.commands import LeaveTable, OpenTable
from contracts.queries import PublicTable
from services.bots.bank import Bank, Banks
from services.bots.people import People
from services.bots.table import BotTable, Plan

LEAVE_S_MAX: Final = 8.0
"""After so long bots go even from a hand that is still played: the table acts for them."""
LEAVE_AGAIN_S: Final = 2.0
COME_S: Final = 0.5
"""So often somebody comes or goes at most, though nobody can pay."""
_is_bot: Final = re.compile(r"bot[1-9][0-9]*").fullmatch


class Resident(BotTable):
    """A table at which bots sit among whoever else comes. `names`: who may play, if not anybody called `bot<number>`.

    It is opened if there is none. The bots leave after the plan's hands, or once `stop` is set.
    """

    def __init__(
        self,
        plan: Plan,
        lobby: Client,
        people: People,
        banks: Banks,
        stop: asyncio.Event,
        names: Sequence[str] | None = None,
    ) -> None:
        super().__init__(plan, lobby, people)
        self._banks = banks
        self._stop = stop
        self._names = names
        self._first: int | None = None
        self._leaving_since: float | None = None
        self._left_at: dict[str, float] = {}
        self._gone = False
        self._not_before = 0.0

    @property
    def bank(self) -> Bank | None:
        """Who pays for chips: at a table that was there before, in its own money."""
        return self._banks.of(self.config) if self.config.bankroll == "cashier" else None

    async def play(self) -> None:
        """Plays until the bots have left. Raises what a client raises."""
        await self._ask(OpenTable(id=self._id(), config=self.plan.config))  # refused where there is one
        async with asyncio.TaskGroup() as bots, self._lobby.follow(self.plan.room, self.plan.table) as following:
            stopping = bots.create_task(self._tell_of_stop(following))
            while not self._gone:
                await self._look(following)
                if not following.waiting and self.table is not None:
                    await self._mind(following, self.table, bots)
            for task in (stopping, *self._bots.values()):
                task.cancel()
            self._bots.clear()

    async def _tell_of_stop(self, following: Following) -> None:
        await self._stop.wait()
        following.look_again()

    async def _mind(self, _: Following, table: PublicTable, bots: asyncio.TaskGroup) -> None:
        if table.status == "closed":
            self._gone = True
        elif self._is_over(table):
            await self._leave(table)
        elif table.n >= self._asked_n:
            await self._adopt(table, bots)
            await self._care(table)
            now = asyncio.get_running_loop().time()
            if not table.in_hand and table.status == "open" and now >= self._not_before:
                self._not_before = now + COME_S
                await self._come_and_go(table, bots)

    def _is_over(self, table: PublicTable) -> bool:
        """Whether it is time to leave."""
        self._first = table.hand if self._first is None else self._first
        return self._stop.is_set() or table.hand >= self._first + self.plan.hands

    async def _leave(self, table: PublicTable) -> None:
        """Has every bot leave; it is over once they have, or after some time."""
        now = asyncio.get_running_loop().time()
        self._leaving_since = self._leaving_since or now
        here = self._bots_at(table)
        for name in here:
            if now - self._left_at.get(name, 0.0) >= LEAVE_AGAIN_S:
                self._left_at[name] = now
                await self._ask(LeaveTable(id=self._id(), hand=table.hand, player=name))
        self._gone = not here or now - self._leaving_since >= LEAVE_S_MAX

    async def _adopt(self, table: PublicTable, bots: asyncio.TaskGroup) -> None:
        """Plays for bots that hold a seat already: those of a process that ended without a word."""
        for name in self._bots_at(table):
            if name not in self._bots or self._bots[name].done():
                await self._begin(name, bots)

    def _bots_at(self, table: PublicTable) -> list[str]:
        return [seat.player for seat in table.seats if self._is_ours(seat.player)]

    def _is_ours(self, name: str) -> bool:
        return name in self._names if self._names is not None else _is_bot(name) is not None

    def _newcomer(self) -> str:
        """The next of those who do not sit at the table."""
        seats = self.table.seats if self.table is not None else ()
        kept = self.table.reservations if self.table is not None else ()
        here = {*(seat.player for seat in seats), *(each.player for each in kept)}
        while True:
            self._newcomers += 1
            number = self._newcomers - 1
            name = self._names[number % len(self._names)] if self._names is not None else f"bot{self._newcomers}"
            if name not in here or (self._names is not None and here >= set(self._names)):
                return name
