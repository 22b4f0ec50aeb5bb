"""The accounts of bots in one ledger: opened when they are first needed, and filled up before chips are bought."""

import asyncio
import secrets
from datetime import UTC, datetime
from typing import Final

from contracts.account_commands import AnyAccountCommand, Deposit, OpenAccount, Withdraw
from contracts.accounts import player_account
from contracts.client import Client
from contracts.data import Chips
from contracts.games import TableConfig
from contracts.ledger import ledger_of
from contracts.outcomes import Accepted, Outcome, Rejected

LOT: Final = 100_000
"""So much is deposited at a time, at least."""


class Banks:
    """A bank for each ledger that tables are played in."""

    def __init__(self, lobby: Client) -> None:
        self._lobby = lobby
        self._banks: dict[str, Bank] = {}

    def of(self, config: TableConfig) -> "Bank":
        """The one that pays for the chips of such a table."""
        ledger = ledger_of(config.money, config.currency)
        return self._banks.setdefault(ledger, Bank(self._lobby, ledger))


class Bank:
    """Pays for bots with money from outside; `deposited` and `withdrawn` count what was accepted.

    Its payments have names of their own, for a ledger knows each for ever, and demos may follow one another.
    """

    def __init__(self, lobby: Client, ledger: str) -> None:
        self.ledger = ledger
        self.deposited = 0
        self.withdrawn = 0
        self._lobby = lobby
        self._left: dict[str, Chips] = {}
        self._run = secrets.token_hex(4)
        self._payments = 0
        self._one_at_a_time = asyncio.Lock()

    async def open(self, player: str) -> None:
        """Sees to it that a player has an account."""
        if player not in self._left:
            self._left[player] = 0
            await self._ask(OpenAccount(id=self._name(), made=datetime.now(UTC), player=player))

    async def fund(self, player: str, amount: Chips) -> None:
        """Sees to it that a player can pay for chips that are bought next.

        What comes back to the account is not counted: there may be more in it.
        """
        async with self._one_at_a_time:
            await self.open(player)
            if self._left[player] < amount:
                await self._deposit(player, max(LOT, amount))
            self._left[player] -= amount

    async def cash_out(self, player: str) -> None:
        """Takes all of a player's money out of the house."""
        found = await self._lobby.balance(self.ledger, player_account(player))
        if isinstance(found, Rejected) or found.balance == 0:
            return
        payment, left = self._name(), found.balance
        command = Withdraw(id=payment, made=datetime.now(UTC), player=player, amount=left, reference=payment)
        if isinstance(await self._ask(command), Accepted):
            self.withdrawn += left

    async def _deposit(self, player: str, amount: Chips) -> None:
        payment = self._name()
        command = Deposit(id=payment, made=datetime.now(UTC), player=player, amount=amount, reference=payment)
        if isinstance(await self._ask(command), Accepted):
            self.deposited += amount
            self._left[player] += amount

    async def _ask(self, command: AnyAccountCommand) -> Outcome:
        return await self._lobby.account(self.ledger, command)

    def _name(self) -> str:
        self._payments += 1
        return f"bank-{self._run}-{self._payments}"
