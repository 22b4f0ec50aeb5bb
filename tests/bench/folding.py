"""(b) Commits a second out of a server: counted, folded, and derived again.

Counted twice: with nats-py as it comes, which is what the target is held against, and by our own reading, which spares
much of nats-py's work for each message.
"""

import tempfile
import time
from functools import partial
from itertools import count
from pathlib import Path

import msgspec
from nats.aio.client import Client

from contracts.subjects import read_commit
from services.aggregate.chain import Verdict, read_table
from services.aggregate.fold import fold
from services.aggregate.table import Table
from services.bus import reader
from services.bus.aggregates import TABLES
from services.bus.jetstream import JetStreamLog
from services.bus.settings import Settings
from services.replay.verification import Verification
from tests.bench.report import Line, compared
from tests.bench.sizes import Sizes
from tests.bench.written import ROOM, a_server, connected, log_of, played, write

COMMITS_A_TABLE = 300
BATCH = 1000
TARGET = 0.5


async def measure(sizes: Sizes) -> list[Line]:
    """Three lines, all beside batched direct gets that only count the same messages."""
    with tempfile.TemporaryDirectory(prefix="croupier-bench-") as folder:
        async with a_server(Path(folder), sync_always=False) as settings:
            async with log_of(settings) as log:
                tables = max(1, -(-sizes.commits // COMMITS_A_TABLE))
                commits = await write(log, (partial(played, number, COMMITS_A_TABLE) for number in range(tables)))
            folds: list[tuple[float, float]] = []
            quick_folds: list[tuple[float, float]] = []
            derivations: list[tuple[float, float]] = []
            async with log_of(settings, "replay") as log, connected(settings, "replay") as client:
                for _ in range(sizes.runs):
                    plainly, quickly = await _counted_plainly(client, settings, commits), await _counted(log, commits)
                    folded = await _folded(log, commits)
                    folds.append((folded, plainly))
                    quick_folds.append((folded, quickly))
                    derivations.append((await _derived(log, commits), plainly))
    notes = f"{commits} commits of {tables} tables"
    return [
        compared("b", "folded", "commits/s", folds, TARGET, notes),
        compared("b", "folded, beside our own reading", "commits/s", quick_folds, notes=notes),
        compared("b", "derived again", "commits/s", derivations, notes=notes),
    ]


async def _counted_plainly(client: Client, settings: Settings, commits: int) -> float:
    began, after, found = time.process_time(), 0, 0
    inbox = client.new_inbox()
    answers = await client.subscribe(inbox)
    more = True
    while more:
        request = {"seq": after + 1, "next_by_subj": f"table.{ROOM}.>", "batch": BATCH}
        await client.publish(f"{settings.api_prefix}.DIRECT.GET.TABLES", msgspec.json.encode(request), reply=inbox)
        batch = 0
        async for message in answers.messages:
            headers = message.headers or {}
            if "Status" in headers:
                more = int(headers.get("Nats-Num-Pending", "0")) > 0
                break
            batch, after = batch + 1, int(headers["Nats-Sequence"])
        found += batch
    await answers.unsubscribe()
    assert found == commits
    return found / (time.process_time() - began)


async def _counted(log: JetStreamLog, commits: int) -> float:
    began, after, found = time.process_time(), 0, 0
    for _ in count():
        batch, more = await log._from_replica(  # noqa: SLF001 - the bare read under every other one
            {"seq": after + 1, "next_by_subj": f"table.{ROOM}.>", "batch": 1000, "max_bytes": 4 * 1024 * 1024}
        )
        found += len(batch)
        if not more:
            break
        after = batch[-1].sequence
    assert found == commits
    return found / (time.process_time() - began)


async def _folded(log: JetStreamLog, commits: int) -> float:
    began, tables = time.process_time(), dict[str, Table]()
    async for stored in log.read_room(ROOM):
        address = read_commit(stored.subject)
        assert address is not None
        table = tables.setdefault(address.table, Table(room=ROOM, id=address.table))
        reading = read_table(table, stored.subject, stored.data)
        assert reading.verdict is Verdict.NEXT
        assert reading.commit is not None
        fold(table, reading.commit, stored.data)
    assert sum(table.n for table in tables.values()) == commits
    return commits / (time.process_time() - began)


async def _derived(log: JetStreamLog, commits: int) -> float:
    began, found = time.process_time(), 0
    for name in await log.tables(ROOM):
        verification = Verification(Table(room=ROOM, id=name))
        async for message in reader.messages(log, await reader.from_the_beginning(TABLES, log, ROOM, name)):
            assert not list(verification.take(message))
        assert not list(verification.finish())
        found += verification.commits
    assert found == commits
    return found / (time.process_time() - began)
