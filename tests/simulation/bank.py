"""The wallet of the house: opens accounts, brings money in and out, freezes, corrects, and makes mistakes."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from itertools import count
from random import Random
from typing import Final

from contracts.account_commands import (
    AnyAccountCommand,
    Correct,
    Deposit,
    FreezeAccount,
    OpenAccount,
    UnfreezeAccount,
    Withdraw,
)
from contracts.accounts import player_account
from contracts.data import Id
from contracts.ledger import HOUSE
from contracts.outcomes import Outcome
from contracts.subjects import LEDGERS, ActorKind, command
from tests.simulation.auditor import Auditor
from tests.simulation.chance import exponential
from tests.simulation.faulty_log import true_time
from tests.simulation.network import Network

EVERY_S: Final = 1.2
POOR: Final = 1500
"""Who has less than this is given something, sooner or later."""


class Wallet:
    """Deals with one ledger, for the `players` who are at its tables, until it is `silent`."""

    def __init__(self, ledger: str, players: list[Id], network: Network, auditor: Auditor, random: Random) -> None:
        self.silent = False
        self.players = players
        self._ledger = ledger
        self._network = network
        self._auditor = auditor
        self._random = random
        self._numbers = count(1)
        self._whims: tuple[Callable[[Id], AnyAccountCommand], ...] = (
            *(self._deposit, self._deposit, self._deposit, self._withdraw, self._withdraw),
            *(self._open, self._freeze, self._correct, self._again, self._stale),
        )

    async def deal(self) -> None:
        """Opens the accounts, most of them soon, and goes on for ever."""
        for player in list(self.players):
            if self._random.random() < 0.8:
                await self._ask("lobby", self._open(player))
                await self._ask("lobby", self._deposit(player))
        while True:
            await asyncio.sleep(exponential(self._random, EVERY_S))
            if not self.silent:
                await self._deal_once()

    async def _deal_once(self) -> None:
        random, known = self._random, self._auditor.ledger(self._ledger)
        player = random.choice(self.players)
        frozen = [name for name, is_frozen in known.players.items() if is_frozen]
        if frozen and random.random() < 0.3:
            thaw = UnfreezeAccount(id=self._id(), made=true_time(), player=random.choice(frozen), reason="looked into")
            await self._ask("operator", thaw)
        elif player not in known.players and random.random() < 0.5:
            await self._ask("lobby", self._open(player))
        elif known.balance(player_account(player)) < POOR and random.random() < 0.6:
            await self._ask("lobby", self._deposit(player))
        else:
            asked = random.choice(self._whims)(player)
            operators = isinstance(asked, FreezeAccount | Correct) or random.random() < 0.1
            await self._ask("operator" if operators else random.choice(("lobby", "lobby", "lobby", "player")), asked)

    async def _ask(self, kind: ActorKind, asked: AnyAccountCommand) -> Outcome | None:
        return await self._network.send(command(HOUSE, self._ledger, kind, "wallet", LEDGERS), asked)

    def _id(self) -> str:
        return self._network.new_id()

    def _reference(self) -> str:
        return f"payment-{next(self._numbers)}"

    def _open(self, player: Id) -> AnyAccountCommand:
        return OpenAccount(id=self._id(), made=true_time(), player=player)

    def _deposit(self, player: Id) -> AnyAccountCommand:
        amount = self._random.choice((100, 1000, 5000, 20_000))
        return Deposit(id=self._id(), made=true_time(), player=player, amount=amount, reference=self._reference())

    def _withdraw(self, player: Id) -> AnyAccountCommand:
        held = self._auditor.ledger(self._ledger).balance(player_account(player))
        amount = self._random.randint(1, max(1, held * 5 // 4))
        return Withdraw(id=self._id(), made=true_time(), player=player, amount=amount, reference=self._reference())

    def _freeze(self, player: Id) -> AnyAccountCommand:
        return FreezeAccount(id=self._id(), made=true_time(), player=player, reason="asked by the office")

    def _correct(self, player: Id) -> AnyAccountCommand:
        others = ("suspense", "rake", "cash", player_account(self._random.choice(self.players)))
        sides = [player_account(player), self._random.choice(others)]
        self._random.shuffle(sides)
        return Correct(
            id=self._id(),
            made=true_time(),
            source=sides[0],
            target=sides[1],
            amount=self._random.randint(1, 300),
            reason="counted again",
            reference=self._reference(),
        )

    def _again(self, player: Id) -> AnyAccountCommand:
        """A payment whose reference was used before."""
        reference = f"payment-{self._random.randint(1, 9)}"
        return Deposit(id=self._id(), made=true_time(), player=player, amount=77, reference=reference)

    def _stale(self, player: Id) -> AnyAccountCommand:
        """A command that somebody found in a drawer."""
        made = true_time() - timedelta(days=self._random.choice((2, -1)))
        return OpenAccount(id=self._id(), made=made, player=player)
