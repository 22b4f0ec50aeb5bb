"""The heads that services published: read for a whole room by batches, and told apart by table."""

import asyncio
import json

import pytest

from contracts.codec import encode
from contracts.commit import Head
from services.bus.connection import settle
from services.bus.jetstream import JetStreamLog
from services.bus.settings import Settings
from tests.bus.conftest import connected
from tests.servers import Server

pytestmark = pytest.mark.server


def head(n: int) -> bytes:
    return encode(Head(n=n, hash=f"{n:064x}"))


async def test_the_last_head_of_every_service_is_read_for_each_table(server: Server) -> None:
    async with connected(server, "deploy") as deploy, connected(server, "views") as client:
        context = deploy.jetstream()
        for subject, body in (
            ("heads.table.main.T1", head(1)),
            ("heads.table.main.T1", head(4)),
            ("heads.dealer.main.T1", head(5)),
            ("heads.rake.main.T2", head(7)),
            ("heads.rake.main.T2", b"junk"),
            ("heads.settlement.main.T2", head(6)),
            ("heads.table.high.T1", head(9)),
        ):
            await context.publish(subject, body)
        log = await JetStreamLog.open(client, Settings())
        both = {4: f"{4:064x}", 5: f"{5:064x}"}
        assert await log.heads("main") == {"T1": both, "T2": {6: f"{6:064x}"}}
        assert await log.heads("main", "T1") == {"T1": both}
        assert await log.heads("main", "T3") == {}


async def test_the_heads_of_more_tables_than_one_answer_holds_are_all_read(server: Server) -> None:
    tables = [f"T{number}" for number in range(1_100)]
    async with connected(server, "deploy") as deploy, connected(server, "replay") as client:
        for start in range(0, len(tables), 100):
            await asyncio.gather(
                *(
                    deploy.jetstream().publish(f"heads.table.main.{name}", head(3))
                    for name in tables[start : start + 100]
                )
            )
        found = await (await JetStreamLog.open(client, Settings())).heads("main")
        assert sorted(found) == sorted(tables)


async def test_no_reply_subject_makes_a_request_for_heads_write(server: Server) -> None:
    async with connected(server, "deploy") as deploy, connected(server, "views") as client:
        await deploy.jetstream().publish("heads.table.main.T1", head(1))
        for subject in ("log.DIRECT.GET.HEADS", "$JS.API.DIRECT.GET.HEADS"):
            for reply in ("$JS.API.STREAM.DELETE.HEADS", "log.STREAM.DELETE.HEADS", "heads.table.main.T9"):
                for wanted in ("heads.table.main.T1", "heads.table.main.T5"):
                    await client.publish(subject, json.dumps({"last_by_subj": wanted}).encode(), reply)
        await settle(client)
        state = (await deploy.jetstream().stream_info("HEADS")).state
        assert (state.messages, state.last_seq) == (1, 1)
