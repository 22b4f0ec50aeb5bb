"""A real server for the tests that want one, and connections to it as any of its users."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from nats.aio.client import Client

from services.bus import streams
from services.bus.connection import Line, connect
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings


@asynccontextmanager
async def connected(server: EmbeddedServer, user: str, line: Line | None = None) -> AsyncIterator[Client]:
    """A connection as one of the server's users."""
    client = await connect(Settings(), server.credentials, line or Line(user))
    try:
        yield client
    finally:
        await client.close()


@asynccontextmanager
async def a_server() -> AsyncIterator[EmbeddedServer]:
    """A server with all its streams."""
    async with EmbeddedServer() as server:
        async with connected(server, "deploy") as client:
            await streams.ensure(client.jetstream(), replicas=1)
        yield server


@pytest.fixture
async def server() -> AsyncIterator[EmbeddedServer]:
    async with a_server() as running:
        yield running
