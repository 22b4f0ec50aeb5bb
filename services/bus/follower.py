"""The tables of a process's rooms, or the ledgers, kept up to the tail of the log and shared by its services."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Final

import structlog

from contracts.commit import Commit, Head
from contracts.data import Instant
from contracts.subjects import read_commit
from services.aggregate.chain import Chained, State
from services.aggregate.table import Table
from services.bus.aggregates import Kind
from services.bus.background import begun
from services.bus.clock import Clock
from services.bus.loading import LOADS_MAX, Counted, load
from services.bus.log import Following, Log, Stored, Unavailable
from services.bus.measures import UNHEARD, Heard
from services.bus.owing import Owing
from services.bus.replica import Gap, Replica, Watcher
from services.bus.rereading import only_held, read_again, read_first, read_on

logger: Final = structlog.get_logger(__name__)


class Follower[S: State, C: Chained]:
    """Follows the rooms once; a replica is found by room and name.

    `owing` tells, for each service, of which replicas the state says that this service owes something. `lost` are
    commits that were folded, and that neither the log nor anybody who published a head knows any more. `audited_s` is
    the loop time at which the replicas were last compared with the log. `heard` is told of what is taken from it.
    """

    def __init__(self, of: Kind[S, C], log: Log, rooms: Iterable[str], clock: Clock, heard: Heard = UNHEARD) -> None:
        self.of = of
        self.log = log
        self.rooms = tuple(rooms)
        self.clock = clock
        self.heard = heard
        self.audited_s = 0.0
        self.replicas: dict[tuple[str, str], Replica[S, C]] = {}
        self.owing = {service: Owing[S, C](service) for service in of.archive.services}
        self.watchers: list[Watcher[S, C]] = []
        self.lost: dict[tuple[str, str], Head] = {}
        self._filling: dict[tuple[str, str], asyncio.Task[object]] = {}
        self._fill_again: set[tuple[str, str]] = set()
        self._followings: list[Following] = []
        self._seen: dict[str, int] = dict.fromkeys(self.rooms, 0)
        self._suspect: dict[str, int | None] = dict.fromkeys(self.rooms)
        self._marks: dict[str, Stored | None] = dict.fromkeys(self.rooms)
        self._doubtful: set[tuple[str, str]] = set()
        self._refolding: set[tuple[str, str]] = set()
        self._loaded = False

    async def start(self) -> None:
        """Follows the rooms, then reads every table up to the tail. Raises `Unavailable`."""
        for room in self.rooms:
            self._followings.append(await self.log.follow(room, self.receive))
        for room in self.rooms:
            heads = await self.log.heads(room)
            self._marks[room] = mark = await self.log.room_tail(room)
            counted = Counted(await self.log.sizes(room), mark.sequence if mark is not None else 0)
            tables = {name: self.replica(room, name) for name in sorted({*heads, *counted.sizes})}
            await load(self.of, self.log, room, tables, heads, counted, self.catch_up)
            tails = (replica.sequence for replica in self.replicas.values() if replica.state.room == room)
            self._seen[room] = max(tails, default=0)
            await self._look_again(room)
        self._loaded = True
        await self.audit()

    async def _look_again(self, room: str) -> None:
        """Has the tables pass the heads too that were published while they were read: what was read may be half a log.

        A repair publishes the head before it purges, so that nobody takes for whole what it has put back so far.
        """
        for name, heads in (await self.log.heads(room)).items():
            replica = self.replica(room, name)
            replica.learn(heads)
            if replica.known:
                self._doubtful.add(replica.key)

    async def stop(self) -> None:
        """Follows nothing more."""
        for following in self._followings:
            await following.stop()
        for task in list(self._filling.values()):
            task.cancel()

    def replica(self, room: str, name: str) -> Replica[S, C]:
        """What is known of one; a new, empty replica for one never seen."""
        key = (room, name)
        if key not in self.replicas:
            self.replicas[key] = Replica(self.of, room, name)
        return self.replicas[key]

    def named(self, key: tuple[str, str]) -> dict[str, str | int]:
        """One, be it known or not, for a line that is logged."""
        known = self.replicas.get(key)
        return self.of.named(known.state if known is not None else self.of.new(*key))

    def receive(self, stored: Stored) -> None:
        """Takes a commit that the stream has sent on, and fills the gap before it if there is one."""
        address = read_commit(stored.subject, self.of.archive.roots)
        if address is None or address.room not in self._seen:
            return
        self.clock.observe(stored.time)
        self.heard.fact(stored.time, self.clock.now())
        if self._is_next(address.room, stored):
            self._take_or_fill(self.replica(address.room, address.table), stored)

    def _take_or_fill(self, replica: Replica[S, C], stored: Stored) -> None:
        if replica.halted is not None:
            self._doubtful.add(replica.key)  # somebody may be putting its log back
            return
        try:
            self.take(replica, stored)
        except Gap:
            self.fill(replica)

    def _is_next(self, room: str, stored: Stored) -> bool:
        """Notes a sequence, and from where on the log has to be read again; False while the tables are being read."""
        sequence, seen, suspect = stored.sequence, self._seen[room], self._suspect[room]
        if not self._loaded:
            self._suspect[room] = sequence - 1 if suspect is None else suspect
            return False
        if sequence > seen + 1 and suspect is None:
            self._suspect[room] = seen
        self._note(room, stored)
        return True

    def _note(self, room: str, stored: Stored) -> None:
        """Remembers how far the room was read, and by what message."""
        if stored.sequence > self._seen[room]:
            self._seen[room], self._marks[room] = stored.sequence, stored

    def take(self, replica: Replica[S, C], stored: Stored, *, in_order: bool = False) -> C | None:
        """Folds a stored message into its replica, and tells the watchers. Raises `Gap`.

        A table that was never read is not begun by a fact: the heads that are known of it come first.
        """
        if replica.sequence == 0 and not in_order:
            raise Gap("nothing was read yet")
        commit = replica.take(stored, in_order=in_order)
        self._after(replica, commit, stored)
        return commit

    def take_own(self, replica: Replica[S, C], commit: C, stored: Stored) -> None:
        """Folds a commit that was just appended by this process."""
        if replica.take_own(commit, stored):
            self._after(replica, commit, stored)

    def _after(self, replica: Replica[S, C], commit: C | None, stored: Stored) -> None:
        if commit is None and replica.halted is None:
            return
        self._note_debt(replica)
        if commit is not None and replica.halted is None:
            for watcher in self.watchers:
                watcher(replica, commit, stored)

    def _note_debt(self, replica: Replica[S, C]) -> None:
        for owing in self.owing.values():
            owing.note(replica)

    def owed(self, service: str, at: Instant) -> list[Replica[S, C]]:
        """The replicas whose state says that a service owes something at this moment."""
        return self.owing[service].due(at)

    def fill(self, replica: Replica[S, C]) -> None:
        """Reads a table up to its tail, in the background, once at a time.

        What comes while it is being read may be missing from what was read: then it is read once more.
        """
        if replica.key in self._filling:
            self._fill_again.add(replica.key)
        elif replica.halted is None:
            self.heard.gap(replica.state.room)
            task = self._filling[replica.key] = begun(self._fill(replica), "fill", **self.of.named(replica.state))
            task.add_done_callback(lambda _: self._filling.pop(replica.key, None))

    async def _fill(self, replica: Replica[S, C]) -> None:
        self._fill_again.discard(replica.key)
        while await self._read(replica, self.catch_up) and replica.key in self._fill_again:
            self._fill_again.discard(replica.key)

    async def _read(self, replica: Replica[S, C], read: Callable[[Replica[S, C]], Awaitable[None]]) -> bool:
        """Reads a table; where that fails, it is told, and the next audit reads it."""
        try:
            await read(replica)
        except Unavailable as error:
            logger.warning("log_unavailable", **self.of.named(replica.state), error=str(error))
        except Exception:  # a fault at one table must not stop the others
            logger.exception("task_failed", task="reading", **self.of.named(replica.state))
        else:
            return True
        self._doubtful.add(replica.key)
        return False

    async def catch_up(self, replica: Replica[S, C]) -> None:
        """Reads a table up to the tail that the stream's leader knows. Raises `Unavailable`.

        Where the log is not what it was, it is read again from an earlier point.
        """
        if replica.halted is not None:
            return
        if not await (read_on if replica.asked else read_first)(self.log, replica, self.take):
            await self.refold(replica)
        else:
            replica.check_heads()
            self._note_debt(replica)

    async def refold(self, replica: Replica[S, C]) -> None:
        """Reads a table again whose log is not what it was; until the chain has passed all that is known, it is halted.

        Raises `Unavailable`; then, and when more of its log appears, the audit tries again.
        """
        if replica.key in self._refolding:
            return
        self._refolding.add(replica.key)
        self._doubtful.discard(replica.key)
        replica.suspend()
        self._note_debt(replica)
        done = False
        try:
            fresh = replica.heir((await self.log.heads(*replica.key)).get(replica.state.id, {}))
            await read_again(self.log, fresh)
            done = True
        finally:
            self._refolding.discard(replica.key)
            if not done:
                self._doubtful.add(replica.key)
        replica.adopt(fresh)
        self.lost |= only_held(replica, fresh)
        self._note_debt(replica)

    def doubt(self) -> None:
        """Has the next audit look whether the log of every table is what it was: the server may have come back."""
        self._doubtful.update(key for key, replica in self.replicas.items() if replica.sequence or replica.known)

    async def audit(self) -> None:
        """Reads again what may have been lost on the way: after a hole in the sequences, or at the tail.

        Looks too whether the log went back, or was put back. Raises `Unavailable`.
        """
        for room in self.rooms:
            suspect, self._suspect[room] = self._suspect[room], None
            after = self._seen[room] if suspect is None else suspect
            try:
                if not await self._read_room(room, after):
                    await self._begin_again(room)
            except Unavailable:
                self._suspect[room] = after  # a hole stays one until it has been read
                raise
        if self._filling:
            await asyncio.wait(list(self._filling.values()))
        await self._settle_doubts()
        self.audited_s = asyncio.get_running_loop().time()

    async def _read_room(self, room: str, after: int) -> bool:
        """Reads a room on; False where the last message that was seen is not there any more."""
        mark = self._marks[room]
        stood = mark is None
        async for stored in self.log.read_room(room, after if mark is None else min(after, mark.sequence - 1)):
            if mark is not None and stored.sequence == mark.sequence:
                stood = stored.data == mark.data
            if stored.sequence > after or not stood:
                self.receive_read(room, stored)
        return stood

    async def _begin_again(self, room: str) -> None:
        """Counts a room's sequences from its tail of now: the log went back, or a table was purged."""
        tail = await self.log.room_tail(room)
        if tail is not None:
            self._seen[room] = tail.sequence
        self._marks[room] = tail
        self._doubtful.update(key for key, replica in self.replicas.items() if key[0] == room and replica.sequence)

    async def _settle_doubts(self) -> None:
        doubtful, self._doubtful = self._doubtful, set()
        slots = asyncio.Semaphore(LOADS_MAX)

        async def settle(key: tuple[str, str]) -> None:
            async with slots:
                replica = self.replicas[key]
                await self._read(replica, self.refold if replica.halted is not None else self.catch_up)

        async with asyncio.TaskGroup() as group:
            for key in sorted(doubtful):
                group.create_task(settle(key))

    def receive_read(self, room: str, stored: Stored) -> None:
        """Takes a message that was read from the log, not followed."""
        address = read_commit(stored.subject, self.of.archive.roots)
        if address is None:
            return
        self._note(room, stored)
        self._take_or_fill(self.replica(room, address.table), stored)


TableFollower = Follower[Table, Commit]
