"""The heads that services left in a stream of their own: by them a log that went back is found out (DESIGN 1).

They are read by batches of many tables: a room of 10,000 tables is asked about in some dozens of requests.
"""

from collections.abc import Iterable, Sequence
from itertools import batched
from typing import Final

import msgspec
import structlog

from contracts import subjects
from contracts.codec import decode
from contracts.commit import Head
from services.bus import answers
from services.bus.archives import Archive
from services.bus.log import Heads, Stored, Unavailable
from services.bus.mailbox import Mailbox, NoAnswer, NobodyThere, NotSent
from services.bus.placed import placed
from services.bus.settings import Settings

TABLES_ASKED_MAX: Final = 200
"""So many tables at a time: the server gives the last messages of 1,024 subjects at most."""

logger: Final = structlog.get_logger(__name__)
_encode: Final = msgspec.json.Encoder().encode


class Published:
    """Reads the stream of heads. Every method that reads raises `Unavailable`."""

    def __init__(self, mailbox: Mailbox, settings: Settings, archive: Archive) -> None:
        self._mailbox = mailbox
        self._archive = archive
        self._read_s = settings.read_timeout_ms / 1000
        self._prefix = settings.api_prefix

    async def tables(self, room: str) -> list[str]:
        """The tables of a room that have a head."""
        pattern, found, offset = subjects.heads_pattern(room, roots=self._archive.roots), set[str](), 0
        while True:
            body = _encode({"subjects_filter": pattern, "offset": offset})
            names, total = answers.subjects_in(await self._asked("STREAM.INFO", body), self._archive.heads)
            found.update(table for table in map(self._table_of, names) if table is not None)
            offset += len(names)
            if not names or offset >= total:
                return sorted(found)

    async def of(self, tables: Iterable[str], room: str) -> dict[str, Heads]:
        """The last head of each service, for each of these tables that has one."""
        found: dict[str, Heads] = {}
        for chosen in batched(tables, TABLES_ASKED_MAX):
            for stored in await self._last(room, chosen):
                table = self._table_of(stored.subject)
                head = _head(stored)
                if table is not None and head is not None:
                    found.setdefault(table, {})[head.n] = head.hash
        return found

    async def leave(self, subject: str, head: bytes) -> None:
        """Publishes a head, and waits for the answer; without one it is not known by others, which the log tells."""
        try:
            await self._mailbox.ask(subject, head, self._read_s, {"Nats-Expected-Stream": self._archive.heads})
        except (NotSent, NobodyThere, NoAnswer) as error:
            logger.warning("head_not_left", subject=subject, **placed(subject), reason=str(error))

    async def _last(self, room: str, tables: Sequence[str]) -> list[Stored]:
        body = _encode({"multi_last": [subjects.heads_pattern(room, table, self._archive.roots) for table in tables]})
        try:
            asked = f"{self._prefix}.DIRECT.GET.{self._archive.heads}"
            batch = await self._mailbox.ask_all(asked, body, self._read_s, answers.ends)
        except (NotSent, NobodyThere, NoAnswer) as error:
            raise Unavailable(str(error)) from error
        if answers.broke_off(batch):
            return await self._one_by_one(room, tables)
        return answers.batch_in(batch)[0]

    async def _one_by_one(self, room: str, tables: Sequence[str]) -> list[Stored]:
        """The same where a damaged message ends the batch: the others can still be read."""
        archive = self._archive
        names = [
            subjects.heads(service, room, table, archive.roots) for table in tables for service in archive.services
        ]
        found = [
            answers.message_in(await self._asked("STREAM.MSG.GET", _encode({"last_by_subj": name}))) for name in names
        ]
        return [stored for stored in found if stored is not None]

    def _table_of(self, subject: str) -> str | None:
        return subjects.read_heads(subject, self._archive.roots)

    async def _asked(self, request: str, body: bytes) -> bytes:
        try:
            return (await self._mailbox.ask(f"{self._prefix}.{request}.{self._archive.heads}", body, self._read_s)).data
        except (NotSent, NobodyThere, NoAnswer) as error:
            raise Unavailable(str(error)) from error


def _head(stored: Stored) -> Head | None:
    try:
        return decode(stored.data, Head)
    except msgspec.MsgspecError as error:
        logger.warning("head_unreadable", subject=stored.subject, **placed(stored.subject), reason=str(error))
        return None
