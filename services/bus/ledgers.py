"""The ledgers of the house for the one service that keeps them: a second log and a second fold on its connection."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

from contracts.ledger import HOUSE, LedgerCommit
from services.aggregate.ledger import Ledger
from services.bus.aggregates import LEDGERS
from services.bus.application import Service
from services.bus.archives import OF_LEDGERS
from services.bus.auditing import Audit
from services.bus.background import begun, going_on
from services.bus.follower import Follower
from services.bus.jetstream import JetStreamLog
from services.bus.loop import AUDIT_S

type LedgerFollower = Follower[Ledger, LedgerCommit]


@contextlib.asynccontextmanager
async def ledgers_of(service: Service) -> AsyncIterator[tuple[LedgerFollower, JetStreamLog]]:
    """Fold and log of the ledgers while a service is up, compared with the log as the tables' are.

    Raises `StreamDiffers` or `Unavailable`, and RuntimeError for a service that is not connected.
    """
    process, client, line = service.process, service.client, service.line
    if client is None or line is None:
        message = f"{service.user} is not connected"
        raise RuntimeError(message)
    log = await JetStreamLog.open(client, process.settings, line, OF_LEDGERS)
    await log.check_streams()
    follower = Follower(LEDGERS, log, (HOUSE,), process.clock, process.metrics.heard(LEDGERS.name))
    await follower.start()
    line.when_back(follower.doubt)
    process.beside.append(follower)
    auditing = begun(_audit(service, follower, log), "audit", service=service.user)
    try:
        yield follower, log
    finally:
        auditing.cancel()
        process.beside.remove(follower)
        await follower.stop()
        await log.close()


async def _audit(service: Service, follower: LedgerFollower, log: JetStreamLog) -> None:
    process = service.process
    audit = Audit(follower, log, process.clock, process.seldom, process.end)
    while True:
        await asyncio.sleep(AUDIT_S)
        with going_on("audit", service=service.user):
            await audit.once()
