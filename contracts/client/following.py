"""A table as one client may see it: the whole picture, then every public view in order, and the own cards."""

import asyncio
from collections import deque
from types import TracebackType
from typing import TYPE_CHECKING, Self

import msgspec
from nats.aio.msg import Msg

from contracts import subjects
from contracts.client.bell import Bell
from contracts.client.cards import faults_of_picture, faults_of_view
from contracts.client.errors import CardsDiffer, Unanswered, WentBack
from contracts.client.heard import Heard
from contracts.client.own import Own
from contracts.client.patience import AGAIN_S, BEHIND_S, REORDERED_S, SILENCE_S, SILENCE_S_MAX
from contracts.client.sight import Sight
from contracts.codec import decode
from contracts.data import Id
from contracts.outcomes import Rejected
from contracts.queries import OwnCards, PublicTable
from contracts.views import PublicView

if TYPE_CHECKING:
    from contracts.client.client import Client

type Seen = PublicTable | PublicView | OwnCards
"""The whole picture, from which to go on; the next view; a player's own cards of the hand in progress."""


class Following:
    """Gives what is to be seen of a table, for as long as somebody asks: `async for seen in client.follow(...)`.

    First the whole picture (of a table that is not open yet: its first view), then each view exactly once and in order.
    Where views are lost, the whole picture again. `table` is always the picture after what was given last. A player
    gets the own cards of each hand beside that, as soon as they can be checked, and `cards` keeps them.

    Asking for the next raises `CardsDiffer` where cards are not those that were published before the deal, `WentBack`
    where the table has lost commits, and goes on after it; `Denied`, `NotLetIn` and `NotReached` are the end.

    `asked` counts how often the whole was asked for.
    """

    def __init__(self, client: "Client", room: Id, table: Id) -> None:
        self.room = room
        self.name = table
        self.asked = 0
        self._dropped = 0
        self._client = client
        self._sight = Sight()
        self._own = Own(client, room, table) if client.kind == "player" else None
        self._heard: list[Heard] | None = None
        self._news = Bell()
        self._told: deque[Exception] = deque()
        self._over: Exception | None = None
        self._asking: asyncio.Task[PublicTable | Rejected] | None = None
        self._wanted = True
        self._wanted_anyway = True
        self._not_before = 0.0
        self._missing_since: float | None = None
        self._behind_since: float | None = None
        self._silence_s = SILENCE_S
        self._last_s = 0.0

    @property
    def table(self) -> PublicTable | None:
        """The picture; None before anything was seen."""
        return self._sight.table

    @property
    def cards(self) -> OwnCards | None:
        """The player's own cards of the hand in progress."""
        own = self._own.cards if self._own is not None else None
        return own if own is not None and self.table is not None and own.hand == self.table.hand else None

    @property
    def dropped(self) -> int:
        """How much came that was not of this table and this player, or that nobody could read."""
        return self._dropped + (self._own.dropped if self._own is not None else 0)

    @property
    def waiting(self) -> bool:
        """Whether more has come already than was asked for."""
        return self._sight.has_next

    def look_again(self) -> None:
        """Asks for the whole picture, and gives it though it may be the same."""
        self._wanted = self._wanted_anyway = True
        self._news.ring()

    async def close(self) -> None:
        """Listens no more."""
        if self._asking is not None:
            self._asking.cancel()
        if self._own is not None:
            self._own.close()
        if self._heard is not None:
            self._client.line.not_when_back(self._back)
            for heard in self._heard:
                await heard.stop()
        self._heard = []

    async def __aenter__(self) -> Self:
        """Listens from now on: what comes before it is asked for is kept."""
        await self._start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Seen:
        if self._heard is None:
            await self._start()
        while True:
            found = self._next()
            if found is not None:
                return found
            await self._until_news()

    async def _start(self) -> None:
        """Listens. Raises `Denied`, and the line's fault."""
        line, self._heard = self._client.line, []
        self._last_s = asyncio.get_running_loop().time()
        line.when_back(self._back)
        try:
            public = subjects.public_view(self.room, self.name)
            self._heard.append(await line.listen(public, self._take, self._end))
            if self._own is not None:
                self._heard.append(await self._own.listen(self._news.ring, self._end))
        except BaseException:
            await self.close()
            raise

    def _next(self) -> Seen | None:
        """What is there to be given now. Raises what is there to be told."""
        if self._told:
            raise self._told.popleft()
        if self._over is not None:
            raise self._over
        answered = self._answered()
        if answered is not None:
            self._tell_of(faults_of_picture(answered))
            return answered
        own = self._own.next(self.table) if self._own is not None else None
        if own is not None:
            self._tell_of(own.faults)
            return own.cards if not own.faults else self._next()
        view = self._sight.follow()
        if view is not None and self.table is not None:
            self._client.saw(self.room, self.name, view.n)
            self._tell_of(faults_of_view(self.table, view))
        return view

    def _tell_of(self, faults: list[str]) -> None:
        if faults and self.table is not None:
            self._told.append(CardsDiffer(self.room, self.name, self.table.hand, tuple(faults)))

    def _answered(self) -> PublicTable | None:
        """The picture that was asked for, once it is there, if it tells anything new. Raises what asking raised."""
        if self._asking is None or not self._asking.done():
            return None
        asking, self._asking = self._asking, None
        now = asyncio.get_running_loop().time()
        self._not_before = now + AGAIN_S
        try:
            found = asking.result()
        except Unanswered:
            return None
        if isinstance(found, Rejected):
            self._wanted = self._wanted and self._sight.n > 0  # a table that is not open yet has nothing to show
            return None
        if self._is_behind(found, now):
            return None
        newer = self._sight.restart(found)
        self._client.saw(self.room, self.name, found.n)
        given = newer or self._wanted_anyway
        self._wanted = self._wanted_anyway = False
        return found if given else None

    def _is_behind(self, found: PublicTable, now: float) -> bool:
        """Whether a picture is from before what was seen; after some time it is told, and taken."""
        table = self.table
        forked = table is not None and found.n == table.n and found.head != table.head
        if found.n >= self._sight.n and not forked:
            self._behind_since = None
            return False
        self._behind_since = self._behind_since or now
        if not forked and now - self._behind_since < BEHIND_S:
            return True
        self._told.append(WentBack(self.room, self.name, self._sight.n, found.n))
        self._behind_since, self._sight, self._wanted_anyway = None, Sight(), True
        return False

    async def _until_news(self) -> None:
        """Waits until something may be given, and asks for the whole where that is due."""
        now = asyncio.get_running_loop().time()
        look_s = self._look(now)
        if self._own is not None:
            look_s = min(look_s, self._own.look(self.table, now))
        await self._news.heard(look_s)

    def _look(self, now: float) -> float:
        """Asks for the whole, where it is wanted; else tells how long to wait for news."""
        if self._sight.missing and self._missing_since is None:
            self._missing_since = now
        if not self._sight.missing:
            self._missing_since = None
        overdue = self._missing_since is not None and now - self._missing_since >= REORDERED_S
        silent = now - self._last_s >= self._silence_s
        if silent:
            self._last_s, self._silence_s = now, min(2 * self._silence_s, SILENCE_S_MAX)
        self._wanted = self._wanted or overdue or silent
        if self._wanted and self._asking is None and now >= self._not_before:
            self.asked += 1
            self._asking = asyncio.create_task(self._client.table(self.room, self.name))
            self._asking.add_done_callback(self._news.ring)
        if self._wanted:
            return max(0.0, self._not_before - now) if self._asking is None else SILENCE_S
        if self._missing_since is not None:
            return self._missing_since + REORDERED_S - now
        return self._last_s + self._silence_s - now

    def _take(self, message: Msg) -> None:
        try:
            view = decode(message.data, PublicView)
        except msgspec.MsgspecError:
            self._dropped += 1
            return
        if (view.room, view.table) != (self.room, self.name) or not 0 <= view.previous < view.n:
            self._dropped += 1
            return
        if self._sight.take(view):
            self._last_s, self._silence_s = asyncio.get_running_loop().time(), SILENCE_S
            self._news.ring()

    def _back(self) -> None:
        """The connection is there again: views were missed meanwhile, and the next may be.

        A server learns only by and by what is listened to at another.
        """
        self._wanted, self._not_before = True, 0.0
        self._last_s, self._silence_s = asyncio.get_running_loop().time(), SILENCE_S
        self._news.ring()

    def _end(self, error: Exception) -> None:
        self._over = error
        self._news.ring()
