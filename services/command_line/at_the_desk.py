"""The command line as one of the room's operators: a client like any other."""

import contextlib
from collections.abc import AsyncIterator

from contracts.client import Client, ClientError
from services.command_line.refusals import CannotRead
from services.command_line.sources import CONNECT_MS, file_of, served
from services.command_line.where import Where


@contextlib.asynccontextmanager
async def an_operator(where: Where) -> AsyncIterator[Client]:
    """The operator, connected to a room that is being played. Raises `CannotRead` or `WrongArgument`."""
    settings = await served(where)
    name, file = settings.operator, file_of(settings.credentials_file, settings.operator)
    try:
        client = await Client.of_file(file, "operator", name, url=settings.nats_url, within_s=CONNECT_MS / 1000)
    except (OSError, ClientError) as error:
        raise CannotRead(f"no connection as {name!r} with the credentials in {file}: {error}") from error
    async with client:
        yield client
