"""`croupier serve`: runs services until SIGTERM, over a server of its own where none is named."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Final

import msgspec
import structlog

from services.bus import logging
from services.bus.application import Service
from services.bus.connection import Line, connect
from services.bus.credentials import Credentials
from services.bus.faults import ProcessEnded, exit_code, sentence
from services.bus.process import Process
from services.bus.server import FREE_PORT, USUAL_PORT, EmbeddedServer
from services.bus.server_health import health
from services.bus.settings import Settings
from services.bus.streams import ensure
from services.command_line.numbers import Whole

logger: Final = structlog.get_logger(__name__)

SERVICES: Final = ("table", "dealer", "rake", "settlement", "cashier", "views", "replay")
"""What is meant by `all`."""
DEPLOYED: Final = ("doorman",)
"""Services that a deployed house has besides: a server of one's own knows everybody by a password."""
DEPLOY_PREFIX: Final = "$JS.API"
KEYS_NAME: Final = "master-keys.json"
"""The dealer makes it when it first serves, and not before the log is there."""

_OF_ONES_OWN: Final = (
    "--port, --lazy-sync and --new-log are of a server of one's own, and there is none beside another one's address; "
    "`croupier streams --new-log` begins a new log there"
)

type Build = Callable[[Process], Service]


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """The services meant by these names, `all` among them. Raises ValueError for an unknown one."""
    known = (*SERVICES, *DEPLOYED)
    unknown = [name for name in names if name not in {*known, "all"}]
    if unknown or not names:
        raise ValueError(f"a service is one of {', '.join(known)} or all, not {', '.join(unknown) or 'nothing'}")
    named = [each for name in names for each in (SERVICES if name == "all" else (name,))]
    return tuple(dict.fromkeys(named))


def build_of(name: str) -> Build:
    """The function that wires a service; it is imported only where it is run."""
    build: Build = import_module(f"services.{name}.app").build
    return build


async def make_streams(
    settings: Settings,
    *,
    new_log: bool = False,
    over: Sequence[str] = (),
    known: Sequence[str] = (),
    own: bool = False,
) -> None:
    """Creates the streams, or checks those that exist, as the deploy role; see `ensure`.

    A server of one's `own` is not asked how it is: its disk has no key, and `known` tells of what was there.
    Raises `StreamDiffers`, OSError or ConnectionError.
    """
    line = Line("deploy")
    client = await connect(settings, Credentials.read(settings.credentials_file), line)
    try:
        context = client.jetstream(prefix=DEPLOY_PREFIX)
        asked = None if own else partial(health, client, settings.replicas)
        await ensure(context, settings.replicas, new_log=new_log, over=over, known=known, health=asked)
    finally:
        line.ending = True
        await client.close()


@contextlib.asynccontextmanager
async def room(
    settings: Settings,
    names: Sequence[str],
    builds: dict[str, Build] | None = None,
    ended: Callable[[str], None] = lambda _: None,
    first_port: int = FREE_PORT,
    *,
    new_log: bool = False,
) -> AsyncIterator[Settings]:
    """Runs services in this process, over an embedded server if the settings name none; gives the settings in force.

    `builds` replaces the wiring of single services, for tests and conformance. `ended` is told why when the process
    has nothing left to do. `first_port` is where a new server of one's own listens if it can. Raises `StreamDiffers`
    where its log is lost, unless a `new_log` is wanted.
    """
    async with contextlib.AsyncExitStack() as stack:
        if settings.nats_url is None:
            server = EmbeddedServer(
                settings.data_path,
                sync_always=not settings.lazy_sync,
                port=settings.listen_port or FREE_PORT,
                first_port=first_port,
            )
            await stack.enter_async_context(server)
            settings = msgspec.structs.replace(
                settings, nats_url=server.url, credentials_path=server.directory / "credentials.json"
            )
            await make_streams(settings, new_log=new_log, known=_served_before(server.directory), own=True)
        process = Process(settings)
        process.when_ended(ended)
        services = [((builds or {}).get(name) or build_of(name))(process) for name in names]
        for service in services:
            await stack.enter_async_context(service.up())
        yield settings


def _served_before(folder: Path) -> list[str]:
    """What tells that a log was served from a folder, though all of its streams may be gone."""
    keys = folder / KEYS_NAME
    return [f"{keys} holds the keys of its decks"] if keys.exists() else []


def serve(  # noqa: PLR0913 - each is an option of the command
    *names: str,
    nats: str | None = None,
    credentials: Path | None = None,
    data: Path | None = None,
    port: Whole | None = None,
    rooms: str | None = None,
    lazy_sync: bool = False,
    nudges: bool = True,
    http: Whole | None = None,
    new_log: bool = False,
) -> int:
    """Runs services (table, dealer, rake, settlement, cashier, views, replay, or all; doorman) until SIGTERM.

    Parameters
    ----------
    names
        The services to run in this process.
    nats
        The server's URL; without it a server is started on the data folder and stopped with this process.
    credentials
        The file with the passwords; without it `credentials.json` in the data folder.
    data
        Where a server of one's own keeps everything.
    port
        Where a server of one's own listens; without it where it did before, at first on 4222 if that is free.
    rooms
        The rooms to serve, with commas between them.
    lazy_sync
        A server of one's own acknowledges before its disk has the commit.
    nudges
        With `--no-nudges` nothing but the sweep starts work.
    http
        The port at which probes find `/live` and `/ready`, and Prometheus `/metrics`.
    new_log
        A server of one's own begins a new log, though there was another that is not to be found.
    """
    given = {
        "nats_url": nats,
        "credentials_path": credentials,
        "data_path": data,
        "listen_port": port,
        "rooms": tuple(rooms.split(",")) if rooms else None,
        "lazy_sync": lazy_sync or None,
        "nudges": None if nudges else False,
        "http_port": http,
    }
    services = chosen(names)
    try:
        settings = settings_of(given)
    except (ValueError, msgspec.ValidationError) as error:
        return cannot_serve(error)
    if settings.nats_url is not None and (port is not None or lazy_sync or new_log):
        return cannot_serve(ValueError(_OF_ONES_OWN))
    return run_or_say(serve_until_stopped(settings, services, new_log=new_log))


def settings_of(given: Mapping[str, object]) -> Settings:
    """The settings of the environment, and over them the options that were given; what is logged follows them.

    Raises ValueError or `msgspec.ValidationError` for settings that can never work.
    """
    logging.configure(Settings())
    settings = Settings.from_environment(os.environ)
    settings = msgspec.structs.replace(settings, **{name: value for name, value in given.items() if value is not None})
    logging.configure(settings)
    return settings


def run_or_say(work: Coroutine[None, None, None]) -> int:
    """Runs work and gives the exit code: what an operator can mend is said to the log in one line, else raised."""
    try:
        run(work)
    except Exception as error:  # noqa: BLE001 - what has no sentence is raised again
        return cannot_serve(error)
    return 0


def cannot_serve(error: Exception) -> int:
    """Says to the log what an operator can mend, and gives the exit code; anything else is raised again."""
    said = sentence(error)
    if said is None:
        raise error
    logger.critical("cannot_serve", reason=said)
    return exit_code(error)


def run(work: Coroutine[None, None, None]) -> None:
    """Runs asynchronous work on the fastest event loop there is here."""
    if sys.platform == "win32":
        asyncio.run(work)
    else:
        import uvloop

        uvloop.run(work)


async def serve_until_stopped(settings: Settings, names: Sequence[str], *, new_log: bool = False) -> None:
    """Runs services until SIGTERM or SIGINT, then finishes the work in hand.

    Raises `ProcessEnded` when there is nothing left to do: whoever supervises the process starts it anew.
    """
    loop = asyncio.get_running_loop()
    over: asyncio.Future[str] = loop.create_future()

    def end(reason: str = "") -> None:
        if not over.done():
            over.set_result(reason)

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    started = asyncio.Event()
    serving = asyncio.ensure_future(_serve(settings, names, over, started, end, new_log=new_log))
    await asyncio.wait((serving, over), return_when=asyncio.FIRST_COMPLETED)
    if not started.is_set() and not serving.done():  # a start may take for ever, while the clock is wrong
        serving.cancel()
        await asyncio.wait((serving,))
        if serving.cancelled():
            logger.warning("stopped_before_serving", services=list(names))
            return
    await serving
    if over.result():
        raise ProcessEnded(over.result())


async def _serve(
    settings: Settings,
    names: Sequence[str],
    over: asyncio.Future[str],
    started: asyncio.Event,
    end: Callable[[str], None],
    *,
    new_log: bool,
) -> None:
    async with room(settings, names, ended=end, first_port=USUAL_PORT, new_log=new_log) as running:
        started.set()
        logger.info("serving", services=list(names), nats=running.nats_url, rooms=running.rooms)
        await asyncio.wait((over,))
        logger.info("stopping", services=list(names))
