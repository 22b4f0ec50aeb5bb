"""The log in JetStream: appends with an expectation, reads by batches, facts as the stream sends them on.

What must be true as of now is read from the stream's leader (`STREAM.MSG.GET`); what is long since true may come
from any replica (`DIRECT.GET`), is faster, and is finished from the leader.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from datetime import datetime
from itertools import batched
from typing import Final, Self

import msgspec
import nats.errors
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts import subjects
from contracts.subjects import ANY
from services.bus import answers, streams
from services.bus.archives import OF_TABLES, Archive
from services.bus.connection import Line, settle
from services.bus.heads import TABLES_ASKED_MAX, Published
from services.bus.health import Appends
from services.bus.log import COMMIT_BYTES_MAX, Conflict, Heads, InDoubt, Refused, Stored, Unavailable
from services.bus.mailbox import Mailbox, NoAnswer, NobodyThere, NotSent
from services.bus.patience import Patience
from services.bus.settings import Settings
from services.bus.subscribed import Subscribed
from services.bus.tracing import carrying

_encode: Final = msgspec.json.Encoder().encode


class JetStreamLog:
    """A `Log` on a server; see there for what each method promises. Made by `open`."""

    def __init__(self, client: Client, mailbox: Mailbox, settings: Settings, archive: Archive = OF_TABLES) -> None:
        self.archive = archive
        self._client = client
        self._mailbox = mailbox
        self._settings = settings
        self._append_s = settings.append_timeout_ms / 1000
        self._read_s = settings.read_timeout_ms / 1000
        self._appending = Patience(client, settings.unanswered_ms / 1000)
        self._led = Patience(client, settings.leaderless_ms / 1000)
        self._one_replica = False
        """Whether the streams were seen to lie on one server alone: then nothing that was read can lag."""
        self.appends = Appends()
        self.size: answers.Size | None = None
        """How much lay in the log when the server was last asked for the time."""
        self._get = f"{settings.api_prefix}.STREAM.MSG.GET.{archive.log}"
        self._direct = f"{settings.api_prefix}.DIRECT.GET.{archive.log}"
        self._about = f"{settings.api_prefix}.STREAM.INFO.{archive.log}"

    @classmethod
    async def open(
        cls, client: Client, settings: Settings, line: Line | None = None, archive: Archive = OF_TABLES
    ) -> Self:
        """A log over an open connection; `line` tells it when the connection breaks, which spares time-outs."""
        mailbox = await Mailbox.open(client)
        if line is not None:
            line.when_lost(mailbox.lost)
        return cls(client, mailbox, settings, archive)

    async def close(self) -> None:
        """Leaves the connection as it was; appends under way end in doubt."""
        await self._mailbox.close()

    async def append(self, room: str, table: str, service: str, fact: str, data: bytes, expected: int) -> int:
        """Stores one commit and gives its sequence."""
        subject, guard = subjects.guarded(room, table, service, fact, self.archive.roots)
        if len(data) > COMMIT_BYTES_MAX:
            raise Refused(f"a commit of {len(data)} bytes is larger than {COMMIT_BYTES_MAX}")
        headers = carrying({
            "Nats-Expected-Stream": self.archive.log,
            "Nats-Expected-Last-Subject-Sequence": str(expected),
            "Nats-Expected-Last-Subject-Sequence-Subject": guard,
        })  # fmt: skip
        try:
            sequence = await self._appended(subject, data, headers)
        except (Refused, InDoubt) as error:
            self.appends.failed(str(error), asyncio.get_running_loop().time())
            raise
        except Conflict:
            self.appends.worked()
            raise
        self.appends.worked()
        return sequence

    async def _appended(self, subject: str, data: bytes, headers: dict[str, str]) -> int:
        began = asyncio.get_running_loop().time()
        try:
            answer = await self._mailbox.ask(subject, data, self._append_s, headers)
        except NotSent as error:
            raise Refused(str(error)) from error
        except NobodyThere as error:
            await self._appending.tried(began, str(error))
            raise Refused(str(error)) from error
        except NoAnswer as error:
            await self._appending.tried(began, str(error))
            raise InDoubt(str(error)) from error
        try:
            sequence = answers.acknowledged(answer.data)
        except (InDoubt, answers.Contested) as error:
            await self._appending.tried(began, str(error))
            raise
        except (Conflict, Refused):
            self._appending.rewarded()
            raise
        self._appending.rewarded()
        return sequence

    async def tail(self, room: str, table: str) -> Stored | None:
        """The last message of a table."""
        return await self._from_leader({"last_by_subj": self._pattern(room, table)})

    async def last_of(self, room: str, table: str, service: str, fact: str) -> Stored | None:
        """The last commit of one kind."""
        return await self._from_leader({"last_by_subj": self._subject(room, table, service, fact)})

    async def last_of_each(self, room: str, tables: Sequence[str], service: str, fact: str) -> list[Stored]:
        """The last commit of one kind of each of these tables that has one, as a replica knows it."""
        found: list[Stored] = []
        for chosen in batched(tables, TABLES_ASKED_MAX):
            wanted = [self._subject(room, table, service, fact) for table in chosen]
            batch = await self._batch({"multi_last": wanted})
            if answers.broke_off(batch):  # at a damaged message: the others can still be read
                one_by_one = [await self._from_leader({"last_by_subj": subject}) for subject in wanted]
                found += [stored for stored in one_by_one if stored is not None]
            else:
                found += answers.batch_in(batch)[0]
        return found

    async def next_of(self, room: str, table: str, service: str, fact: str, sequence: int) -> Stored | None:
        """The first commit of one kind at or after `sequence`."""
        return await self._next(self._subject(room, table, service, fact), sequence)

    async def before(self, room: str, table: str, sequence: int) -> Stored | None:
        """The last message of a table before `sequence`."""
        pattern = self._pattern(room, table)
        if sequence <= 1:
            return None  # the server takes `up_to_seq` 0 for no limit
        batch = await self._batch({"multi_last": [pattern], "up_to_seq": sequence - 1})
        found = max(answers.batch_in(batch)[0], key=lambda message: message.sequence, default=None)
        if self._is_whole(batch):
            return found
        # A replica that lags may not have the last ones yet: the leader has.
        while later := await self._next(pattern, found.sequence + 1 if found else 1):
            if later.sequence >= sequence:
                break
            found = later
        return found

    async def first(self, room: str, table: str, sequence: int = 1) -> Stored | None:
        """The first message of a table at or after `sequence`."""
        return await self._next(self._pattern(room, table), sequence)

    async def room_tail(self, room: str) -> Stored | None:
        """The last message of a room."""
        return await self._from_leader({"last_by_subj": subjects.room_pattern(room, self.archive.roots)})

    async def heads(self, room: str, table: str = ANY) -> dict[str, Heads]:
        """The last head that each service published, of one table or of every table of the room that has any."""
        published = Published(self._mailbox, self._settings, self.archive)
        return await published.of([table] if table != ANY else await published.tables(room), room)

    async def leave_head(self, service: str, room: str, table: str, head: bytes) -> None:
        """Publishes a service's head of a table and waits until it is kept, or cannot be."""
        await Published(self._mailbox, self._settings, self.archive).leave(
            subjects.heads(service, room, table, self.archive.roots), head
        )

    def read(self, room: str, table: str, after: int = 0) -> AsyncIterator[Stored]:
        """Every message of a table after sequence `after`."""
        return self._read(self._pattern(room, table), after)

    def read_room(self, room: str, after: int = 0) -> AsyncIterator[Stored]:
        """Every message of a room after sequence `after`."""
        return self._read(subjects.room_pattern(room, self.archive.roots), after)

    async def check_streams(self) -> None:
        """Compares the streams with what they must be. Raises `StreamDiffers` or `Unavailable`."""
        try:
            context = self._client.jetstream(prefix=self._settings.api_prefix)
            await streams.check(context, self._settings.replicas, (self.archive.log, self.archive.heads))
        except nats.errors.Error as error:
            raise Unavailable(f"the server does not say how the streams are: {error!r}") from error
        self._one_replica = self._settings.replicas == 1

    async def server_time(self) -> datetime:
        """The server's clock, as of its answer. Raises `Unavailable`.

        Asked every second it finds out too whether this server still knows a leader of the log, and leaves it if not.
        """
        began = asyncio.get_running_loop().time()
        try:
            answer = (await self._asked(self._about, b"")).data
            found = answers.time_in(answer)
            self.size = answers.size_in(answer)
        except Unavailable as error:
            await self._led.tried(began, str(error))
            raise
        if answers.is_led(answer):
            self._led.rewarded()
        else:
            await self._led.tried(began, "the log has no leader")
        return found

    async def tables(self, room: str) -> list[str]:
        """The tables of a room, sorted."""
        return sorted(await self.sizes(room))

    async def sizes(self, room: str, table: str = ANY) -> dict[str, int]:
        """How many messages each table of a room has, or one of them."""
        roots, found, offset = self.archive.roots, Counter[str](), 0
        pattern = subjects.room_pattern(room, roots) if table == ANY else self._pattern(room, table)
        while True:
            body = _encode({"subjects_filter": pattern, "offset": offset})
            page, total = answers.subjects_in((await self._asked(self._about, body)).data, self.archive.log)
            for subject, messages in page.items():
                if address := subjects.read_commit(subject, roots):
                    found[address.table] += messages
            offset += len(page)
            if not page or offset >= total:
                return dict(found)

    async def follow(
        self,
        room: str,
        deliver: Callable[[Stored], None],
        *,
        service: str = ANY,
        fact: str = ANY,
        queue: str = "",
    ) -> Subscribed:
        """Calls `deliver` with each commit once it is stored."""
        subject = subjects.fact_pattern(room, ANY, service, fact, self.archive.roots)
        subscribed = await Subscribed.to(
            self._client, subject, lambda message: deliver(answers.sent_on(message)), queue
        )
        await settle(self._client)  # facts count from here
        return subscribed

    async def _read(self, pattern: str, after: int) -> AsyncIterator[Stored]:
        while True:
            more, whole = True, False
            while more:
                answer = await self._batch({
                    "seq": after + 1,
                    "next_by_subj": pattern,
                    "batch": self._settings.batch_messages_max,
                    "max_bytes": self._settings.batch_bytes_max,
                })  # fmt: skip
                batch, more = answers.batch_in(answer)
                whole = self._is_whole(answer)
                for message in batch:
                    yield message
                    await asyncio.sleep(0)  # who reads may compute for long: pings are answered meanwhile
                after = batch[-1].sequence if batch else after
            if whole:
                return
            late = await self._next(pattern, after + 1)
            if late is None:
                return
            yield late
            after = late.sequence

    def _subject(self, room: str, table: str, service: str, fact: str) -> str:
        return subjects.guarded(room, table, service, fact, self.archive.roots).subject

    def _pattern(self, room: str, table: str) -> str:
        return subjects.table_pattern(room, table, self.archive.roots)

    async def _next(self, pattern: str, sequence: int) -> Stored | None:
        return await self._from_leader({"seq": max(sequence, 1), "next_by_subj": pattern})

    async def _from_leader(self, request: dict[str, str | int]) -> Stored | None:
        return answers.message_in((await self._asked(self._get, _encode(request))).data)

    def _is_whole(self, batch: list[Msg]) -> bool:
        """Whether nothing can be missing in a batch: no other replica has more, and it ended at no damaged message."""
        return self._one_replica and not answers.broke_off(batch)

    async def _from_replica(self, request: Mapping[str, str | int | list[str]]) -> tuple[list[Stored], bool]:
        """One batch, and whether the replica has more after it."""
        return answers.batch_in(await self._batch(request))

    async def _batch(self, request: Mapping[str, str | int | list[str]]) -> list[Msg]:
        try:
            return await self._mailbox.ask_all(self._direct, _encode(request), self._read_s, answers.ends)
        except (NotSent, NobodyThere, NoAnswer) as error:
            raise Unavailable(str(error)) from error

    async def _asked(self, subject: str, body: bytes) -> Msg:
        try:
            return await self._mailbox.ask(subject, body, self._read_s)
        except (NotSent, NobodyThere, NoAnswer) as error:
            raise Unavailable(str(error)) from error
