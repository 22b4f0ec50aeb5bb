"""The replay service: answers operators who ask for a piece of a table's log (`query.log`)."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from typing import Final

import msgspec

from contracts.codec import decode, encode
from contracts.outcomes import Rejected
from contracts.queries import LogQuery
from contracts.subjects import QuerySubject, read_query
from services.bus.application import Process, Service
from services.bus.log import Unavailable
from services.bus.settings import Settings
from services.replay.answers import answer

ANSWERING_MAX: Final = 16
"""So many operators are answered at the same time; the next is `busy`."""


def build(process: Process) -> Service:
    """The service, ready to run in `process`."""
    service = Service("replay", process)
    answering: set[asyncio.Task[None]] = set()

    async def page(asked: QuerySubject, reply: str, query: LogQuery) -> None:
        _, log = service.connected()
        try:
            answered: msgspec.Struct = await answer(log, asked.room, asked.table, query)
        except Unavailable as error:
            answered = Rejected(code="busy", message=f"The log cannot be read now: {error}.")
        service.publish(reply, encode(answered))

    def ask(subject: str, reply: str, body: bytes) -> None:
        asked = read_query(subject)
        if asked is None:
            return
        try:
            query = decode(body, LogQuery)
        except msgspec.MsgspecError as error:
            service.publish(reply, encode(Rejected(code="malformed", message=f"The query cannot be read: {error}.")))
            return
        if len(answering) >= ANSWERING_MAX:
            service.publish(reply, encode(Rejected(code="busy", message="Ask again: too many ask at once.")))
            return
        task = asyncio.create_task(page(asked, reply, query))
        answering.add(task)
        task.add_done_callback(answering.discard)

    @contextlib.asynccontextmanager
    async def finishing() -> AsyncIterator[None]:
        yield
        if answering:
            await asyncio.wait(answering)

    service.during(finishing)
    service.answer("query.log.{room}.*.*.*", ask)
    return service


app = build(Process(Settings.from_environment(os.environ))).app
