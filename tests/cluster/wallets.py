"""Wallets that pay money in and take some of it out again, one payment after the other, until it is enough."""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from contracts.account_commands import AnyAccountCommand, Deposit, OpenAccount, Withdraw
from contracts.client import Client

WALLETS: Final = 4
REST_S: Final = 0.25
DEPOSITED: Final = 500
WITHDRAWN: Final = 300


class Wallet:
    """One player's payments; `paid` counts those that were answered."""

    def __init__(self, client: Client, ledger: str, player: str) -> None:
        self.player = player
        self.paid = 0
        self._client = client
        self._ledger = ledger

    async def pay(self, enough: asyncio.Event) -> None:
        """Pays until it is enough; each payment waits for the answer to the one before it. Raises `ClientError`."""
        await self._ask(OpenAccount(id=f"{self.player}.open", made=datetime.now(UTC), player=self.player))
        while not enough.is_set():
            for kind, amount in ((Deposit, DEPOSITED), (Withdraw, WITHDRAWN)):
                name = f"{self.player}.{self.paid}"
                made = datetime.now(UTC)
                await self._ask(kind(id=name, made=made, player=self.player, amount=amount, reference=name))
                self.paid += 1
                await asyncio.sleep(REST_S)

    async def _ask(self, command: AnyAccountCommand) -> None:
        await self._client.account(self._ledger, command)


def wallets(client: Client, ledger: str) -> Sequence[Wallet]:
    """Some wallets of one ledger."""
    return [Wallet(client, ledger, f"wallet{number}") for number in range(WALLETS)]
