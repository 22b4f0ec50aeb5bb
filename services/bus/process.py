"""What the services of one process share: settings, clock, the fold of the rooms' tables, and how it is."""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

import structlog

from services.bus.aggregates import TABLES
from services.bus.auditing import Audit
from services.bus.background import begun, going_on
from services.bus.clock import Clock, utc_now
from services.bus.door import Door, Live
from services.bus.faults import ProcessEnded
from services.bus.follower import Follower, TableFollower
from services.bus.gauges import Gauges
from services.bus.health import Health
from services.bus.jetstream import JetStreamLog
from services.bus.log import Unavailable
from services.bus.logging import Seldom
from services.bus.loop import AUDIT_S
from services.bus.metrics import Metrics, ServiceMetrics
from services.bus.schema_page import pages
from services.bus.settings import Settings
from services.bus.telling import Telling
from services.bus.tracing import tracing_of

logger: Final = structlog.get_logger(__name__)

AUDIT_AGE_S_MAX: Final = 5.0
"""A fold that was last compared with the log longer ago than this may have missed something."""
CLOCK_RETRY_S: Final = 1.0
CLOCK_DOUBTS_MAX: Final = 3
"""After so many doubtful audits in a row a process ends: as long as it listens it is handed its share of the work."""


class Process:
    """One process; its services add themselves to `doubts` and share the rest."""

    def __init__(self, settings: Settings, clock: Clock | None = None) -> None:
        self.settings = settings
        self.clock = clock or Clock(utc_now, time.monotonic)
        self.seldom = Seldom()
        self.metrics = Metrics()
        self.gauges = Gauges(self, self.metrics.waiting)
        self.metrics.registry.register(self.gauges)
        self.tracing = tracing_of(settings)
        self.follower: TableFollower | None = None
        self.beside: list[Follower[Any, Any]] = []
        """Folds of other aggregates, which single services keep."""
        self.services: list[str] = []
        self.logless: set[str] = set()
        """Those of them that read no log, so that neither a fold nor a clock of theirs can be wrong."""
        self.doubts: list[Callable[[], dict[str, str]]] = []
        """Each says why a service is not ready: a sentence for each part of it that is not as it must be."""
        self.fault: str | None = None
        """Why the process has nothing left to do, though nobody stopped it."""
        self._ended: list[Callable[[str], None]] = []
        self._starting = asyncio.Lock()
        self._logs: list[JetStreamLog] = []
        self._watching: tuple[asyncio.Task[object], ...] = ()
        self._opened = False

    def measures(self, service: str) -> ServiceMetrics:
        """What one of the services tells of its work: it is counted, and logged if everything is."""
        if self.settings.log_level == "debug":
            return Telling(service, self.metrics, self._named)
        return self.metrics.of(service)

    def _named(self, room: str, name: str) -> dict[str, str | int]:
        followers = (*((self.follower,) if self.follower is not None else ()), *self.beside)
        known = [follower for follower in followers if room in follower.rooms]
        return known[0].named((room, name)) if known else {}

    def when_ended(self, tell: Callable[[str], None]) -> None:
        """Calls `tell` with the reason when the process has nothing left to do."""
        self._ended.append(tell)

    def end(self, fault: str) -> None:
        """Says that the process can do nothing more: whoever supervises it starts it anew."""
        if self.fault is None:
            self.fault = fault
            logger.critical("process_ends", reason=fault)
            for tell in self._ended:
                tell(fault)

    @contextlib.asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """Answers probes from the first service's start to its end, where the settings say at which port; sends traces.

        Raises OSError where the port is taken.
        """
        if self._opened:
            yield
            return
        self._opened = True
        try:
            async with contextlib.AsyncExitStack() as stack:
                stack.push_async_callback(self.tracing.close)
                if self.settings.http_port is not None:
                    door = Door(self.live, self.ready, {"/metrics": self.metrics.page, **pages(self.services)})
                    await stack.enter_async_context(door.at(self.settings.http_host, self.settings.http_port))
                yield
        finally:
            self._opened = False

    def live(self) -> Live:
        """Whether the process can still get well by itself."""
        return Live(self.fault is None, self.fault or "")

    @property
    def reads_logs(self) -> bool:
        """Whether any of its services does."""
        return not self.logless.issuperset(self.services)

    def ready(self) -> Health:
        """Whether the process does its work, and if not, why."""
        reasons = {part: reason for tell in self.doubts for part, reason in tell().items()}
        if self.fault is not None:
            reasons["process"] = self.fault
        if self.reads_logs:
            doubts = {"clock": self.clock.doubt(), "fold": self._fold_doubt()}
            reasons |= {part: doubt for part, doubt in doubts.items() if doubt is not None}
        replicas = list(self.follower.replicas.values()) if self.follower is not None else []
        beside = [each for follower in self.beside for each in follower.replicas.values()]
        return Health(
            ready=not reasons,
            reasons=reasons,
            services=self.services,
            tables=len(replicas),
            halted={each.state.id: each.halted for each in (*replicas, *beside) if each.halted is not None},
        )

    def _fold_doubt(self) -> str | None:
        if self.follower is None:
            return "the log has not been read yet"
        age_s = asyncio.get_running_loop().time() - self.follower.audited_s
        if age_s > AUDIT_AGE_S_MAX:
            return f"the tables were last compared with the log {age_s:.0f} s ago"
        return None

    async def join(self, log: JetStreamLog, told_to_end: Callable[[], bool] = lambda: False) -> TableFollower:
        """The fold, started by the first service that needs it, once the clock can be trusted.

        Raises `Unavailable`, or `ProcessEnded` when it was told to end before that.
        """
        async with self._starting:
            if self.follower is None:
                await self._trust_clock(log, told_to_end)
                follower = Follower(TABLES, log, self.settings.rooms, self.clock, self.metrics.heard(TABLES.name))
                await follower.start()
                self.follower = follower
                self._watching = (
                    begun(self._audit(log, follower), "audit"),
                    begun(self._attend(log), "attend"),
                )
            self._logs.append(log)
            return self.follower

    async def leave(self, log: JetStreamLog | None) -> None:
        """Stops the fold when its last service has gone."""
        self._logs = [each for each in self._logs if each is not log]
        if not self._logs and self.follower is not None:
            for task in self._watching:
                task.cancel()
            await self.follower.stop()
            self.follower = None

    async def _trust_clock(self, log: JetStreamLog, told_to_end: Callable[[], bool]) -> None:
        """Waits until the clock agrees with the server's: with a wrong one, every hand would be dated wrongly."""
        told = False
        while True:
            self.clock.observe(await log.server_time())
            doubt = self.clock.doubt()
            if doubt is None:
                return
            if not told:
                logger.error("clock_not_trusted", reason=doubt)
                told = True
            await asyncio.sleep(CLOCK_RETRY_S)
            if told_to_end():
                raise ProcessEnded(f"told to end before the clock was right: {doubt}")

    async def _attend(self, log: JetStreamLog) -> None:
        """Has the other services' connections find out in time that their server has no leader (`server_time`)."""

        async def ask(other: JetStreamLog) -> None:
            with contextlib.suppress(Unavailable):
                await other.server_time()

        while True:
            await asyncio.sleep(AUDIT_S)
            with going_on("attend"):
                await asyncio.gather(*(ask(each) for each in self._logs if each is not log))

    async def _audit(self, log: JetStreamLog, follower: TableFollower) -> None:
        audit, doubts = Audit(follower, log, self.clock, self.seldom, self.end), 0
        while True:
            await asyncio.sleep(AUDIT_S)
            with going_on("audit"):
                await audit.once()
            doubt = self.clock.doubt()
            doubts = doubts + 1 if doubt is not None else 0
            if doubts == 1:
                logger.error("clock_not_trusted", reason=doubt)
            if doubts == CLOCK_DOUBTS_MAX:
                self.end(f"the clock is not trusted: {doubt}")
