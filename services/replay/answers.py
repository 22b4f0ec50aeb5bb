"""What an operator who asks for a piece of a table's log gets to see (`query.log`)."""

from typing import Final

from contracts.codec import digest
from contracts.data import Id
from contracts.outcomes import Rejected
from contracts.queries import LogPage, LogQuery
from services.bus.aggregates import TABLES
from services.bus.log import Log
from services.bus.reader import NotFound, commits, from_commit, from_hand
from services.bus.reading import Unreadable

PAGE_BYTES_MAX: Final = 400_000
"""A page ends after the commit that passes this: quoted, it still fits into the server's largest message."""


async def answer(log: Log, room: Id, table: Id, query: LogQuery) -> LogPage | Rejected:
    """A page of the log, byte for byte, or why there is none. Raises `Unavailable` if the log gives no answer.

    A page holds one commit at least if there is any. Its n and head are those of its last commit.
    """
    try:
        return await _page(log, room, table, query)
    except NotFound as error:
        return Rejected(code="unknown_table" if query.hand is None else "no_hand", message=str(error))
    except Unreadable as error:
        return Rejected(code="halted", message=str(error))


async def _page(log: Log, room: Id, table: Id, query: LogQuery) -> LogPage:
    start = await (
        from_hand(log, room, table, query.hand)
        if query.hand is not None
        else from_commit(TABLES, log, room, table, query.start)
    )
    page: list[str] = []
    size, more, n, head = 0, False, start.state.n, start.state.head
    async for commit, data in commits(log, start, query.hand):
        if commit.n < query.start:
            n, head = commit.n, digest(data)
            continue
        if len(page) == query.limit or size > PAGE_BYTES_MAX:
            more = True
            break
        page.append(data.decode())
        size, n, head = size + len(data), commit.n, digest(data)
    return LogPage(room=room, table=table, commits=tuple(page), n=n, head=head, more=more)
