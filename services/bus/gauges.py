"""What is looked up when a process is scraped, for it need not be counted before: gauges, and counts kept anyway."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.metadata import version
from itertools import product
from typing import Any, Final, Protocol, get_args

from nats.aio.client import Client
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from contracts.games import RULES_VERSION
from services.aggregate.chain import Stray
from services.bus import families
from services.bus.answers import Size
from services.bus.clock import Clock
from services.bus.connection import Line, certificate_of
from services.bus.families import Family
from services.bus.follower import Follower, TableFollower
from services.bus.gate import Gate
from services.bus.health import Health
from services.bus.jetstream import JetStreamLog
from services.bus.outbox import Outbox
from services.bus.stall import StallGuard

type Row = tuple[tuple[str, ...], float]
"""The labels and the value of one series."""

RELEASE: Final = version("croupier")
STRAYS: Final[tuple[str, ...]] = get_args(Stray.__value__)


class AtWork(Protocol):
    """A service, as it is looked at."""

    user: str
    gate: Gate
    guard: StallGuard
    line: Line | None
    outbox: Outbox | None
    client: Client | None

    @property
    def is_connected(self) -> bool:
        """Whether it has its connection now."""


class Whole(Protocol):
    """A process, as it is looked at."""

    clock: Clock
    follower: TableFollower | None
    beside: list[Follower[Any, Any]]

    @property
    def reads_logs(self) -> bool:
        """Whether it has a fold, and dates commits."""

    def ready(self) -> Health:
        """Whether it does its work."""


class Gauges(Collector):
    """Looks at a process and its services; `waiting` tells how many commands wait at the desk of each service."""

    def __init__(self, process: Whole, waiting: Mapping[str, Callable[[], int]]) -> None:
        self._process = process
        self._waiting = waiting
        self.services: list[AtWork] = []

    def collect(self) -> Iterator[Metric]:
        """Every family, as it is at this moment."""
        yield from _of_health(self._process.ready())
        if self._process.reads_logs:
            yield from _of_clock(self._process.clock)
        for family, value in _OF_SERVICES.items():
            yield _metric(family, [((each.user,), value(each)) for each in self.services])
        yield _metric(families.WAITING, [((each.user,), self._waiting_at(each)) for each in self.services])
        yield _metric(families.CERTIFICATE_ENDS_S, _certificates(self.services))
        yield from _of_tables(self._process.follower)
        yield from _of_logs(self._logs())

    def _waiting_at(self, service: AtWork) -> int:
        desk = self._waiting.get(service.user)
        return service.gate.waiting + (desk() if desk is not None else 0)

    def _logs(self) -> list[Follower[Any, Any]]:
        tables = self._process.follower
        return [*([tables] if tables is not None else []), *self._process.beside]


_OF_SERVICES: Final[dict[Family, Callable[[AtWork], float]]] = {
    families.CONNECTED: lambda service: service.is_connected,
    families.DISCONNECTS: lambda service: service.line.losses if service.line is not None else 0,
    families.RECONNECTS: lambda service: service.line.returns if service.line is not None else 0,
    families.STALLS: lambda service: service.guard.stalls,
    families.TURNED_AWAY: lambda service: service.gate.turned_away,
    families.DROPPED_REQUESTS: lambda service: service.gate.dropped,
    families.UNSENT: lambda service: service.outbox.dropped if service.outbox is not None else 0,
}


def _certificates(services: Iterable[AtWork]) -> Iterator[Row]:
    for each in services:
        ends = certificate_of(each.client) if each.client is not None else None
        if ends is not None:
            yield (each.user,), ends


def _of_health(health: Health) -> Iterator[Metric]:
    yield _metric(families.BUILD, [((RELEASE, str(RULES_VERSION)), 1)])
    yield _metric(families.READY, [((), health.ready)])
    yield _metric(families.NOT_READY, [((part,), 1) for part in health.reasons])


def _of_clock(clock: Clock) -> Iterator[Metric]:
    offset_s = clock.offset_s
    yield _metric(families.CLOCK_TRUSTED, [((), clock.trusted(None))])
    yield _metric(families.CLOCK_OFFSET_S, [((), offset_s)] if offset_s is not None else [])


def _of_tables(follower: TableFollower | None) -> Iterator[Metric]:
    """What is played in each room, as the fold of this process has it."""
    rooms = follower.rooms if follower is not None else ()
    tables, seated, playing = Counter[str](), Counter[str](), Counter[str]()
    for replica in list(follower.replicas.values()) if follower is not None else []:
        table = replica.state
        if table.config is not None and table.status != "closed":
            tables[table.room] += 1
            seated[table.room] += len(table.seats)
            playing[table.room] += table.hand is not None
    for family, counted in ((families.OPEN_TABLES, tables), (families.SEATED, seated), (families.IN_PROGRESS, playing)):
        yield _metric(family, [((room,), counted[room]) for room in rooms])


def _of_logs(followers: Iterable[Follower[Any, Any]]) -> Iterator[Metric]:
    """How the folds stand to their logs."""
    now = asyncio.get_running_loop().time()
    ages: list[Row] = []
    halted: list[Row] = []
    sizes: dict[str, Size] = {}
    ignored: dict[tuple[str, ...], int] = {}
    for follower in followers:
        log, replicas = follower.of.name, list(follower.replicas.values())
        if isinstance(follower.log, JetStreamLog) and follower.log.size is not None:
            sizes[log] = follower.log.size
        ages.append(((log,), now - follower.audited_s))
        halts = Counter(replica.state.room for replica in replicas if replica.halted is not None)
        halted += [((log, room), halts[room]) for room in follower.rooms]
        ignored |= dict.fromkeys(product((log,), follower.rooms, STRAYS), 0)
        for replica in replicas:
            for reason, count in replica.strays.items():
                ignored[log, replica.state.room, reason] += count
    yield _metric(families.FOLLOWER_AGE_S, ages)
    yield _metric(families.HALTED, halted)
    yield _metric(families.LOG_MESSAGES, [((log,), size.messages) for log, size in sizes.items()])
    yield _metric(families.LOG_BYTES, [((log,), size.bytes) for log, size in sizes.items()])
    yield _metric(families.IGNORED, ignored.items())


def _metric(family: Family, rows: Iterable[Row]) -> Metric:
    made = GaugeMetricFamily if family.kind == "gauge" else CounterMetricFamily
    metric = made(family.name, family.help, labels=family.labels)
    for labels, value in rows:
        metric.add_metric(labels, value)
    return metric
