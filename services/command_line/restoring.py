"""A checked log is brought into a stream, as the deploy role: extended where it can be, else purged and put back."""

import asyncio
from collections.abc import Callable
from typing import Final, NamedTuple

from contracts.codec import encode
from contracts.commit import Head
from contracts.data import Id
from contracts.subjects import heads, table_pattern
from services.bus.log import Conflict
from services.bus.reading import Message
from services.bus.streams import HEADS, TABLES
from services.command_line.sources import Opened
from services.replay.restoration import NotTaken, NotWhole, Whole, chain, put

ROUNDS_MAX: Final = 100
"""So often what was appended meanwhile is taken up before the table is given up."""
AGAIN: Final = "pause it, and run the same command again, with the file of the whole log that was written"


class Held(NamedTuple):
    """What a stream holds of a table; `tail` is its last message's sequence, `bound` the stream's when it was read."""

    messages: list[Message]
    tail: int
    bound: int


type Wanted = Callable[[list[Message]], Whole]
"""The whole log, given all that the stream holds of it. Raises `NotWhole`."""


class Restoring:
    """One table of one stream. Whatever happens, running it again completes it.

    Services may run and the table may be played meanwhile. What a service appends before the purge expects a message
    that is there, and is taken up; after it, it expects one that is gone, and is a conflict. From then on the table is
    halted for everybody, because its head was published before anything was touched, until the log has come to there.

    To verify a long log takes seconds, and happens in a thread: the server hangs up on who answers no pings.
    """

    def __init__(self, there: Opened, room: Id, table: Id) -> None:
        self._there = there
        self._room = room
        self._table = table
        self._context = there.client.jetstream()

    async def run(self, wanted: Wanted, keep: Callable[[Whole], None] = lambda _: None) -> tuple[bool, Head]:
        """Makes the stream hold the log; gives whether anything had to be changed, and the head.

        `keep` is told of the log before anything is purged. Raises `NotWhole`, `NotTaken`, `Refused`.
        """
        held = await self._stored()
        log = await asyncio.to_thread(wanted, held.messages)
        if await asyncio.to_thread(chain, self._room, self._table, held.messages) == list(log.messages):
            return False, log.head
        await self._publish(log.head)
        if not await self._extended(log, held):
            log = await self._purged(wanted, keep)
            await self._publish(log.head)
            try:
                await put(self._there.log, self._room, self._table, log.messages, 0)
            except Conflict as error:
                raise NotTaken(self._index_differs()) from error
        found = (await self._stored()).messages
        if found[: len(log.messages)] != list(log.messages):  # after them the services may have gone on already
            raise NotTaken(self._index_differs())
        return True, log.head

    async def _stored(self) -> Held:
        bound = (await self._context.stream_info(TABLES)).state.last_seq
        found = [stored async for stored in self._there.log.read(self._room, self._table)]
        return Held([(each.subject, each.data) for each in found], found[-1].sequence if found else 0, bound)

    async def _extended(self, log: Whole, held: Held) -> bool:
        """Appends what is missing at the end, if that is all, and nobody was first; else False."""
        count = len(held.messages)
        if held.messages != list(log.messages[:count]):
            return False
        try:
            await put(self._there.log, self._room, self._table, log.messages[count:], held.tail)
        except Conflict:
            return False
        return True

    async def _purged(self, wanted: Wanted, keep: Callable[[Whole], None]) -> Whole:
        """Takes the table's messages out; what a service appended meanwhile is not lost.

        A table in play is ahead again while its log is being verified: what came last is verified once it is all out.
        """
        log = await asyncio.to_thread(wanted, (await self._stored()).messages)
        held, taken = await self._stored(), list[Message]()
        for _ in range(ROUNDS_MAX):
            taken += held.messages
            keep(_with(log, taken))
            await self._purge(held.bound)
            held = await self._stored()
            if not held.messages:
                break
        else:
            raise NotTaken(f"table {self._table} is played on meanwhile: {AGAIN}")
        try:
            log = await asyncio.to_thread(wanted, taken)
        except NotWhole as error:
            raise NotTaken(await self._taken_back(taken, keep, log, error)) from error
        keep(log)
        return log

    async def _purge(self, bound: int) -> None:
        await self._context.purge_stream(TABLES, seq=bound + 1, subject=table_pattern(self._room, self._table))

    async def _taken_back(self, taken: list[Message], keep: Callable[[Whole], None], log: Whole, why: NotWhole) -> str:
        """Puts what the stream held where it was: what was appended meanwhile does not go with the export."""
        as_it_was = tuple(dict.fromkeys(taken))
        keep(log._replace(messages=as_it_was, saved=len(as_it_was)))
        await put(self._there.log, self._room, self._table, as_it_was, 0)
        return (
            f"table {self._table} was played on, and not from where the export ends, while it was being repaired; it "
            f"was left as it was: {why}. There are two truths, and people have to decide"
        )

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


def _with(log: Whole, taken: list[Message]) -> Whole:
    """The whole log, and all that the stream held besides."""
    both = tuple(dict.fromkeys((*log.messages, *taken)))
    return log._replace(messages=both, saved=log.saved + len(both) - len(log.messages))
