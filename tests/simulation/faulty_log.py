"""The log in memory with everything that can go wrong on the way to it and back."""

import asyncio
from bisect import bisect_right
from collections.abc import AsyncIterator, Callable, Sequence
from datetime import UTC, datetime, timedelta
from operator import attrgetter
from typing import Final, Protocol

import msgspec

from contracts.subjects import ANY, Guarded, fact_pattern, read_commit, room_pattern
from services.bus.archives import OF_TABLES, Archive
from services.bus.log import Conflict, Heads, InDoubt, Refused, Stored, Unavailable
from services.bus.memory import Follower, MemoryLog
from tests.simulation.virtual_loop import OWNER, Owner
from tests.simulation.weather import Weather

EPOCH: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
APPEND_S: Final = 2.0
"""How long a writer waits for an answer: as in the services' settings."""
LOST_S: Final = 5 * APPEND_S
"""Whatever takes this long has nobody waiting for it any more."""
LAG_MAX: Final = 3
"""A replica that lags does not know so many commits of a kind."""
BATCH: Final = 6
"""So many messages of a read arrive together."""


class Watch(Protocol):
    """Who sees what goes to a log, and what is in it."""

    def decided(self, owner: Owner, name: str, data: bytes, /) -> None:
        """A commit is to be appended."""

    def sent(self, owner: Owner, name: str, data: bytes, expected: int, /) -> None:
        """An append goes out."""

    def doubted(self, owner: Owner, name: str, data: bytes, expected: int, /) -> None:
        """An append got no answer."""

    def stored(self, message: Stored, /) -> None:
        """A message is in the log."""


class Subscription(Follower):
    """A follower in a process that can crash."""

    owner: Owner


class FaultyLog(MemoryLog):
    """Keeps every promise of a log, and nothing beyond: facts come late, in any order, twice, or never."""

    def __init__(self, weather: Weather, judge: Watch, archive: Archive = OF_TABLES) -> None:
        super().__init__(archive)
        self.weather = weather
        self.judge = judge
        self.random = weather.random
        self.happens = weather.happens
        self.delay_s = weather.delay_s
        self._times: list[datetime] = []
        self._under_way: dict[str, int] = {}

    async def step(self) -> None:
        """A place between two steps, where the process may crash."""
        self.crashes(_owner())
        await asyncio.sleep(0)

    def crashes(self, owner: Owner) -> bool:
        """A place between two steps that follow at once: whether the process has crashed there, or before."""
        if owner.alive and self.happens("crash"):
            owner.crash()
        return not owner.alive

    async def append(self, room: str, table: str, service: str, fact: str, data: bytes, expected: int) -> int:
        """Sends a commit on its way, and waits for the answer for as long as it takes, or not."""
        owner = _owner()
        self.judge.decided(owner, table, data)
        await self.step()
        if self.happens("refused"):
            raise Refused("not connected")
        self.judge.sent(owner, table, data, expected)
        flight = asyncio.get_running_loop().create_task(
            self._flight(self._address(room, table, service, fact), data, expected), context=self.weather.network.copy()
        )
        patience_s = self.random.uniform(0, 0.02) if self.happens("impatient") else APPEND_S
        await asyncio.wait((flight,), timeout=patience_s)
        stored = flight.done() and not isinstance(flight.result(), Conflict)
        if stored and owner.alive and self.happens("crash_stored"):
            owner.crash()
        await self.step()
        if not flight.done():
            self.judge.doubted(owner, table, data, expected)
            raise InDoubt("no answer")
        answer = flight.result()
        if isinstance(answer, Conflict):
            raise answer
        return answer

    async def _flight(self, address: Guarded, data: bytes, expected: int) -> int | Conflict:
        """The way of an append once it has left the process: it goes on when that has given up, or crashed."""
        if self.weather.away or self.happens("write_lost"):
            await asyncio.sleep(LOST_S)
            return Conflict("lost")
        await self.sent(address)
        try:
            await self._replicated(address, expected)
            if self.happens("storm"):
                self.stray(address.guard, address.subject, b"somebody else's")
            message = self.store(address, data, expected)
        except Conflict as conflict:
            await asyncio.sleep(self.delay_s())
            return conflict
        self.publish(message)
        await self.stored(message)
        return message.sequence

    async def _replicated(self, address: Guarded, expected: int) -> None:
        """Between the leader's yes and the moment from which on the message can be read."""
        if address.guard in self._under_way:
            raise Conflict(f"{address.guard}: another message is under way")
        found = self._tables[address.guard]
        if self.happens("race") and (found[-1].sequence if found else 0) == expected:
            self._under_way[address.guard] = expected
            await asyncio.sleep(self.delay_s())
            del self._under_way[address.guard]

    async def sent(self, _: Guarded) -> None:
        """Takes its time, and now and then so much that the writer has given up."""
        await asyncio.sleep(self.delay_s())
        if self.happens("write_late"):
            await asyncio.sleep(self.random.uniform(0, 2 * APPEND_S))

    async def stored(self, _: Stored) -> None:
        """Brings the acknowledgement back, or not."""
        if self.weather.away or self.happens("ack_lost"):
            await asyncio.sleep(LOST_S)
        await asyncio.sleep(self.delay_s())

    def store(self, address: Guarded, data: bytes, expected: int) -> Stored:
        """Stores, and has the judge look at it."""
        message = super().store(address, data, expected)
        self._times.append(true_time())
        self.judge.stored(message)
        return message

    def pick(self, _: str, candidates: Sequence[Follower]) -> Follower:
        """Anybody of a queue, also one that has crashed and is still believed in."""
        return self.random.choice(candidates)

    def hand_over(self, follower: Follower, message: Stored) -> None:
        """Delivers some time, not at all, or twice; a nudge comes twice at two replicas."""
        assert isinstance(follower, Subscription)
        if follower.owner.deaf_until > asyncio.get_running_loop().time():
            return
        kind = "nudge" if follower.queue else "fact"
        if not self.weather.away and not self.happens(f"{kind}_lost"):
            self._later(follower, message)
        if self.happens(f"{kind}_twice"):
            again = [each for each in self.followers if each.queue == follower.queue and each.wants(message.subject)]
            other = self.random.choice(again) if follower.queue else follower
            assert isinstance(other, Subscription)
            self._later(other, message)

    def _later(self, follower: Subscription, message: Stored) -> None:
        stamped = msgspec.structs.replace(message, time=self._times[message.sequence - 1])
        loop = asyncio.get_running_loop()
        loop.call_later(self.delay_s(), self._arrive, follower, stamped, context=follower.owner.context)

    def _arrive(self, follower: Subscription, message: Stored) -> None:
        if follower.owner.alive and follower in self.followers:
            follower.deliver(message)
            self.crashes(follower.owner)

    async def follow(
        self,
        room: str,
        deliver: Callable[[Stored], None],
        *,
        service: str = ANY,
        fact: str = ANY,
        queue: str = "",
    ) -> Follower:
        """Follows for the process that asks."""
        owner = _owner()
        await self.answered()
        follower = Subscription(self, fact_pattern(room, ANY, service, fact, self.archive.roots), queue, deliver)
        follower.owner = owner
        self.followers.append(follower)
        return follower

    def forget(self, process: Owner) -> None:
        """Delivers nothing more to a crashed process."""
        self.followers = [
            each for each in self.followers if not (isinstance(each, Subscription) and each.owner is process)
        ]

    async def answered(self) -> None:
        """The way of a question, or of an answer. Raises `Unavailable`."""
        await asyncio.sleep(self.delay_s())
        if self.weather.away or self.happens("unavailable"):
            raise Unavailable("no answer")

    async def server_time(self) -> datetime:
        """The server's clock, on its way."""
        await self.answered()
        stamped = true_time()
        await self.answered()
        return stamped

    async def tail(self, room: str, table: str) -> Stored | None:
        """The last message, when the leader was asked."""
        await self.answered()
        found = await super().tail(room, table)
        await self.answered()
        return found

    async def last_of(self, room: str, table: str, service: str, fact: str) -> Stored | None:
        """The last commit of one kind, when the leader was asked."""
        found = await super().last_of(room, table, service, fact)
        await self.answered()
        return found

    async def last_of_each(self, room: str, tables: Sequence[str], service: str, fact: str) -> list[Stored]:
        """The last commit of one kind of each table, or an earlier one, when a replica that lags was asked."""
        found: list[Stored] = []
        await self.answered()
        for table in tables:
            stored = self._facts[self._address(room, table, service, fact).subject]
            lag = self.random.randint(1, LAG_MAX) if self.happens("stale") else 0
            found += stored[: len(stored) - lag][-1:]
        await self.answered()
        return found

    async def before(self, room: str, table: str, sequence: int) -> Stored | None:
        """The last message before another, when the leader was asked."""
        await self.answered()
        return await super().before(room, table, sequence)

    async def first(self, room: str, table: str, sequence: int = 1) -> Stored | None:
        """The first message from a sequence on, when the leader was asked."""
        await self.answered()
        found = await super().first(room, table, sequence)
        await self.answered()
        return found

    async def room_tail(self, room: str) -> Stored | None:
        """The last message of a room, when the leader was asked."""
        found = await super().room_tail(room)
        await self.answered()
        return found

    async def heads(self, room: str, table: str = ANY) -> dict[str, Heads]:
        """The heads that had been published when the stream was asked."""
        found = await super().heads(room, table)
        if self.happens("stale"):
            found = {name: {n: head for n, head in heads.items() if n < max(heads)} for name, heads in found.items()}
        await self.answered()
        return found

    async def tables(self, room: str) -> list[str]:
        """The tables that had a message when the leader was asked."""
        return sorted(await self.sizes(room))

    async def sizes(self, room: str, table: str = ANY) -> dict[str, int]:
        """How many messages there were when the leader was asked."""
        found = await super().sizes(room, table)
        await self.answered()
        return found

    def read(self, room: str, table: str, after: int = 0) -> AsyncIterator[Stored]:
        """Reads a table in batches."""
        return Read(self, self._tables[self._pattern(room, table)], after)

    def read_room(self, room: str, after: int = 0) -> AsyncIterator[Stored]:
        """Reads a room in batches."""
        return Read(self, self._rooms[room_pattern(room, self.archive.roots)], after)

    def stray(self, pattern: str, subject: str, data: bytes) -> None:
        """Stores a message that no service wrote."""
        address = read_commit(subject, self.archive.roots)
        assert address is not None
        found = self._tables[pattern]
        self.publish(self.store(self._address(*address), data, found[-1].sequence if found else 0))


class Read:
    """A read under way: time passes between its batches, and it may break off."""

    def __init__(self, log: FaultyLog, found: Sequence[Stored], after: int) -> None:
        self._log = log
        self._found = found
        self._index = bisect_right(found, after, key=attrgetter("sequence"))
        self._left = 0

    def __aiter__(self) -> "Read":
        return self

    async def __anext__(self) -> Stored:
        if self._left == 0:
            await self._log.answered()
            self._left = BATCH
        self._left -= 1
        if self._index == len(self._found):
            raise StopAsyncIteration
        self._index += 1
        return self._found[self._index - 1]


def true_time() -> datetime:
    """The server's clock."""
    return EPOCH + timedelta(seconds=asyncio.get_running_loop().time())


def _owner() -> Owner:
    owner = OWNER.get()
    assert owner is not None
    return owner
