"""The log in memory: the same promises as JetStream, no time, no randomness, nothing kept.

It is the ground of the simulator, which overrides the steps of an append (`sent`, `store`, `stored`) and of
a delivery (`publish`, `pick`, `hand_over`) to delay, lose, repeat or reorder them.
"""

import asyncio
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from operator import attrgetter
from typing import Final

from contracts import subjects
from contracts.codec import decode
from contracts.commit import Head
from contracts.subjects import ANY, Guarded
from services.bus.archives import OF_TABLES, Archive
from services.bus.log import COMMIT_BYTES_MAX, Conflict, Heads, Refused, Stored
from services.bus.tracing import current

_sequence: Final = attrgetter("sequence")


class Follower:
    """One subscription: what it wants to see, and whom it tells."""

    def __init__(self, log: "MemoryLog", pattern: str, queue: str, deliver: Callable[[Stored], None]) -> None:
        self.queue = queue
        self.deliver = deliver
        self._log = log
        self._wanted = pattern.split(".")[1:]

    def wants(self, subject: str) -> bool:
        """Whether a commit stored at `subject` is for this follower."""
        parts = subject.split(".")[1:]
        return all(wanted in (ANY, part) for wanted, part in zip(self._wanted, parts, strict=True))

    async def stop(self) -> None:
        """Delivers nothing more, not even what is under way."""
        if self in self._log.followers:
            self._log.followers.remove(self)


class MemoryLog:
    """A `Log` in one process's memory; see there for what each method promises. `published` are the heads it gives."""

    def __init__(self, archive: Archive = OF_TABLES) -> None:
        self.archive = archive
        self.messages: list[Stored] = []
        self.published: dict[tuple[str, str], Heads] = {}
        self.followers: list[Follower] = []
        self._rooms: defaultdict[str, list[Stored]] = defaultdict(list)
        self._tables: defaultdict[str, list[Stored]] = defaultdict(list)
        self._facts: defaultdict[str, list[Stored]] = defaultdict(list)
        self._turns: defaultdict[str, int] = defaultdict(int)

    async def append(self, room: str, table: str, service: str, fact: str, data: bytes, expected: int) -> int:
        """Stores one commit and gives its sequence."""
        address = self._address(room, table, service, fact)
        if len(data) > COMMIT_BYTES_MAX:
            raise Refused(f"a commit of {len(data)} bytes is larger than {COMMIT_BYTES_MAX}")
        await self.sent(address)
        message = self.store(address, data, expected)
        self.publish(message)
        await self.stored(message)
        return message.sequence

    async def tail(self, room: str, table: str) -> Stored | None:
        """The last message of a table."""
        return _last(self._tables.get(self._pattern(room, table), ()))

    async def last_of(self, room: str, table: str, service: str, fact: str) -> Stored | None:
        """The last commit of one kind."""
        return _last(self._facts.get(self._address(room, table, service, fact).subject, ()))

    async def last_of_each(self, room: str, tables: Sequence[str], service: str, fact: str) -> list[Stored]:
        """The last commit of one kind of each of these tables that has one."""
        found = [await self.last_of(room, table, service, fact) for table in tables]
        return [stored for stored in found if stored is not None]

    async def next_of(self, room: str, table: str, service: str, fact: str, sequence: int) -> Stored | None:
        """The first commit of one kind at or after `sequence`."""
        found = self._facts.get(self._address(room, table, service, fact).subject, ())
        return next(_from(found, bisect_left(found, sequence, key=_sequence)), None)

    async def before(self, room: str, table: str, sequence: int) -> Stored | None:
        """The last message of a table before `sequence`."""
        found = self._tables.get(self._pattern(room, table), ())
        return _last(found[: bisect_left(found, sequence, key=_sequence)])

    async def first(self, room: str, table: str, sequence: int = 1) -> Stored | None:
        """The first message of a table at or after `sequence`."""
        found = self._tables.get(self._pattern(room, table), ())
        return next(_from(found, bisect_left(found, sequence, key=_sequence)), None)

    async def room_tail(self, room: str) -> Stored | None:
        """The last message of a room."""
        return _last(self._rooms.get(subjects.room_pattern(room, self.archive.roots), ()))

    async def heads(self, room: str, table: str = ANY) -> dict[str, Heads]:
        """The heads that somebody put there."""
        return {
            name: dict(of) for (where, name), of in self.published.items() if where == room and table in (ANY, name)
        }

    async def leave_head(self, _: str, room: str, table: str, head: bytes) -> None:
        """Keeps a head."""
        left = decode(head, Head)
        self.published.setdefault((room, table), {})[left.n] = left.hash

    def read(self, room: str, table: str, after: int = 0) -> AsyncIterator[Stored]:
        """Every message of a table after sequence `after`."""
        return _read(self._tables[self._pattern(room, table)], after)

    def read_room(self, room: str, after: int = 0) -> AsyncIterator[Stored]:
        """Every message of a room after sequence `after`."""
        return _read(self._rooms[subjects.room_pattern(room, self.archive.roots)], after)

    async def tables(self, room: str) -> list[str]:
        """The tables of a room that have any message, sorted."""
        return sorted(await self.sizes(room))

    async def sizes(self, room: str, table: str = ANY) -> dict[str, int]:
        """How many messages each table of a room has, or one of them."""
        prefix = subjects.room_pattern(room, self.archive.roots)[:-1]
        sizes = {
            pattern[len(prefix) : -2]: len(found)
            for pattern, found in self._tables.items()
            if found and pattern.startswith(prefix)
        }
        return sizes if table == ANY else {name: size for name, size in sizes.items() if name == table}

    async def follow(
        self,
        room: str,
        deliver: Callable[[Stored], None],
        *,
        service: str = ANY,
        fact: str = ANY,
        queue: str = "",
    ) -> Follower:
        """Calls `deliver` from the running loop with each commit once it is stored."""
        pattern = subjects.fact_pattern(room, ANY, service, fact, self.archive.roots)
        follower = Follower(self, pattern, queue, deliver)
        self.followers.append(follower)
        return follower

    def _address(self, room: str, table: str, service: str, fact: str) -> Guarded:
        return subjects.guarded(room, table, service, fact, self.archive.roots)

    def _pattern(self, room: str, table: str) -> str:
        return subjects.table_pattern(room, table, self.archive.roots)

    async def sent(self, address: Guarded) -> None:
        """The way of an append to the log. Does nothing here."""

    async def stored(self, message: Stored) -> None:
        """The way of the acknowledgement back. Does nothing here."""

    def store(self, address: Guarded, data: bytes, expected: int) -> Stored:
        """Stores a message if the table's last one is the expected one, raises `Conflict` if not."""
        found = self._tables[address.guard]
        last = found[-1].sequence if found else 0
        if last != expected:
            raise Conflict(f"{address.guard}: expected sequence {expected}, found {last}")
        before = _last(self._facts[address.subject])
        previous = before.sequence if before is not None else 0
        trace = current.get().header
        message = Stored(len(self.messages) + 1, address.subject, data, None, previous, trace)
        self.messages.append(message)
        found.append(message)
        self._facts[address.subject].append(message)
        room = address.guard.split(".")[1]
        self._rooms[subjects.room_pattern(room, self.archive.roots)].append(message)
        return message

    def publish(self, message: Stored) -> None:
        """Tells everybody who follows, and one member of each queue."""
        members: defaultdict[str, list[Follower]] = defaultdict(list)
        for follower in self.followers:
            if follower.wants(message.subject):
                members[follower.queue].append(follower)
        for queue, candidates in members.items():
            for follower in (self.pick(queue, candidates),) if queue else candidates:
                self.hand_over(follower, message)

    def pick(self, queue: str, candidates: Sequence[Follower]) -> Follower:
        """Whose turn it is in a queue: one after the other."""
        self._turns[queue] += 1
        return candidates[self._turns[queue] % len(candidates)]

    def hand_over(self, follower: Follower, message: Stored) -> None:
        """Has the running loop deliver a message soon."""
        asyncio.get_running_loop().call_soon(self._deliver, follower, message)

    def _deliver(self, follower: Follower, message: Stored) -> None:
        if follower in self.followers:
            follower.deliver(message)


def _last(found: Sequence[Stored]) -> Stored | None:
    return found[-1] if found else None


def _from(found: Sequence[Stored], index: int) -> Iterator[Stored]:
    return iter(found[index : index + 1])


async def _read(found: Sequence[Stored], after: int) -> AsyncIterator[Stored]:
    # What is appended while one reads belongs to it: the length is looked at anew for every message.
    index = bisect_right(found, after, key=_sequence)
    while index < len(found):
        yield found[index]
        index += 1
