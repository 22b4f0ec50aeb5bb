"""A room on disk for the commands to work on: two tables' logs, stored by a server that has stopped since."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import pytest

from contracts.codec import decode_commit, digest, encode
from contracts.commit import Head
from contracts.events import fact_of
from contracts.subjects import heads
from services.bus.connection import Line, connect
from services.bus.jetstream import JetStreamLog
from services.bus.server import EmbeddedServer
from services.bus.settings import Settings
from services.bus.streams import ensure
from tests.replay.playing import ROOM, Session, session


@pytest.fixture(scope="session")
def nlhe() -> Session:
    return session("nlhe", seed=1, hands=8)


@pytest.fixture(scope="session")
def plo8() -> Session:
    return session("plo8", seed=2, hands=5)


@pytest.fixture(scope="session")
def lo8() -> Session:
    return session("lo8", seed=3, hands=5)


@pytest.fixture(scope="session")
def room(tmp_path_factory: pytest.TempPathFactory, nlhe: Session, plo8: Session) -> Path:
    folder = tmp_path_factory.mktemp("room")
    asyncio.run(store(folder, {played.table.id: played.lines for played in (nlhe, plo8)}))
    return folder


async def store(folder: Path, logs: dict[str, list[bytes]], junk: Iterable[tuple[str, bytes]] = ()) -> None:
    """Appends whole logs as the owner of the streams, and the head of each, and last of all what is no part of them."""
    async with EmbeddedServer(folder, sync_always=False) as server:
        settings = Settings(data_path=folder, api_prefix="$JS.API")
        client = await connect(settings, server.credentials, Line("deploy"))
        await ensure(client.jetstream(), replicas=1)
        log = await JetStreamLog.open(client, settings)
        for table, lines in logs.items():
            sequence = 0
            for data in lines:
                commit = decode_commit(data)
                sequence = await log.append(ROOM, table, commit.by, fact_of(commit.events[-1]), data, sequence)
            head = Head(n=decode_commit(lines[-1]).n, hash=digest(lines[-1]))
            await client.jetstream().publish(heads("table", ROOM, table), encode(head))
        for subject, data in junk:
            await client.jetstream().publish(subject, data)  # acknowledged: a flush is no barrier
        await client.flush()
        await log.close()
        await client.close()
