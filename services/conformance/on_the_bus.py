"""A table on a running bus: the services play at it, and every decision goes in as its player's command."""

import asyncio
import itertools
import queue
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import Future
from datetime import UTC, datetime
from typing import Final

from contracts.client import Client
from contracts.codec import encode
from contracts.commands import Act, AnyCommand
from contracts.data import Instant, Seat
from contracts.events import AnyEvent, Service, fact_of
from contracts.events.table import HandStarted
from contracts.outcomes import Rejected
from contracts.subjects import ActorKind, read_commit
from services.aggregate.chain import Verdict, read_table
from services.aggregate.debts import debt
from services.aggregate.fold import commit_of, fold
from services.aggregate.table import Table
from services.bus.log import Log, Stored
from services.conformance.play import OutOfOrder, Playing, Raked, player
from services.dealer.decks import Decks

ROOM: Final = "main"
SILENCE_S: Final = 2.0
"""When nothing was heard for so long, the log is read: a fact may have been lost."""
SILENCES_MAX: Final = 5
"""After so many silences in a row a table stands still."""
SECOND_MS: Final = 50
"""What is a second to a vector lasts so long: half a minute is long enough for a decision to come in time."""


class Bus:
    """What the checker holds of a running room, shared by all of its tables, which play on threads of their own.

    `log` writes with the table service's rights, `clients` send commands; both belong to `loop`.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, log: Log, clients: Mapping[ActorKind, Client]) -> None:
        self.loop = loop
        self.log = log
        self.clients = clients
        self.decks: dict[str, Decks] = {}
        self.raked: dict[str, Raked] = {}
        self._heard: dict[str, queue.SimpleQueue[Stored]] = {}
        self._numbers = itertools.count(1)

    async def follow(self) -> None:
        """Hears every commit of the room from now on."""
        await self.log.follow(ROOM, self._hear)

    def _hear(self, stored: Stored) -> None:
        address = read_commit(stored.subject)
        if address is not None and address.table in self._heard:
            self._heard[address.table].put(stored)

    def tables(self, decks: Decks, raked: Raked) -> Playing:
        """Sets up a table that deals from these decks; to be called from any thread but the loop's."""
        name = f"check-{next(self._numbers)}"
        self.decks[name], self.raked[name] = decks, raked
        heard = self._heard[name] = queue.SimpleQueue()
        return _Remote(self, name, heard)

    def wait[T](self, work: Awaitable[T]) -> T:
        """Has the loop do some work, and waits for it."""
        done: Future[T] = asyncio.run_coroutine_threadsafe(_awaited(work), self.loop)
        return done.result()


async def _awaited[T](work: Awaitable[T]) -> T:
    return await work


class _Remote:
    """See `Playing` for what each method promises. Nothing is folded past the end of the hand that is played."""

    second_ms: Final = SECOND_MS

    def __init__(self, bus: Bus, name: str, heard: queue.SimpleQueue[Stored]) -> None:
        self.table = Table(room=ROOM, id=name)
        self.events: list[AnyEvent] = []
        self._bus = bus
        self._heard = heard
        self._sequence = 0

    @property
    def now(self) -> Instant:
        """The clock's time."""
        return datetime.now(UTC)

    def append(self, by: Service, events: tuple[AnyEvent, ...]) -> None:
        """Appends one commit with the table service's rights."""
        data = encode(commit_of(self.table, by, events, self.now))
        where = (ROOM, self.table.id, by, fact_of(events[-1]))
        self._bus.wait(self._bus.log.append(*where, data, self._sequence))
        n = self.table.n
        self._until(lambda: self.table.n > n)

    def start(self) -> HandStarted | None:
        """Waits for the hand that is due."""
        if debt(self.table) is None:
            return None
        self._until(lambda: self.table.hand is not None)
        return next(event for event in self.events if isinstance(event, HandStarted))

    def settle(self) -> None:
        """Waits until a player is to act or the hand is over."""
        self._until(self._waits_for_a_player)

    def act(self, seat: Seat, act: Act) -> Rejected | None:
        """Sends the player's command."""
        return self._send("player", player(seat), act)

    def ask(self, kind: ActorKind, command: AnyCommand) -> Rejected | None:
        """Sends a lobby's or an operator's command."""
        return self._send(kind, kind, command)

    def time_out(self) -> None:
        """Waits until the open turn is over."""
        hand = self.table.hand
        turn = hand.turn_number if hand is not None else None
        self._until(lambda: self.table.hand is None or self.table.hand.turn_number != turn)
        self.settle()

    def _send(self, kind: ActorKind, name: str, command: AnyCommand) -> Rejected | None:
        sender = self._bus.clients[kind].named(name)
        outcome = self._bus.wait(sender.command(ROOM, self.table.id, command))
        if isinstance(outcome, Rejected):
            return outcome
        self._until(lambda: self.table.n >= outcome.n)
        self.settle()
        return None

    def _waits_for_a_player(self) -> bool:
        """Whether the hand is over or a player has time to decide: for who left the table decides at once."""
        owed = debt(self.table)
        waits = owed is not None and owed.duty == "act_for_player" and owed.due is not None
        return self.table.hand is None or waits

    def _until(self, reached: Callable[[], bool]) -> None:
        """Folds what is heard until a condition holds. Raises `OutOfOrder` where nothing more comes."""
        silences = 0
        while not reached():
            try:
                self._take(self._heard.get(timeout=SILENCE_S))
                silences = 0
            except queue.Empty:
                silences += 1
                for stored in self._bus.wait(_all(self._bus.log.read(ROOM, self.table.id, self._sequence))):
                    if not reached():
                        self._take(stored)
            if silences > SILENCES_MAX:
                raise OutOfOrder(f"nothing happens at commit {self.table.n}, where the table owes {debt(self.table)}")

    def _take(self, stored: Stored) -> None:
        if stored.sequence <= self._sequence:
            return
        reading = read_table(self.table, stored.subject, stored.data)
        if reading.verdict is not Verdict.NEXT or reading.commit is None:
            raise OutOfOrder(f"a stored commit does not extend the log: {reading.reason}")
        fold(self.table, reading.commit, stored.data)
        self._sequence = stored.sequence
        self.events.extend(reading.commit.events)


async def _all(messages: AsyncIterator[Stored]) -> list[Stored]:
    return [stored async for stored in messages]
