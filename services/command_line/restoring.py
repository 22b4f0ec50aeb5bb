"""A checked log is brought into a stream, as the deploy role: extended where it can be, else purged and put back."""

from collections.abc import Callable
from typing import Final

from contracts.codec import encode
from contracts.commit import Head
from contracts.data import Id
from contracts.subjects import heads, table_pattern
from services.bus.log import Conflict
from services.bus.reading import Message
from services.bus.streams import HEADS, TABLES
from services.command_line.sources import Opened
from services.replay.restoration import NotTaken, Whole, chain, put

ROUNDS_MAX: Final = 10
"""So often what was appended meanwhile is taken up before the table is given up."""

type Wanted = Callable[[list[Message]], Whole]
"""The whole log, given all that the stream holds of it. Raises `NotWhole`."""


class Restoring:
    """One table of one stream. Whatever happens, running it again completes it."""

    def __init__(self, there: Opened, room: Id, table: Id) -> None:
        self._there = there
        self._room = room
        self._table = table
        self._context = there.client.jetstream()

    async def run(self, wanted: Wanted, keep: Callable[[Whole], None] = lambda _: None) -> tuple[bool, Head]:
        """Makes the stream hold the log; gives whether anything had to be changed, and the head.

        The head is published first: who reads the table halts it until its log has come to there. `keep` is told of
        the log before anything is purged. Raises `NotWhole`, `NotTaken`, `Refused`.
        """
        bound, found = await self._stored()
        log = wanted(found)
        if chain(self._room, self._table, found) == list(log.messages):
            return False, log.head
        await self._publish(log.head)
        if not await self._extended(log, found):
            log = await self._purged(wanted, keep, bound, found)
            await self._publish(log.head)
            try:
                await put(self._there.log, self._room, self._table, log.messages, 0)
            except Conflict as error:
                raise NotTaken(self._index_differs()) from error
        if (await self._stored())[1] != list(log.messages):
            raise NotTaken(self._index_differs())
        return True, log.head

    async def _stored(self) -> tuple[int, list[Message]]:
        """The table's messages, after the stream's last sequence before they were read."""
        bound = (await self._context.stream_info(TABLES)).state.last_seq
        read = self._there.log.read(self._room, self._table)
        return bound, [(stored.subject, stored.data) async for stored in read]

    async def _extended(self, log: Whole, found: list[Message]) -> bool:
        """Appends what is missing at the end, if that is all; else False."""
        if found != list(log.messages[: len(found)]):
            return False
        tail = await self._there.log.tail(self._room, self._table)
        try:
            await put(
                self._there.log,
                self._room,
                self._table,
                log.messages[len(found) :],
                tail.sequence if tail is not None else 0,
            )
        except Conflict:
            return False
        return True

    async def _purged(self, wanted: Wanted, keep: Callable[[Whole], None], bound: int, found: list[Message]) -> Whole:
        """Takes the table's messages out; what a service appended meanwhile is not lost."""
        taken = found
        for _ in range(ROUNDS_MAX):
            log = wanted(taken)
            keep(log)
            await self._context.purge_stream(TABLES, seq=bound + 1, subject=table_pattern(self._room, self._table))
            bound, found = await self._stored()
            if not found:
                return log
            taken = [*taken, *found]
        raise NotTaken(f"table {self._table} is played on meanwhile: pause it, and run the same command again")

    async def _publish(self, head: Head) -> None:
        subject = heads("table", self._room, self._table)
        ack = await self._context.publish(subject, encode(head))
        if ack.stream != HEADS:
            raise NotTaken(f"heads are kept in stream {ack.stream}, and not in {HEADS}")

    def _index_differs(self) -> str:
        return (
            f"the server does not take the commits of table {self._table} in their order: its own index of the stream "
            "does not agree with its files; stop it gracefully, start it, and run the same command again"
        )
