"""Where a command finds the room: a running server, a server of its own over a folder, or an exported file."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterable
from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from nats.aio.client import Client

from contracts import subjects
from contracts.data import Id, Sha256
from services.bus import logging
from services.bus.accounts import SERVICES
from services.bus.connection import Line, connect
from services.bus.credentials import Credentials
from services.bus.jetstream import JetStreamLog
from services.bus.log import Unavailable
from services.bus.server import EmbeddedServer, ServerFailed
from services.bus.settings import PREFIX, Settings
from services.command_line.refusals import CannotRead, WrongArgument
from services.command_line.serve import DEPLOY_PREFIX, room
from services.command_line.where import Where

READER: Final = "replay"
"""As whom logs are read."""
WHO_READS: Final = (
    "a house's folder does, and an operator's file that was made with `croupier credentials operator NAME --reads-logs`"
)
CONNECT_MS: Final = 3_000
REQUEST_S: Final = 5.0


def checked(where: Where) -> Where:
    """The same options, unless they make no sense. Raises `WrongArgument`."""
    if not subjects.is_id(where.room):
        raise WrongArgument(f"--room {where.room!r} is no name of a room: letters, digits, - and _, 40 at most")
    if where.nats is not None and where.data is not None:
        raise WrongArgument("give --nats for a running server or --data for a folder, not both")
    return where


class Opened(NamedTuple):
    """An open connection, the log behind it, and how others reach the same server."""

    log: JetStreamLog
    client: Client
    settings: Settings


@contextlib.asynccontextmanager
async def opened(where: Where) -> AsyncIterator[Opened]:
    """The room's log, for reading. Raises `CannotRead` or `WrongArgument`."""
    async with _settings(where) as settings, _log_as(settings, READER) as found:
        yield found


@contextlib.asynccontextmanager
async def owned(where: Where) -> AsyncIterator[Opened]:
    """The room's log with every right to it, as the deploy role. Raises `CannotRead` or `WrongArgument`."""
    async with _settings(where) as settings:
        whole = msgspec.structs.replace(settings, api_prefix=DEPLOY_PREFIX)
        async with _log_as(whole, "deploy") as found:
            yield found


@contextlib.asynccontextmanager
async def _log_as(settings: Settings, user: str) -> AsyncIterator[Opened]:
    async with connected(settings, user) as client:
        log = await JetStreamLog.open(client, settings)
        try:
            yield Opened(log, client, settings)
        finally:
            await log.close()


@contextlib.asynccontextmanager
async def asking(where: Where, service: str) -> AsyncIterator[tuple[Client, Id]]:
    """A connection on which the operator asks `service`, and the operator's name; over a folder the service is run too.

    Raises `CannotRead` or `WrongArgument`.
    """
    async with _settings(where, service) as settings, connected(settings, settings.operator) as client:
        yield client, settings.operator


@contextlib.asynccontextmanager
async def connected(settings: Settings, user: str) -> AsyncIterator[Client]:
    """A connection as one of the users that the credentials know. Raises `CannotRead`, or ValueError for another."""
    file, line = file_of(settings.credentials_file, user), Line(user)
    settings = msgspec.structs.replace(settings, credentials_path=file)
    try:
        credentials = Credentials.read(file)
        if user == READER and user not in credentials.users:
            raise CannotRead(f"{file} lets nobody in as {user!r}, by which logs are read: {WHO_READS}")
        client = await connect(settings, credentials, line)
    except (OSError, msgspec.MsgspecError) as error:
        raise CannotRead(f"no connection as {user!r} with the credentials in {file}: {error}") from error
    try:
        yield client
    except Unavailable as error:
        said = f"the log cannot be read now as {user!r} with the credentials in {file}: {error}"
        raise CannotRead(said if line.last_error is None else f"{said} ({line.last_error})") from error
    finally:
        line.ending = True
        await client.close()


@contextlib.asynccontextmanager
async def _settings(where: Where, service: str | None = None) -> AsyncIterator[Settings]:
    """How to connect; over a folder a server, and `service`, run as long as this is entered, unless they do already."""
    settings = _given(checked(where))
    logging.configure(settings)
    if settings.nats_url is not None:
        yield settings
        return
    folder = settings.data_path
    if folder.is_file():
        raise CannotRead(f"{folder} is a file, and no folder with a log")
    if not (folder / "jetstream").is_dir():
        raise CannotRead(f"there is no log in {folder}: name a folder with --data, or a server with --nats")
    async with contextlib.AsyncExitStack() as stack:
        refused: ServerFailed | None = None
        try:
            server = await stack.enter_async_context(EmbeddedServer(folder))
            settings = msgspec.structs.replace(settings, nats_url=server.url)
            if service is not None:
                await stack.enter_async_context(room(settings, (service,)))
        except ServerFailed as error:
            refused = error
        yield settings if refused is None else await _running_there(settings, str(refused))


async def served(where: Where) -> Settings:
    """How to reach a room that is being played: nothing is started. Raises `CannotRead` or `WrongArgument`."""
    settings = _given(checked(where))
    logging.configure(settings)
    if settings.nats_url is not None:
        return settings
    return await _running_there(settings, "nobody serves it; `croupier serve all` does, or name a server with --nats")


async def _running_there(settings: Settings, why: str) -> Settings:
    """The server that another process runs over the same folder. Raises `CannotRead`."""
    try:
        url = Credentials.read(settings.credentials_file).url
        host, _, port = url.removeprefix("nats://").rpartition(":")
        _, writer = await asyncio.open_connection(host, int(port))
    except (OSError, ValueError, msgspec.MsgspecError) as error:
        raise CannotRead(f"no server over {settings.data_path}: {why}") from error
    writer.close()
    return msgspec.structs.replace(settings, nats_url=url)


def _given(where: Where) -> Settings:
    try:
        settings = Settings.from_environment(os.environ)
    except (msgspec.MsgspecError, ValueError) as error:
        raise WrongArgument(f"the environment is not right: {error}") from error
    settings = msgspec.structs.replace(
        settings, log_level="critical", log_to="stderr", connect_timeout_ms=CONNECT_MS, rooms=(where.room,)
    )
    if where.operator is not None:
        if not subjects.is_id(where.operator):
            raise WrongArgument(f"--as {where.operator!r} is no name: letters, digits, - and _, 40 at most")
        settings = msgspec.structs.replace(settings, operator=where.operator)
    if where.credentials is not None:
        settings = msgspec.structs.replace(settings, credentials_path=where.credentials)
    if where.nats is not None:
        settings = msgspec.structs.replace(settings, nats_url=where.nats)
    elif where.data is not None:
        path = where.credentials or where.data / "credentials.json"
        settings = msgspec.structs.replace(settings, nats_url=None, data_path=where.data, credentials_path=path)
    chosen = where.operator is not None or f"{PREFIX}OPERATOR" in os.environ
    return settings if chosen else msgspec.structs.replace(settings, operator=_whose(settings))


def _whose(settings: Settings) -> Id:
    """Whose name stands in a file that lets in one person; else the usual one."""
    try:
        users = Credentials.read(settings.credentials_file).users
    except (OSError, ValueError):  # told when somebody connects with it
        return settings.operator
    people = [user for user in users if user not in SERVICES]
    return people[0] if len(people) == 1 else settings.operator


def file_of(path: Path, user: str) -> Path:
    """The file of a user's credentials, where the path may be a house's folder, or hold some parts of one."""
    if not path.is_dir():
        return path
    return path / (user if user in SERVICES else f"operators/{user}") / "credentials.json"


def table_name(text: str) -> Id:
    """A table's name as it is given. Raises `WrongArgument`."""
    if not subjects.is_id(text):
        raise WrongArgument(f"{text!r} is no name of a table: letters, digits, - and _, 40 at most")
    return text


def player_name(text: str) -> Id:
    """A player's name as it is given. Raises `WrongArgument`."""
    if not subjects.is_id(text):
        raise WrongArgument(f"--player {text!r} is no name of a player: letters, digits, - and _, 40 at most")
    return text


def heads_of(texts: Iterable[str]) -> dict[int, Sha256]:
    """Heads as they are given, `N:HASH`. Raises `WrongArgument`."""
    found: dict[int, Sha256] = {}
    for text in texts:
        n, _, known = text.partition(":")
        if not n.isdecimal() or int(n) < 1 or len(known) != 64 or set(known) - set("0123456789abcdef"):  # noqa: PLR2004
            raise WrongArgument(f"--head {text!r} is not N:HASH, a commit's number and its SHA-256 in hexadecimal")
        found[int(n)] = known
    return found
