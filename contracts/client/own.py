"""A player's own cards at one table: as the dealer sends them, asked for where they did not come, and checked."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from nats.aio.msg import Msg

from contracts import subjects
from contracts.client.cards import faults_of_own
from contracts.client.errors import ClientError
from contracts.client.heard import Heard, Tell
from contracts.client.patience import AGAIN_S, CARDS_S
from contracts.codec import decode
from contracts.data import Id
from contracts.outcomes import Rejected
from contracts.queries import OwnCards, PublicTable

if TYPE_CHECKING:
    from contracts.client.client import Client

NEVER: Final = 3600.0
"""Nothing is to be looked for: as good as never."""


class Checked(NamedTuple):
    """Own cards, and what is wrong with them."""

    cards: OwnCards
    faults: list[str]


class Own:
    """The own cards of one player. `cards` are those that were given last; `dropped` counts what was not for them."""

    def __init__(self, client: "Client", room: Id, table: Id) -> None:
        self.cards: OwnCards | None = None
        self.dropped = 0
        self._client = client
        self._room = room
        self._table = table
        self._came: OwnCards | None = None
        self._given = 0
        self._dealt: tuple[int, float] = (0, 0.0)
        self._asking: asyncio.Task[OwnCards | Rejected] | None = None
        self._news: Callable[[], None] = lambda: None

    async def listen(self, news: Callable[[], None], tell: Tell) -> Heard:
        """Listens for them. Raises `Denied`, and the line's fault."""
        self._news = news
        subject = subjects.player_view(self._room, self._table, self._client.name)
        return await self._client.line.listen(subject, self._take, tell)

    def close(self) -> None:
        """Asks no more."""
        if self._asking is not None:
            self._asking.cancel()

    def next(self, table: PublicTable | None) -> Checked | None:
        """The cards of the hand that the picture shows, once: when they are there and the deal is in the picture."""
        came = self._came
        if table is None or came is None or not self._are_due(table) or came.hand != table.hand:
            return None
        self._given, self._came = table.hand, None
        faults = faults_of_own(table, came)
        if came.cards is not None and came.cards.seat != self._seat(table):
            faults.append(f"cards of seat {came.cards.seat} are sent to the player of seat {self._seat(table)}")
        self.cards = came if not faults else None
        return Checked(came, faults)

    def look(self, table: PublicTable | None, now: float) -> float:
        """Asks for cards that did not come; tells how long to wait before looking again."""
        if table is None or not self._are_due(table):
            return NEVER
        if self._dealt[0] != table.hand:
            self._dealt = (table.hand, now + CARDS_S)
        if self._asking is None and now >= self._dealt[1]:
            self._dealt = (table.hand, now + AGAIN_S)
            self._asking = asyncio.create_task(self._client.cards(self._room, self._table))
            self._asking.add_done_callback(self._answered)
        return max(0.0, self._dealt[1] - now)

    def _are_due(self, table: PublicTable) -> bool:
        """Whether the player has been dealt into the hand that is shown, and got no cards yet."""
        return table.in_hand and table.hand != self._given and self._seat(table) in table.dealt

    def _seat(self, table: PublicTable) -> int | None:
        return next((seat.seat for seat in table.seats if seat.player == self._client.name), None)

    def _answered(self, asking: asyncio.Task[OwnCards | Rejected]) -> None:
        self._asking = None
        if asking.cancelled():
            return
        error = asking.exception()
        if error is None:
            found = asking.result()
            if isinstance(found, OwnCards):
                self._keep(found)
        elif not isinstance(error, ClientError):
            raise error

    def _take(self, message: Msg) -> None:
        try:
            found = decode(message.data, OwnCards)
        except msgspec.MsgspecError:
            self.dropped += 1
            return
        if (found.room, found.table, found.player) == (self._room, self._table, self._client.name) and found.n > 0:
            self._keep(found)
        else:
            self.dropped += 1

    def _keep(self, found: OwnCards) -> None:
        """Keeps the newest: what has no cards in it says nothing."""
        if found.cards is not None and (self._came is None or found.hand >= self._came.hand):
            self._came = found
            self._news()
