"""The views service: sends every commit on to the public, without what it hides, and answers for the whole."""

import contextlib
import os
from collections.abc import AsyncIterator

import msgspec

from contracts.codec import encode
from contracts.commit import Commit
from contracts.data import Sha256
from contracts.subjects import QuerySubject
from contracts.subjects import public_view as view_subject
from services.bus.application import Service, unknown_table
from services.bus.picked import Picked
from services.bus.process import Process
from services.bus.replica import TableReplica
from services.bus.settings import Settings
from services.views.opened import Opened
from services.views.public import public_table, public_view


def build(process: Process) -> Service:
    """The service, ready to run in `process`."""
    service = Service("views", process)

    opened = Opened()

    def show(replica: TableReplica, commit: Commit, head: Sha256) -> None:
        view = public_view(replica.state.room, commit, head, opened.by(replica, commit))
        service.publish(view_subject(*replica.key), encode(view))

    @contextlib.asynccontextmanager
    async def showing() -> AsyncIterator[None]:
        follower, log = service.connected()
        follower.watchers.append(opened.note)  # before the view of the same commit is sent
        picked = Picked(follower, log, "views", show, service.tracer)
        await picked.start()
        yield
        await picked.stop()
        follower.watchers.remove(opened.note)

    async def table(asked: QuerySubject, body: bytes) -> msgspec.Struct:
        follower, _ = service.connected()
        known = follower.replicas.get((asked.room, asked.table))
        picture = public_table(known.state) if known is not None else None
        return picture if picture is not None else unknown_table(asked)

    service.during(showing)
    service.query("table", table)
    return service


app = build(Process(Settings.from_environment(os.environ))).app
