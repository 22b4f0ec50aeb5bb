"""The replay service: answers operators who ask for a piece of a table's log (`query.log`)."""

import os

import msgspec

from contracts.codec import decode
from contracts.queries import LogQuery
from contracts.subjects import QuerySubject
from services.bus.application import Service
from services.bus.process import Process
from services.bus.settings import Settings
from services.replay.answers import answer


def build(process: Process) -> Service:
    """The service, ready to run in `process`."""
    service = Service("replay", process)

    async def page(asked: QuerySubject, body: bytes) -> msgspec.Struct:
        _, log = service.connected()
        return await answer(log, asked.room, asked.table, decode(body, LogQuery))

    service.query("log", page)
    return service


app = build(Process(Settings.from_environment(os.environ))).app
