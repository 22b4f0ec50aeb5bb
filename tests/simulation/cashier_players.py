"""Players whose chips are the cashier's: they come with too little, think better of it, bust, and come back."""

from random import Random
from typing import Final

import msgspec

from contracts.accounts import player_account
from contracts.commands import ReleaseSeat
from contracts.games import Money, TableConfig
from contracts.ledger import ledger_of
from services.aggregate.table import Table
from services.rake.schedules import party
from tests.simulation.auditor import Auditor
from tests.simulation.judge import Judge
from tests.simulation.network import Network
from tests.simulation.players import Player

REASONABLE: Final = 0.8
"""How many look into their account before they buy in, and do not ask for what they have asked for already."""
THINKS_BETTER: Final = 0.03
"""How often somebody gives up the seat before the cashier has answered, each time that one looks."""


class Customer(Player):
    """A player with an account, or without one."""

    def __init__(self, name: str, table: str, network: Network, judge: Judge, random: Random, auditor: Auditor) -> None:
        super().__init__(name, table, network, judge, random)
        self._auditor = auditor

    async def _come(self, table: Table) -> None:
        if not any(kept.player == self.name and kept.buy_in for kept in table.reservations.values()):
            await super()._come(table)
        elif self._random.random() < THINKS_BETTER:
            release = ReleaseSeat(id=self._network.new_id(), hand=table.hands)
            await self._network.ask(self.table, "player", self.name, release)

    async def _sit_down(self, table: Table, *, anywhere: bool = False) -> None:
        assert table.config is not None
        if self._can_afford(table, table.config) or self._random.random() > REASONABLE:
            await super()._sit_down(table, anywhere=anywhere)

    async def _top_up(self, table: Table, amount: int) -> None:
        record = table.seat_of(self.name)
        if record is None or record.request is None or self._random.random() > REASONABLE:
            await super()._top_up(table, amount)

    def _can_afford(self, table: Table, config: TableConfig) -> bool:
        ledger = self._auditor.ledger(ledger_of(config.money, config.currency))
        left = [each.stack for each in table.departures if each.player == self.name]
        return ledger.balance(player_account(self.name)) >= max([config.buy_in.minimum, *left[-1:]])


def banked(random: Random, config: TableConfig) -> TableConfig:
    """The same table with chips from accounts, a rake, and now and then so little patience that requests expire."""
    money: Money = random.choice(("real", "real", "real", "play"))
    options = msgspec.structs.replace(config.options, reserve_ms=random.choice((2000, 5000, 5000, 20_000)))
    return msgspec.structs.replace(
        config, bankroll="cashier", money=money, options=options, rake=party(config.limit, config.stakes)
    )
