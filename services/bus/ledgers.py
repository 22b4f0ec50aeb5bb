"""The ledgers of the house for the one service that keeps them: a second log and a second fold on its connection."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Final

import structlog

from contracts.ledger import HOUSE, LedgerCommit
from services.aggregate.ledger import Ledger
from services.bus.aggregates import LEDGERS
from services.bus.application import Service
from services.bus.archives import OF_LEDGERS
from services.bus.follower import Follower
from services.bus.jetstream import JetStreamLog
from services.bus.log import Unavailable
from services.bus.loop import AUDIT_S
from services.bus.process import STREAMS_S
from services.bus.streams import StreamDiffers

logger: Final = structlog.get_logger(__name__)

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
    auditing = asyncio.create_task(_audit(service, follower, log), name="audit-ledgers")
    try:
        yield follower, log
    finally:
        auditing.cancel()
        process.beside.remove(follower)
        await follower.stop()
        await log.close()


async def _audit(service: Service, follower: LedgerFollower, log: JetStreamLog) -> None:
    process, clock = service.process, asyncio.get_running_loop()
    checked_s = clock.time()
    while True:
        await asyncio.sleep(AUDIT_S)
        try:
            process.clock.observe(await log.server_time())  # finds out too whether this log has a leader
            await follower.audit()
            if clock.time() - checked_s >= STREAMS_S:
                await log.check_streams()
                checked_s = clock.time()
        except Unavailable as error:
            process.seldom.say(logger.warning, "log_unavailable", error=str(error))
        except StreamDiffers as error:
            process.end(f"the streams are not as they must be: {error}")
