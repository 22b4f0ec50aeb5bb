"""The metrics of one process, as Prometheus reads them at `/metrics`; two processes in one interpreter never mix."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from prometheus_client.gc_collector import GCCollector
from prometheus_client.metrics_core import Metric
from prometheus_client.platform_collector import PlatformCollector
from prometheus_client.process_collector import ProcessCollector
from prometheus_client.registry import Collector

from contracts.events import Event
from contracts.events.rake import RakeTaken
from contracts.events.table import HandEnded, HandStarted, HandVoided
from contracts.outcomes import Accepted, Outcome, Rejected
from contracts.subjects import CommandSubject
from services.aggregate.debts import Debt
from services.aggregate.table import Table
from services.bus import families
from services.bus.door import Page
from services.bus.families import Family
from services.bus.measures import Appended, Heard, Measures

UNREADABLE: Final = "unreadable"
"""In place of a kind of command, of one that cannot be read."""
CURRENCIES_MAX: Final = 32
"""So many currencies have series of their own."""
OTHER: Final = "other"
DEBTS: Final = ("at_once", "deadline")
KINDS_SENT: Final = {
    "_INBOX": "answer",
    "_R_": "answer",
    "account": "account_view",
    "heads": "head",
    "ledger_heads": "head",
    "refused": "refusal",
    "ledger_refused": "refusal",
}
"""What a core message is by the first part of its subject."""
VIEW_PARTS: Final = 3
"""After the first part of a public view's subject; that of a player's view has one more."""


class Counting:
    """A counter; its series are found by their labels in one look-up, for some are counted with every commit."""

    def __init__(self, family: Family, registry: CollectorRegistry) -> None:
        self._counter = Counter(family.name, family.help, family.labels, registry=registry)
        self._series: dict[tuple[str, ...], Counter] = {}

    def add(self, *labels: str, amount: float = 1) -> None:
        """Counts once, or by an amount."""
        series = self._series.get(labels)
        if series is None:
            series = self._series[labels] = self._counter.labels(*labels) if labels else self._counter
        series.inc(amount)


class Timing:
    """A histogram of seconds, its series found alike."""

    def __init__(self, family: Family, registry: CollectorRegistry) -> None:
        self._histogram = Histogram(
            family.name, family.help, family.labels, registry=registry, buckets=families.BOUNDS_S
        )
        self._series: dict[tuple[str, ...], Histogram] = {}

    def took(self, *labels: str, seconds: float) -> None:
        """Notes one duration; clocks of two machines may make it less than nothing."""
        series = self._series.get(labels)
        if series is None:
            series = self._series[labels] = self._histogram.labels(*labels)
        series.observe(max(seconds, 0.0))


class Instruments:
    """What is counted as it happens."""

    def __init__(self, registry: CollectorRegistry) -> None:
        def counting(family: Family) -> Counting:
            return Counting(family, registry)

        def timing(family: Family) -> Timing:
            return Timing(family, registry)

        self.commands = counting(families.COMMANDS)
        self.repeated = counting(families.REPEATED)
        self.command_s = timing(families.COMMAND_S)
        self.queries = counting(families.QUERIES)
        self.entries = counting(families.ENTRIES)
        self.commits = counting(families.COMMITS)
        self.conflicts = counting(families.CONFLICTS)
        self.append_s = timing(families.APPEND_S)
        self.appends_failed = counting(families.APPENDS_FAILED)
        self.cause_s = timing(families.CAUSE_S)
        self.swept = counting(families.SWEPT)
        self.hands_started = counting(families.HANDS_STARTED)
        self.hands_ended = counting(families.HANDS_ENDED)
        self.hands_voided = counting(families.HANDS_VOIDED)
        self.rake = counting(families.RAKE)
        self.rake_returned = counting(families.RAKE_RETURNED)
        self.fact_delay_s = timing(families.FACT_DELAY_S)
        self.gaps = counting(families.GAPS)
        self.sent = counting(families.SENT)


class Metrics:
    """The metrics of one process, over a registry of its own.

    `waiting` tells, for each service that takes commands, how many wait.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry(auto_describe=False)
        self.instruments = Instruments(self.registry)
        self._currencies: set[str] = set()
        self.waiting: dict[str, Callable[[], int]] = {}
        ProcessCollector(registry=self.registry)
        PlatformCollector(registry=self.registry)
        GCCollector(registry=self.registry)

    def of(self, service: str) -> "ServiceMetrics":
        """What one service of the process tells of its work."""
        return ServiceMetrics(service, self)

    def heard(self, log: str) -> "LogMetrics":
        """What the fold of one kind of log tells; `log` is `table` or `ledger`."""
        return LogMetrics(log, self)

    def money_of(self, table: Table) -> tuple[str, str]:
        """The kind and the currency of a table's chips: a lobby may open tables of any, and there are not so many."""
        config = table.config
        assert config is not None  # a hand is played
        if len(self._currencies) < CURRENCIES_MAX:
            self._currencies.add(config.currency)
        return config.money, config.currency if config.currency in self._currencies else OTHER

    def page(self) -> Page:
        """All of them in Prometheus' text format."""
        return Page(CONTENT_TYPE_PLAIN_0_0_4, generate_latest(_Timeless(self.registry)))


class ServiceMetrics(Measures):
    """Counts the work of one service."""

    def __init__(self, service: str, metrics: Metrics) -> None:
        self.service = service
        self._metrics = metrics
        self._count = metrics.instruments

    def begins(self, rooms: Sequence[str]) -> None:
        """Has series begin with 0: Prometheus sees no rise of what was never there."""
        self._count.appends_failed.add(self.service, amount=0)
        for room in rooms:
            self._count.conflicts.add(self.service, room, amount=0)
            for debt in DEBTS:
                self._count.swept.add(self.service, room, debt, amount=0)

    def waits(self, waiting: Callable[[], int]) -> None:
        """From now on `waiting` tells how many commands wait."""
        self._metrics.waiting[self.service] = waiting

    def answered(self, address: CommandSubject, command: object, outcome: Outcome | None, took_s: float) -> None:
        """A command got this answer, or was dropped."""
        room, (result, code) = address.room, _outcome_of(outcome)
        self._count.commands.add(self.service, room, tag_of(command), result, code)
        if outcome is not None:
            self._count.command_s.took(self.service, room, result, seconds=took_s)

    def repeated(self, room: str, outcome: Outcome) -> None:
        """The id of a command was known."""
        self._count.repeated.add(self.service, room, _outcome_of(outcome)[0])

    def asked(self, query: str, answer: object) -> None:
        """A query got this answer."""
        found = ("rejected", answer.code) if isinstance(answer, Rejected) else ("found", "")
        self._count.queries.add(self.service, query, *found)

    def entered(self, fault: str) -> None:
        """A player was let in, or refused."""
        self._count.entries.add("refused" if fault else "let_in", fault)

    def appended(self, stored: Appended) -> None:
        """A commit is stored."""
        state = stored.state
        self._count.commits.add(self.service, state.room, stored.fact)
        self._count.append_s.took(self.service, seconds=stored.took_s)
        if stored.waited_s is not None:
            owed = "deadline" if is_deadline(stored.debt) else "debt"
            cause = owed if stored.cause is None else "command"
            self._count.cause_s.took(self.service, state.room, cause, seconds=stored.waited_s)
        if isinstance(state, Table):
            for event in stored.commit.events:
                self._played(state, event)

    def _played(self, table: Table, event: Event) -> None:
        match event:
            case HandStarted():
                self._count.hands_started.add(table.room)
            case HandEnded():
                self._count.hands_ended.add(table.room)
            case HandVoided(rake_returned=returned):
                self._count.hands_voided.add(table.room)
                self._count.rake_returned.add(table.room, *self._metrics.money_of(table), amount=sum(returned))
            case RakeTaken(total=total):
                self._count.rake.add(table.room, *self._metrics.money_of(table), amount=total)
            case _:
                pass

    def conflicted(self, room: str) -> None:
        """Another commit came first."""
        self._count.conflicts.add(self.service, room)

    def append_failed(self) -> None:
        """The log did not take a commit."""
        self._count.appends_failed.add(self.service)

    def swept(self, room: str, debt: Debt | None) -> None:
        """The sweep found a debt."""
        self._count.swept.add(self.service, room, "deadline" if is_deadline(debt) else "at_once")

    def sent(self, subject: str) -> None:
        """A core message is on its way."""
        root, *parts = subject.split(".")
        if root == "view":  # a table or a player may be called anything: `player`, `public`
            kind = "public_view" if len(parts) == VIEW_PARTS else "player_view"
        else:
            kind = KINDS_SENT.get(root, OTHER)
        self._count.sent.add(self.service, kind)


class LogMetrics(Heard):
    """Counts what a fold takes from the log."""

    def __init__(self, log: str, metrics: Metrics) -> None:
        self._log = log
        self._count = metrics.instruments

    def fact(self, stamped: datetime | None, now: datetime) -> None:
        """A fact arrived."""
        if stamped is not None:
            self._count.fact_delay_s.took(self._log, seconds=(now - stamped).total_seconds())

    def gap(self, room: str) -> None:
        """A fact had not arrived."""
        self._count.gaps.add(self._log, room)


class _Timeless(Collector):
    """Leaves out when each series began: it doubles the page, and tells nothing that `up` does not."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterable[Metric]:
        for metric in self._registry.collect():
            metric.samples = [sample for sample in metric.samples if not sample.name.endswith("_created")]
            yield metric


def _outcome_of(outcome: Outcome | None) -> tuple[str, str]:
    match outcome:
        case Accepted():
            return "accepted", ""
        case Rejected(code=code):
            return "rejected", code
        case None:
            return "dropped", ""


def is_deadline(debt: Debt | None) -> bool:
    """Whether something was owed from some moment on, and not at once."""
    return debt is not None and debt.due is not None


def tag_of(command: object) -> str:
    """The kind of a command; None is one that cannot be read."""
    config = getattr(command, "__struct_config__", None)
    return str(config.tag) if config is not None else UNREADABLE
