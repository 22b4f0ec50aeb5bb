"""The views service: sends every commit on to the public, without what it hides, and answers for the whole."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

import msgspec
import structlog

from contracts import subjects
from contracts.codec import decode, decode_commit, encode
from contracts.commit import Commit
from contracts.data import Id, Sha256
from contracts.subjects import QuerySubject
from contracts.views import PublicView
from services.bus.application import Service, unknown_table
from services.bus.background import begun
from services.bus.log import Log, Stored, Unavailable
from services.bus.picked import Picked
from services.bus.process import Process
from services.bus.replica import TableReplica
from services.bus.settings import Settings
from services.bus.showing import Sent, Showing
from services.bus.shown import Glance, shown
from services.views.public import public_table, public_view

logger: Final = structlog.get_logger(__name__)

type Key = tuple[Id, Id]
"""Room and table."""


class Views:
    """The public views of a process: made as the commits are folded, and sent in order by whichever replica."""

    def __init__(self, showing: Showing[Key]) -> None:
        self._showing = showing
        self._epochs: dict[Key, int] = {}

    def note(self, replica: TableReplica, commit: Commit, stored: Stored) -> None:
        """Has the view of a commit that was just folded be shown by somebody.

        Where something is left out, so is the trace: by it the public could tell later whose request it was.
        """
        if self._epochs.setdefault(replica.key, replica.epoch) != replica.epoch:
            self._epochs[replica.key] = replica.epoch
            self._showing.forget(replica.key)
        view = public_view(replica.state, commit)
        trace = stored.trace if len(view.events) == len(commit.events) else ""
        self._showing.due(replica.key, commit.n, partial(_sent, view), _now(), trace=trace)

    def show(self, replica: TableReplica, commit: Commit, _: Sha256) -> None:
        """Sends the view of a commit for which this replica was picked."""
        self._showing.show(replica.key, commit.n, _now())

    async def repeat_last(self, log: Log, replicas: list[TableReplica]) -> None:
        """Has the last view of every open table be shown once more: nobody may have been there to show it."""
        for replica in replicas:
            if replica.state.status == "closed" or replica.halted is not None:
                continue
            try:
                last = await log.tail(*replica.key)
                commit = decode_commit(last.data) if last is not None else None
            except (Unavailable, msgspec.MsgspecError) as error:
                logger.warning("last_view_not_repeated", **replica.of.named(replica.state), error=str(error))
                continue
            if commit is not None and last is not None and last.sequence == replica.sequence:
                view = public_view(replica.state, commit)
                self._showing.due(replica.key, commit.n, partial(_sent, view), _now(), standing=True)


def _sent(view: PublicView) -> Sent:
    return subjects.public_view(view.room, view.table), encode(view)


def _now() -> float:
    return asyncio.get_running_loop().time()


def heard(subject: str, body: bytes) -> tuple[Key, int] | None:
    """Of which table a replica of views has shown which commit."""
    address = subjects.read_view(subject)
    return ((address.room, address.table), decode(body, Glance).n) if address is not None else None


def build(process: Process) -> Service:
    """The service, ready to run in `process`."""
    service = Service("views", process)

    @contextlib.asynccontextmanager
    async def showing() -> AsyncIterator[None]:
        follower, log = service.connected()
        async with shown(service, map(subjects.public_views, follower.rooms), heard) as all_shown:
            views = Views(all_shown)
            follower.watchers.append(views.note)  # before the picked one is told of the same commit
            picked = Picked(follower, log, "views", views.show)
            await picked.start()
            repeating = begun(views.repeat_last(log, list(follower.replicas.values())), "repeating", service="views")
            yield
            repeating.cancel()
            await picked.stop()
            follower.watchers.remove(views.note)

    async def table(asked: QuerySubject, body: bytes) -> msgspec.Struct:
        follower, _ = service.connected()
        known = follower.replicas.get((asked.room, asked.table))
        picture = public_table(known.state) if known is not None else None
        return picture if picture is not None else unknown_table(asked)

    service.during(showing)
    service.query("table", table)
    return service


app = build(Process(Settings.from_environment(os.environ))).app
