"""A bot at one table: it sees what everybody sees and its own cards, and acts at its turns."""

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Final

import structlog

from contracts.client import Client, Following
from contracts.data import Id
from contracts.outcomes import Rejected
from contracts.queries import PublicTable
from services.bots.incidents import Moment
from services.bots.strategy import TEMPERS, decide

logger: Final = structlog.get_logger(__name__)

type Happens = Callable[[Moment], Awaitable[bool]]
"""Lets happen what befalls the table at a turn; tells whether its player still acts."""


class Bot:
    """One player at one table. `name` makes ids for its commands; it thinks for `think_s` before it acts."""

    def __init__(
        self,
        client: Client,
        where: tuple[Id, Id],
        random: Random,
        name: Callable[[], str],
        happens: Happens,
        think_s: float = 0.0,
    ) -> None:
        self.client = client
        self._room, self._table = where
        self._random = random
        self._name = name
        self._happens = happens
        self._think_s = think_s
        self._acted = 0

    async def play(self) -> None:
        """Plays until it is cancelled, or the table is closed. Raises what following and commands raise."""
        async with self.client.follow(self._room, self._table) as following:
            async for _ in following:
                if following.waiting or following.table is None:
                    continue
                if following.table.status == "closed":
                    return
                await self._look(following, following.table)

    async def _look(self, following: Following, table: PublicTable) -> None:
        turn, number = table.turn, table.turn_number
        if turn is None or number is None or number <= self._acted:
            return
        if self._seat(table) != turn.seat:
            return
        moment = Moment(table.hand, self.client.name, table.config.buy_in.minimum, self._name)
        if not await self._happens(moment):
            self._acted = number
            return
        await asyncio.sleep(self._think_s)
        act = decide(turn, number, table.hand, TEMPERS[turn.seat % len(TEMPERS)], self._random, self._name())
        outcome = await self.client.command(self._room, self._table, act)
        if isinstance(outcome, Rejected):  # the picture may be an old one: look again, or the turn runs out
            where = {"room": self._room, "table": self._table, "command": act.id}
            logger.debug("refused", **where, kind="Act", code=outcome.code, message=outcome.message)
            following.look_again()
        else:
            self._acted = number

    def _seat(self, table: PublicTable) -> int | None:
        return next((seat.seat for seat in table.seats if seat.player == self.client.name), None)
