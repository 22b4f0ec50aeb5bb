"""An operator who cannot leave a table alone: cancels hands, corrects stacks, removes players, changes the options."""

import asyncio
from random import Random
from typing import Final

import msgspec

from contracts.commands import (
    AdjustStack,
    AnyCommand,
    ChangeOptions,
    CloseTable,
    PauseTable,
    RemovePlayer,
    ResumeTable,
    VoidHand,
)
from services.aggregate.table import Table
from tests.simulation.chance import exponential
from tests.simulation.judge import Judge
from tests.simulation.network import Network
from tests.simulation.tables import drawn_config

EVERY_S: Final = 5.0
PAUSE_S_MAX: Final = 2.0
DUTIES: Final = (*["void"] * 6, *["correct"] * 3, *["change"] * 3, *["remove"] * 2, "close")


class Operator:
    """Somebody who does something at one table now and then, until told to be `silent`."""

    def __init__(self, table: str, network: Network, judge: Judge, random: Random) -> None:
        self.table = table
        self.silent = False
        self._network = network
        self._judge = judge
        self._random = random

    async def work(self) -> None:
        """Works for ever."""
        while True:
            await asyncio.sleep(exponential(self._random, EVERY_S))
            table = self._judge.table(self.table)
            if not self.silent and table.config is not None and table.status == "open":
                await self._do(self._random.choice(DUTIES), table)

    async def _do(self, duty: str, table: Table) -> None:
        new_id, hand = self._network.new_id, table.hands
        players = [record.player for record in table.seats.values()]
        if duty == "void" and table.hand is not None:
            await self._ask(VoidHand(id=new_id(), hand=hand, reason="a misdeal"))
        elif duty == "correct" and players:
            await self._correct(self._random.choice(players))
        elif duty == "change":
            await self._change(table)
        elif duty == "remove" and players:
            player = self._random.choice([*players, *table.waiting])
            await self._ask(RemovePlayer(id=new_id(), hand=hand, player=player, reason="was rude"))
        elif duty == "close" and hand > 2 and self._random.random() < 0.3:
            await self._ask(CloseTable(id=new_id(), hand=hand, reason="closing time"))

    async def _change(self, table: Table) -> None:
        """Another game at the same seats, for chips of the same kind."""
        now = table.config
        assert now is not None
        then = drawn_config(self._random, now.options.rules)
        patience_ms = now.options.reserve_ms if now.bankroll == "cashier" else then.options.reserve_ms
        changed = msgspec.structs.replace(
            then,
            seats=max(then.seats, *table.seats, *table.reservations, 2),
            options=msgspec.structs.replace(then.options, reserve_ms=patience_ms),
            money=now.money,
            currency=now.currency,
            bankroll=now.bankroll,
        )
        change = ChangeOptions(id=self._network.new_id(), hand=table.hands, config=changed, reason="by request")
        await self._ask(change)

    async def _correct(self, player: str) -> None:
        """Pauses the table, corrects a stack once the hand is over, and opens the table again."""
        new_id, random = self._network.new_id, self._random
        await self._ask(PauseTable(id=new_id(), hand=self._hand()))
        for _ in range(5):
            await asyncio.sleep(random.uniform(0, PAUSE_S_MAX))
            if self._judge.table(self.table).hand is None:
                break
        amount = random.choice((-1, 1, 1)) * random.choice((1, 50, 900))
        await self._ask(AdjustStack(id=new_id(), hand=self._hand(), player=player, amount=amount, reason="a mistake"))
        if not self.silent:
            await self._ask(ResumeTable(id=new_id(), hand=self._hand()))

    def _hand(self) -> int:
        return self._judge.table(self.table).hands

    async def _ask(self, command: AnyCommand) -> None:
        await self._network.ask(self.table, "operator", "floor", command)
