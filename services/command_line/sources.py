"""Where a command finds the room: a running server, a server of its own over a folder, or an exported file."""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Iterable, Iterator
from pathlib import Path
from typing import Final

import msgspec
from nats.aio.client import Client

from contracts import subjects
from contracts.commit import Head
from contracts.data import Id, Sha256
from contracts.events import SERVICES
from contracts.queries import HandKey
from services.bus import logging
from services.bus.connection import Line, connect
from services.bus.credentials import Credentials
from services.bus.jetstream import JetStreamLog
from services.bus.server import EmbeddedServer, ServerFailed
from services.bus.settings import Settings
from services.bus.streams import HEADS
from services.command_line.refusals import CannotRead, WrongArgument
from services.command_line.serve import room
from services.command_line.where import Where

CONNECT_MS: Final = 3_000
REQUEST_S: Final = 5.0


def checked(where: Where) -> Where:
    """The same options, unless they make no sense. Raises `WrongArgument`."""
    if not subjects.is_id(where.room):
        raise WrongArgument(f"--room {where.room!r} is no name of a room: letters, digits, - and _, 40 at most")
    if where.nats is not None and where.data is not None:
        raise WrongArgument("give --nats for a running server or --data for a folder, not both")
    return where


class Opened:
    """An open connection as the replay service: its log, and the heads that services left."""

    def __init__(self, client: Client, log: JetStreamLog, settings: Settings) -> None:
        self.log = log
        self._client = client
        self._prefix = settings.api_prefix

    async def heads(self, room: Id, table: Id) -> dict[int, Sha256]:
        """The last head that each service published of a table. It is read before the log (DESIGN 1)."""
        found: dict[int, Sha256] = {}
        for service in SERVICES:
            request = msgspec.json.encode({"last_by_subj": subjects.heads(service, room, table)})
            answer = await self._client.request(f"{self._prefix}.STREAM.MSG.GET.{HEADS}", request, timeout=REQUEST_S)
            stored = msgspec.json.decode(answer.data, type=_Answer).message
            if stored is not None:
                head = msgspec.json.decode(stored.data, type=Head)
                found[head.n] = head.hash
        return found


class _Stored(msgspec.Struct):
    data: bytes


class _Answer(msgspec.Struct):
    message: _Stored | None = None


@contextlib.asynccontextmanager
async def opened(where: Where) -> AsyncIterator[Opened]:
    """The room's log, for reading. Raises `CannotRead` or `WrongArgument`."""
    async with _settings(where) as settings, connected(settings, "replay") as client:
        log = await JetStreamLog.open(client, settings)
        try:
            yield Opened(client, log, settings)
        finally:
            await log.close()


@contextlib.asynccontextmanager
async def asking(where: Where, user: str, service: str) -> AsyncIterator[Client]:
    """A connection on which `user` asks `service`, which is run too where no room runs over the folder.

    Raises `CannotRead` or `WrongArgument`.
    """
    async with _settings(where, service) as settings, connected(settings, user) as client:
        yield client


@contextlib.asynccontextmanager
async def connected(settings: Settings, user: str) -> AsyncIterator[Client]:
    """A connection as one of the users whose password the credentials hold. Raises `CannotRead`."""
    file, line = settings.credentials_file, Line(user)
    try:
        client = await connect(settings, Credentials.read(file), line)
    except (OSError, msgspec.MsgspecError) as error:
        raise CannotRead(f"no connection as {user!r} with the credentials in {file}: {error}") from error
    except KeyError as error:
        raise CannotRead(f"the credentials in {file} hold no password of user {user!r}") from error
    try:
        yield client
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
        yield settings if refused is None else await _running_there(settings, refused)


async def _running_there(settings: Settings, error: ServerFailed) -> Settings:
    """The server that another process runs over the same folder. Raises `CannotRead`."""
    try:
        url = Credentials.read(settings.credentials_file).url
        host, _, port = url.removeprefix("nats://").rpartition(":")
        _, writer = await asyncio.open_connection(host, int(port))
    except (OSError, ValueError, msgspec.MsgspecError):
        raise CannotRead(f"no server over {settings.data_path}: {error}") from error
    writer.close()
    return msgspec.structs.replace(settings, nats_url=url)


def _given(where: Where) -> Settings:
    try:
        settings = Settings.from_environment(os.environ)
    except (msgspec.MsgspecError, ValueError) as error:
        raise WrongArgument(f"the environment is not right: {error}") from error
    settings = msgspec.structs.replace(
        settings, log_level="error", log_to="stderr", connect_timeout_ms=CONNECT_MS, rooms=(where.room,)
    )
    if where.credentials is not None:
        settings = msgspec.structs.replace(settings, credentials_path=where.credentials)
    if where.nats is not None:
        return msgspec.structs.replace(settings, nats_url=where.nats)
    if where.data is not None:
        path = where.credentials or where.data / "credentials.json"
        return msgspec.structs.replace(settings, nats_url=None, data_path=where.data, credentials_path=path)
    return settings


def table_name(text: str) -> Id:
    """A table's name as it is given. Raises `WrongArgument`."""
    if not subjects.is_id(text):
        raise WrongArgument(f"{text!r} is no name of a table: letters, digits, - and _, 40 at most")
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


def hand_keys(paths: Iterable[Path]) -> dict[int, HandKey]:
    """The hand keys in files, one key or a list of keys each, by hand. Raises `WrongArgument` or `CannotRead`."""
    return {key.hand: key for path in paths for key in _keys_in(path)}


def _keys_in(path: Path) -> Iterator[HandKey]:
    try:
        found = msgspec.json.decode(path.read_bytes(), type=HandKey | list[HandKey])
    except OSError as error:
        raise CannotRead(f"{path}: {error.strerror}") from error
    except msgspec.MsgspecError as error:
        raise WrongArgument(f"{path} is no file of hand keys: {error}") from error
    yield from found if isinstance(found, list) else [found]
