"""What is in a player's own account, whenever that changes."""

from typing import TYPE_CHECKING, Self

import msgspec
from nats.aio.msg import Msg

from contracts import subjects
from contracts.client.bell import Bell
from contracts.client.errors import Unanswered
from contracts.client.heard import Heard
from contracts.client.patience import AGAIN_S, SILENCE_S_MAX
from contracts.codec import decode
from contracts.data import Id
from contracts.queries import AccountState
from contracts.views import BalanceView

if TYPE_CHECKING:
    from contracts.client.client import Client


class Balances:
    """Gives the account as it is, and then each time that it is another: `async for state in client.balances(ledger)`.

    Where a view is missed it asks, so that the last that was given is always true, but not every one is given. Raises
    `Denied`, `NotLetIn` and `NotReached`. `dropped` counts what was not of this account or nobody could read.
    """

    def __init__(self, client: "Client", ledger: Id) -> None:
        self.ledger = ledger
        self.state: AccountState | None = None
        self.dropped = 0
        self._client = client
        self._heard: Heard | None = None
        self._came: list[BalanceView] = []
        self._news = Bell()
        self._over: Exception | None = None
        self._doubt = True

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> AccountState:
        if self._heard is None:
            self._client.line.when_back(self._back)
            self._heard = await self._client.line.listen(subjects.balance(self._client.name), self._take, self._end)
        while True:
            if self._over is not None:
                raise self._over
            if self._doubt and await self._ask():
                assert self.state is not None
                return self.state
            if self._came:
                found = self._after(self._came.pop(0))
                if found is not None:
                    return found
            else:
                await self._news.heard(AGAIN_S if self._doubt else SILENCE_S_MAX)
                self._doubt = self._doubt or not self._came  # the last view may be the one that was lost

    async def close(self) -> None:
        """Listens no more."""
        if self._heard is not None:
            self._client.line.not_when_back(self._back)
            await self._heard.stop()
            self._heard = None

    async def _ask(self) -> bool:
        """Asks for the whole; whether it tells anything new."""
        try:
            found = await self._client.balance(self.ledger)
        except Unanswered:
            return False
        if not isinstance(found, AccountState) or (self.state is not None and found.n < self.state.n):
            return False
        before, self.state, self._doubt = self.state, found, False
        return before is None or (before.balance, before.frozen) != (found.balance, found.frozen)

    def _after(self, view: BalanceView) -> AccountState | None:
        """The account after a view; None for an old one, and where one before it is missing."""
        known = self.state.n if self.state is not None else 0
        if view.n <= known:
            return None
        if view.previous > known:
            self._doubt = True
            return None
        account = f"player.{self._client.name}"
        self.state = AccountState(
            ledger=self.ledger,
            account=account,
            balance=view.balance,
            known=True,
            n=view.n,
            head=view.head,
            frozen=view.frozen,
        )
        return self.state

    def _take(self, message: Msg) -> None:
        try:
            view = decode(message.data, BalanceView)
        except msgspec.MsgspecError:
            self.dropped += 1
            return
        if view.player != self._client.name or not 0 <= view.previous < view.n:
            self.dropped += 1
        elif view.ledger == self.ledger:
            self._came.append(view)
            self._news.ring()

    def _back(self) -> None:
        self._doubt = True
        self._news.ring()

    def _end(self, error: Exception) -> None:
        self._over = error
        self._news.ring()
