"""All tables of a process's rooms, kept up to the tail of the log and shared by the services of the process."""

import asyncio
from collections.abc import Iterable
from typing import Final

import structlog

from contracts.commit import Commit
from contracts.events import SERVICES, Service
from contracts.subjects import read_commit
from services.bus.clock import Clock
from services.bus.log import Following, Log, Stored, Unavailable
from services.bus.reader import NotFound, from_last_statement
from services.bus.replica import Gap, Replica, Watcher

logger: Final = structlog.get_logger(__name__)

LOADS_MAX: Final = 32
"""How many tables are read at the same time at the start."""


class Follower:
    """Follows the rooms once; a replica is found by room and table.

    `owing` holds, for each service, the replicas whose state says that this service owes something.
    """

    def __init__(self, log: Log, rooms: Iterable[str], clock: Clock) -> None:
        self.log = log
        self.rooms = tuple(rooms)
        self.clock = clock
        self.replicas: dict[tuple[str, str], Replica] = {}
        self.owing: dict[Service, dict[tuple[str, str], Replica]] = {service: {} for service in SERVICES}
        self.watchers: list[Watcher] = []
        self._filling: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._followings: list[Following] = []
        self._seen: dict[str, int] = dict.fromkeys(self.rooms, 0)
        self._suspect: dict[str, int | None] = dict.fromkeys(self.rooms)
        self._loaded = False

    async def start(self) -> None:
        """Follows the rooms, then reads every table up to the tail. Raises `Unavailable`."""
        for room in self.rooms:
            self._followings.append(await self.log.follow(room, self.receive))
        for room in self.rooms:
            names = await self.log.tables(room)
            await self._load_all(room, names)
            tails = (replica.sequence for replica in self.replicas.values() if replica.table.room == room)
            self._seen[room] = max(tails, default=0)
        self._loaded = True
        await self.audit()

    async def stop(self) -> None:
        """Follows nothing more."""
        for following in self._followings:
            await following.stop()
        for task in list(self._filling.values()):
            task.cancel()

    def replica(self, room: str, table: str) -> Replica:
        """What is known of a table; a new, empty replica for one never seen."""
        key = (room, table)
        if key not in self.replicas:
            self.replicas[key] = Replica(room, table)
        return self.replicas[key]

    def receive(self, stored: Stored) -> None:
        """Takes a commit that the stream has sent on, and fills the gap before it if there is one."""
        address = read_commit(stored.subject)
        if address is None or address.room not in self._seen:
            return
        self.clock.observe(stored.time)
        if not self._is_next(address.room, stored.sequence):
            return
        replica = self.replica(address.room, address.table)
        try:
            self.take(replica, stored)
        except Gap:
            self.fill(replica)

    def _is_next(self, room: str, sequence: int) -> bool:
        """Notes a sequence, and from where on the log has to be read again; False while the tables are being read."""
        seen, suspect = self._seen[room], self._suspect[room]
        if not self._loaded:
            self._suspect[room] = sequence - 1 if suspect is None else suspect
            return False
        if sequence > seen + 1 and suspect is None:
            self._suspect[room] = seen
        self._seen[room] = max(seen, sequence)
        return True

    def take(self, replica: Replica, stored: Stored, *, in_order: bool = False) -> Commit | None:
        """Folds a stored message into its replica, and tells the watchers. Raises `Gap`."""
        commit = replica.take(stored, in_order=in_order)
        self._after(replica, commit, stored)
        return commit

    def take_own(self, replica: Replica, commit: Commit, stored: Stored) -> None:
        """Folds a commit that was just appended by this process."""
        if replica.take_own(commit, stored):
            self._after(replica, commit, stored)

    def _after(self, replica: Replica, commit: Commit | None, stored: Stored) -> None:
        if commit is None and replica.halted is None:
            return
        owed = replica.debt
        for service, tables in self.owing.items():
            if owed is not None and owed.service == service:
                tables[replica.key] = replica
            else:
                tables.pop(replica.key, None)
        if commit is not None and replica.halted is None:
            for watcher in self.watchers:
                watcher(replica, commit, stored)

    def fill(self, replica: Replica) -> None:
        """Reads a table up to its tail, in the background, once at a time."""
        if replica.key not in self._filling and replica.halted is None:
            task = asyncio.create_task(self._fill(replica))
            self._filling[replica.key] = task
            task.add_done_callback(lambda _: self._filling.pop(replica.key, None))

    async def _fill(self, replica: Replica) -> None:
        try:
            await self.catch_up(replica)
        except Unavailable as error:
            logger.warning("log_unavailable", table=replica.table.id, error=str(error))

    async def catch_up(self, replica: Replica) -> None:
        """Reads a table up to the tail that the stream's leader knows. Raises `Unavailable`."""
        if replica.halted is not None:
            return
        room, table = replica.key
        ahead: Gap | None = None
        async for stored in self.log.read(room, table, replica.sequence):
            try:
                self.take(replica, stored, in_order=True)
            except Gap as gap:
                ahead = gap
                break
        if ahead is not None:
            replica.halt(f"the log has a hole: {ahead}")
            self._after(replica, None, Stored(0, "", b"", None))

    async def _load_all(self, room: str, names: Iterable[str]) -> None:
        slots = asyncio.Semaphore(LOADS_MAX)
        try:
            async with asyncio.TaskGroup() as group:
                for name in names:
                    group.create_task(self._load(room, name, slots))
        except ExceptionGroup as errors:
            unavailable, others = errors.split(Unavailable)
            if others is not None:
                raise
            raise Unavailable(f"room {room}: {unavailable}") from errors

    async def _load(self, room: str, name: str, slots: asyncio.Semaphore) -> None:
        async with slots:
            replica = self.replica(room, name)
            try:
                start = await from_last_statement(self.log, room, name)
            except NotFound:
                return
            replica.begin(start.table, start.after)
            await self.catch_up(replica)

    async def audit(self) -> None:
        """Reads again what may have been lost on the way: after a hole in the sequences, or at the tail.

        Raises `Unavailable`.
        """
        for room in self.rooms:
            suspect, self._suspect[room] = self._suspect[room], None
            after = self._seen[room] if suspect is None else suspect
            try:
                async for stored in self.log.read_room(room, after):
                    self.receive_read(room, stored)
            except Unavailable:
                self._suspect[room] = after  # a hole stays one until it has been read
                raise

    def receive_read(self, room: str, stored: Stored) -> None:
        """Takes a message that was read from the log, not followed."""
        address = read_commit(stored.subject)
        if address is None:
            return
        self._seen[room] = max(self._seen[room], stored.sequence)
        replica = self.replica(room, address.table)
        try:
            self.take(replica, stored)
        except Gap:
            self.fill(replica)
