"""The log: one totally ordered sequence of commits per table or ledger, guarded by an expected sequence.

Two logs speak this vocabulary and pass one conformance suite: `JetStreamLog` and `MemoryLog`. A log knows
bytes only; which messages extend a chain is for the fold to say. In the place of a table a ledger may stand, and then
the house in that of the room.

A *sequence* is the position of a message in the whole stream. It is good for reading and for expectations,
and never part of a message: a restored log has other sequences.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from datetime import datetime
from typing import Final, Protocol

import msgspec

from contracts.data import Sha256
from contracts.subjects import ANY

COMMIT_BYTES_MAX: Final = 1_000_000
"""The largest commit that a log takes; with its headers it must fit into the server's `max_payload`."""


class Stored(msgspec.Struct, frozen=True, gc=False):
    """One stored message.

    `subject` is the one it is stored at (`table....`), however it was read. `time` is when the server stored
    it (UTC), none in a log that knows no time. `previous`, told of followed messages alone, is the sequence of the
    last one before it on the same subject, 0 for none: who has not read up to there has missed something. `trace` is
    the `traceparent` that was sent with it, if any: it lies beside the message and is no part of the log.
    """

    sequence: int
    subject: str
    data: bytes
    time: datetime | None
    previous: int = 0
    trace: str = ""


type Heads = dict[int, Sha256]
"""Hashes of a log's commits that somebody else holds, by n."""


class Conflict(Exception):
    """The expectation failed: the table's last message is another one than expected, nothing was stored.

    On a re-send it may be one's own commit that came first: only the fold can tell. On several servers that one may be
    on its way still, and not to be read yet.
    """


class InDoubt(Exception):
    """No answer, or none that says: the commit may be stored, or become so later.

    Send the same bytes with the same expectation again; decide nothing anew before that.
    """


class Refused(Exception):
    """This attempt was not stored and never will be: not sent, nobody there, not allowed, too large.

    It says nothing about an earlier attempt that was left in doubt.
    """


class Unavailable(Exception):
    """The log cannot be read now. What was read before stands; read on from there later."""


class Following(Protocol):
    """Facts that keep arriving until one stops them."""

    async def stop(self) -> None:
        """Delivers nothing more."""


class Log(Protocol):
    """Appends, reads and follows the commits of tables, or of ledgers.

    Every read raises `Unavailable` when there is no answer, every method `ValueError` for what is not an id.
    """

    async def append(self, room: str, table: str, service: str, fact: str, data: bytes, expected: int) -> int:
        """Stores one commit and gives its sequence.

        `expected` is the sequence of the table's last message, 0 for none. Raises `Conflict`, `InDoubt` or
        `Refused`; cancelled, it is in doubt.
        """

    async def tail(self, room: str, table: str) -> Stored | None:
        """The last message of a table, as the leader of the stream knows it."""

    async def last_of(self, room: str, table: str, service: str, fact: str) -> Stored | None:
        """The last commit of one kind, as the leader knows it: the last hand is `table`, `hand_started`."""

    async def last_of_each(self, room: str, tables: Sequence[str], service: str, fact: str) -> list[Stored]:
        """The last commit of one kind of each of these tables that has one; it may lag, and be an earlier one."""

    async def next_of(self, room: str, table: str, service: str, fact: str, sequence: int) -> Stored | None:
        """The first commit of one kind at or after `sequence`: the step of a binary search for a hand."""

    async def before(self, room: str, table: str, sequence: int) -> Stored | None:
        """The last message of a table before `sequence`: the anchor of a partial read."""

    async def first(self, room: str, table: str, sequence: int = 1) -> Stored | None:
        """The first message of a table at or after `sequence`, as the leader knows it."""

    async def room_tail(self, room: str) -> Stored | None:
        """The last message of a room, as the leader knows it."""

    async def heads(self, room: str, table: str = ANY) -> dict[str, Heads]:
        """The last head that each service published, of one table or of every table of the room that has any.

        Who compares them with the log reads them before it: they may lag, and are never ahead of it.
        """

    async def leave_head(self, service: str, room: str, table: str, head: bytes) -> None:
        """Publishes a service's head of a table and waits until it is kept, or cannot be; never raises."""

    def read(self, room: str, table: str, after: int = 0) -> AsyncIterator[Stored]:
        """Every message of a table after sequence `after`, in order, up to the tail that the leader knows."""

    def read_room(self, room: str, after: int = 0) -> AsyncIterator[Stored]:
        """Every message of every table of a room after sequence `after`, in order, up to the leader's tail."""

    async def tables(self, room: str) -> list[str]:
        """The tables of a room that have any message, sorted."""

    async def sizes(self, room: str, table: str = ANY) -> dict[str, int]:
        """How many messages each table of a room has, or one of them, as the leader knows it: those that have any."""

    async def follow(
        self,
        room: str,
        deliver: Callable[[Stored], None],
        *,
        service: str = ANY,
        fact: str = ANY,
        queue: str = "",
    ) -> Following:
        """Calls `deliver` with each commit once it is stored, in order, at most once each.

        Facts can be lost: whoever follows must look at the log too. Among followers with the same `queue` one
        is picked for each fact. `deliver` must be quick and must not raise; `room` may be `ANY`.
        """
