"""A table in memory, at which the services' own deciders play: every commit is encoded, chained, read and folded."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from contracts.codec import encode
from contracts.commands import Act, AnyCommand
from contracts.commit import Cause
from contracts.data import Instant, Seat
from contracts.events import AnyEvent, Service, fact_of
from contracts.events.state import Actor
from contracts.events.table import HandStarted
from contracts.outcomes import Rejected
from contracts.subjects import ActorKind, guarded
from services.aggregate.chain import Verdict, read_table
from services.aggregate.debts import debt
from services.aggregate.fold import commit_of, fold
from services.aggregate.table import Table
from services.bus.memory import MemoryLog
from services.conformance.play import OutOfOrder, Raked, player, unraked
from services.dealer import decider as dealer
from services.dealer.decks import Decks
from services.rake import decider as rake
from services.settlement import decider as settlement
from services.table import decider as table_service

ROOM: Final = "check"
TABLE: Final = "T1"
AT: Final[Instant] = datetime(2026, 1, 1, tzinfo=UTC)
"""Everything happens at one moment, until a turn is to run out."""


class InMemory:
    """See `Playing` for what each method promises."""

    second_ms: Final = 1000

    def __init__(self, decks: Decks, raked: Raked = unraked) -> None:
        self.table = Table(room=ROOM, id=TABLE)
        self.events: list[AnyEvent] = []
        self.now = AT
        self._log = MemoryLog()
        self._sequence = 0
        self._owes: dict[Service, Callable[[Table], tuple[AnyEvent, ...]]] = {
            "table": lambda table: table_service.owes(table, self.now),
            "dealer": lambda table: dealer.owes(table, self.now, decks),
            "rake": lambda table: self._rake(table, raked),
            "settlement": lambda table: settlement.owes(table, self.now),
        }

    def append(self, by: Service, events: tuple[AnyEvent, ...], cause: Cause | None = None) -> None:
        """Appends one commit and folds it as any reader would."""
        data = encode(commit_of(self.table, by, events, self.now, cause))
        stored = self._log.store(guarded(ROOM, TABLE, by, fact_of(events[-1])), data, self._sequence)
        reading = read_table(self.table, stored.subject, stored.data)
        if reading.verdict is not Verdict.NEXT or reading.commit is None:
            raise OutOfOrder(f"a commit of {by} does not extend the log: {reading.reason}")
        fold(self.table, reading.commit, stored.data)
        self._sequence = stored.sequence
        self.events.extend(reading.commit.events)

    def start(self) -> HandStarted | None:
        """Lets the table service start the hand that is due."""
        events = self._owes["table"](self.table)
        if not events:
            return None
        self.append("table", events)
        started = self.events[-1]
        return started if isinstance(started, HandStarted) else None

    def settle(self) -> None:
        """Lets the services pay what they owe."""
        while self.table.hand is not None:
            owed = debt(self.table)
            if owed is None or not owed.is_due(self.now):
                return
            events = self._owes[owed.service](self.table)
            if not events:
                raise OutOfOrder(f"{owed.service} owes {owed.duty} and gives nothing")
            self.append(owed.service, events)

    def act(self, seat: Seat, act: Act) -> Rejected | None:
        """Has the player on a seat decide."""
        return self._send("player", player(seat), act)

    def ask(self, kind: ActorKind, command: AnyCommand) -> Rejected | None:
        """Has a lobby or an operator send a command."""
        return self._send(kind, kind, command)

    def time_out(self) -> None:
        """Lets the time of the open turn run out."""
        owed = debt(self.table)
        if owed is not None and owed.due is not None:
            self.now = max(self.now, owed.due)
        self.settle()

    def _send(self, kind: ActorKind, name: str, command: AnyCommand) -> Rejected | None:
        cause = Cause(actor=Actor(kind=kind, name=name), arrived=self.now, command=command)
        decided = table_service.decide(self.table, cause, self.now)
        if isinstance(decided, Rejected):
            return decided
        self.append("table", decided, cause)
        self.settle()
        return None

    def _rake(self, table: Table, raked: Raked) -> tuple[AnyEvent, ...]:
        instead = raked(table)
        return rake.owes(table, self.now) if instead is None else (instead,)
