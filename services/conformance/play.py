"""One table in memory, at which the services' own deciders play: every commit is encoded, chained, read and folded."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from contracts.codec import encode
from contracts.commands import Act, AnyCommand
from contracts.commit import Cause
from contracts.data import Instant, Seat
from contracts.events import AnyEvent, Service, fact_of
from contracts.events.rake import RakeTaken
from contracts.events.state import Actor
from contracts.events.table import HandStarted
from contracts.outcomes import Rejected
from contracts.subjects import guarded
from services.aggregate.debts import debt
from services.aggregate.fold import Verdict, commit_of, fold, read
from services.aggregate.table import Table
from services.bus.memory import MemoryLog
from services.dealer import decider as dealer
from services.dealer.decks import Decks
from services.rake import decider as rake
from services.settlement import decider as settlement
from services.table import decider as table_service

ROOM: Final = "check"
TABLE: Final = "T1"
AT: Final[Instant] = datetime(2026, 1, 1, tzinfo=UTC)
"""Everything happens at one moment: no decision of a hand depends on the time but a turn that runs out."""


class OutOfOrder(Exception):
    """A service owed a commit and gave none, or gave one that does not extend the log: a fault of Croupier."""


class Playing:
    """A table's log in memory, its fold, and the services that owe what comes next.

    `raked` may give the rake in place of the rake service (None: the service takes it). `at` is the time of all
    commits and may be moved on.
    """

    def __init__(self, decks: Decks, raked: Callable[[Table], RakeTaken | None] = lambda _: None) -> None:
        self.table = Table(room=ROOM, id=TABLE)
        self.log = MemoryLog()
        self.events: list[AnyEvent] = []
        self.at = AT
        self._sequence = 0
        self._owes: dict[Service, Callable[[Table], tuple[AnyEvent, ...]]] = {
            "table": lambda table: table_service.owes(table, self.at),
            "dealer": lambda table: dealer.owes(table, self.at, decks),
            "rake": lambda table: self._raked(table, raked),
            "settlement": lambda table: settlement.owes(table, self.at),
        }

    def append(self, by: Service, events: tuple[AnyEvent, ...], cause: Cause | None = None) -> None:
        """Appends one commit and folds it as any reader would. Raises `OutOfOrder`."""
        data = encode(commit_of(self.table, by, events, self.at, cause))
        stored = self.log.store(guarded(ROOM, TABLE, by, fact_of(events[-1])), data, self._sequence)
        reading = read(self.table, stored.subject, stored.data)
        if reading.verdict is not Verdict.NEXT or reading.commit is None:
            raise OutOfOrder(f"a commit of {by} does not extend the log: {reading.reason}")
        fold(self.table, reading.commit, stored.data)
        self._sequence = stored.sequence
        self.events.extend(reading.commit.events)

    def start(self) -> HandStarted | None:
        """Lets the table service start the hand that is due; None where none is."""
        events = table_service.owes(self.table, self.at)
        if not events:
            return None
        self.append("table", events)
        started = self.events[-1]
        return started if isinstance(started, HandStarted) else None

    def settle(self) -> None:
        """Lets the services pay what they owe, until a player's decision is due or the hand is over."""
        while self.table.hand is not None:
            owed = debt(self.table)
            if owed is None or not owed.is_due(self.at):
                return
            self.owed_by(owed.service)

    def owed_by(self, service: Service) -> None:
        """Lets one service append what it owes now. Raises `OutOfOrder` where it owes nothing."""
        events = self._owes[service](self.table)
        if not events:
            raise OutOfOrder(f"{service} owes {debt(self.table)} and gives nothing")
        self.append(service, events)

    def send(self, command: AnyCommand, actor: Actor) -> Rejected | None:
        """Has the table service decide a command; gives its refusal."""
        cause = Cause(actor=actor, arrived=self.at, command=command)
        decided = table_service.decide(self.table, cause, self.at)
        if isinstance(decided, Rejected):
            return decided
        self.append("table", decided, cause)
        return None

    def act(self, seat: Seat, act: Act) -> Rejected | None:
        """Has the player on a seat decide, then settles what follows; gives a refusal."""
        refused = self.send(act, Actor(kind="player", name=player(seat)))
        if refused is None:
            self.settle()
        return refused

    def _raked(self, table: Table, raked: Callable[[Table], RakeTaken | None]) -> tuple[AnyEvent, ...]:
        instead = raked(table)
        return rake.owes(table, self.at) if instead is None else (instead,)


def player(seat: Seat) -> str:
    """The name of the player on a seat."""
    return f"P{seat}"
