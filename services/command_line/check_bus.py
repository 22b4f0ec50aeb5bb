"""`croupier check --bus`: the services at work over a server of their own, with a dealer that deals recorded cards."""

import asyncio
import contextlib
import tempfile
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Final

from contracts.client import Client
from contracts.data import Instant
from contracts.events import AnyEvent
from contracts.subjects import ActorKind
from services.aggregate.debts import debt
from services.aggregate.table import Table
from services.bus import logging
from services.bus.aggregates import TABLES
from services.bus.application import Service, run_loop
from services.bus.connection import Line, connect
from services.bus.credentials import Credentials
from services.bus.jetstream import JetStreamLog
from services.bus.process import Process
from services.bus.role import Role
from services.bus.settings import Settings
from services.command_line.serve import room, run
from services.conformance.findings import Report
from services.conformance.judging import check_files
from services.conformance.on_the_bus import ROOM, Bus
from services.dealer import decider as dealer
from services.dealer.app import ANSWERS
from services.rake.app import ROLE as RAKE

SERVICES: Final = ("table", "dealer", "rake", "settlement")
USERS: Final[dict[ActorKind, str]] = {"player": "players", "lobby": "lobby", "operator": "operator"}
"""Whose rights each kind of sender has."""
AT_ONCE: Final = 24
"""So many hands are in progress at the same time."""


def check_files_over_the_bus(files: Sequence[Path]) -> Report:
    """Checks the files at tables of a room that runs in this process, on a loop and a thread of its own."""
    with _running_bus() as bus:
        return check_files(files, bus.tables, at_once=AT_ONCE)


@contextlib.contextmanager
def _running_bus() -> Iterator[Bus]:
    with tempfile.TemporaryDirectory(prefix="croupier-check-") as scratch:
        settings = Settings(data_path=Path(scratch), rooms=(ROOM,), lazy_sync=True, log_level="error")
        logging.configure(settings)
        ready: Future[tuple[Bus, asyncio.Event]] = Future()
        thread = threading.Thread(target=run, args=(_serve(settings, ready),), name="bus")
        thread.start()
        try:
            yield ready.result()[0]
        finally:
            ready.add_done_callback(_end)  # Ctrl-C may come before there is a bus
            thread.join()


def _end(ready: Future[tuple[Bus, asyncio.Event]]) -> None:
    """Tells the bus that the checker is done, if it came up."""
    if ready.exception() is None:
        bus, done = ready.result()
        bus.loop.call_soon_threadsafe(done.set)


async def _serve(settings: Settings, ready: Future[tuple[Bus, asyncio.Event]]) -> None:
    """Runs the room until it is told that the checker is done; what keeps it from starting is told to the checker."""
    done = asyncio.Event()
    try:
        async with _bus(settings) as bus:
            ready.set_result((bus, done))
            await done.wait()
    except Exception as fault:
        if ready.done():
            raise
        ready.set_exception(fault)


@contextlib.asynccontextmanager
async def _bus(settings: Settings) -> AsyncIterator[Bus]:
    """The services, and the checker's connections: with the rights of the table service, and of those who send."""
    made: list[Bus] = []
    async with room(settings, SERVICES, {"dealer": _dealer(made), "rake": _rake(made)}) as running:
        line = Line("table")
        client = await connect(running, Credentials.read(running.credentials_file), line)
        log = await JetStreamLog.open(client, running, line)
        file, url = running.credentials_file, running.nats_url
        clients: dict[ActorKind, Client] = {
            kind: await Client.of_file(file, kind, user, url=url) for kind, user in USERS.items()
        }
        bus = Bus(asyncio.get_running_loop(), log, clients)
        made.append(bus)
        await bus.follow()
        try:
            yield bus
        finally:
            for sender in clients.values():
                await sender.close()
            await log.close()
            line.ending = True
            await client.close()


def _dealer(made: list[Bus]) -> Callable[[Process], Service]:
    """A dealer that has the decks of the checker's tables, and keeps nobody's cards secret."""

    def owes(table: Table, at: Instant) -> tuple[AnyEvent, ...]:
        decks = made[-1].decks.get(table.id) if made else None
        return dealer.owes(table, at, decks) if decks is not None else ()

    def build(process: Process) -> Service:
        service = Service("dealer", process)
        service.during(run_loop(service, Role(TABLES, "dealer", owes, ANSWERS)))
        return service

    return build


def _rake(made: list[Bus]) -> Callable[[Process], Service]:
    """The rake service, but for a rake that a room divided over the pots as no schedule does."""

    def owes(table: Table, at: Instant) -> tuple[AnyEvent, ...]:
        owed, raked = debt(table), made[-1].raked.get(table.id) if made else None
        instead = raked(table) if raked is not None and owed is not None and owed.service == "rake" else None
        return RAKE.owes(table, at) if instead is None else (instead,)

    def build(process: Process) -> Service:
        service = Service("rake", process)
        service.during(run_loop(service, Role(TABLES, "rake", owes, RAKE.answers)))
        return service

    return build
