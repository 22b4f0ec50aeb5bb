"""The cashier at work: sees what tables do, has the ledger say what follows, and tells the tables of it.

It works over any log and fold, and sends commands by whatever way it is given.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count
from typing import Final

import structlog

from contracts.codec import encode
from contracts.commands import AnyCommand
from contracts.commit import Commit
from contracts.data import Id, Instant, Sha256
from contracts.events.cashier import AccountFrozen, LedgerEvent
from contracts.ledger import HOUSE, AccountCause, LedgerCommit, ledger_of
from contracts.subjects import command as command_subject
from services.aggregate.ledger import Ledger, TableKey
from services.aggregate.movements import is_for_the_cashier
from services.aggregate.table import Table
from services.bus.aggregates import LEDGERS, TABLES
from services.bus.background import Background, going_on
from services.bus.follower import Follower, TableFollower
from services.bus.log import Log, Refused, Stored, Unavailable
from services.bus.loop import SWEEP_S, Loop
from services.bus.picked import Picked
from services.bus.reader import NotFound, commits, from_commit
from services.bus.reading import Unreadable
from services.bus.replica import Replica, TableReplica
from services.bus.role import Role
from services.bus.tracing import Carried
from services.cashier.told import confirmations, open_requests, removals
from services.cashier.transfers import Movement, due
from services.cashier.unseen import Unseen

logger: Final = structlog.get_logger(__name__)

LOOKS: Final = 20
"""In so many sweeps every table is looked at: a fold that was read anew tells nobody which commits were new to it."""
NAME: Final = "cashier"
"""As what the cashier sends commands to tables."""

type LedgerReplica = Replica[Ledger, LedgerCommit]
type LedgerFollower = Follower[Ledger, LedgerCommit]
type LedgerLoop = Loop[Ledger, LedgerCommit, LedgerEvent, AccountCause]
type LedgerRole = Role[Ledger, LedgerCommit, LedgerEvent, AccountCause]
type Ask = Callable[[str, bytes], None]
"""Sends a command; nobody waits for its answer."""


class Till:
    """One cashier: what it owes follows from the ledgers' log and from the tables', both of which it folds.

    `role` is what the loop over the ledgers works by. Every replica of the cashier sees every table; that one of them
    that is picked for a commit sees to it at once, and whichever looks first where that one does not.
    """

    def __init__(self, tables: TableFollower, ledgers: LedgerFollower, ask: Ask) -> None:
        self.tables = tables
        self.ledgers = ledgers
        self.role: LedgerRole = Role(LEDGERS, "cashier", self.owes, (), self.appended, self.owing, self.causes)
        self._ask = ask
        self._unseen: dict[TableKey, Unseen] = {}
        self._moved: dict[str, dict[TableKey, str]] = {}  # with the traces of what moved last
        self._look: dict[TableKey, str] = {}
        self._told: set[TableKey] = set()
        self._stuck: dict[TableKey, tuple[int, str]] = {}
        self._reading: set[TableKey] = set()
        self._paying: set[str] = set()
        self._background = Background(service="cashier")
        self._loop: LedgerLoop | None = None
        self._picked: Picked[Table, Commit] | None = None
        tables.watchers.append(self._on_table)
        ledgers.watchers.append(self._on_ledger)

    async def start(self, loop: LedgerLoop, *, nudged: bool = True) -> None:
        """Sees to the tables from now on; with `nudged` off nothing but the sweep starts work."""
        self._loop = loop
        if nudged:
            self._picked = Picked(self.tables, self.tables.log, "cashier", self._nudge)
            await self._picked.start()
        self._look_at(self.tables.replicas)
        self._background.begin(self._sweep(), "sweep")

    async def stop(self) -> None:
        """Takes no more work."""
        if self._picked is not None:
            await self._picked.stop()
        self.tables.watchers.remove(self._on_table)
        self.ledgers.watchers.remove(self._on_ledger)
        self._background.cancel()

    # What the ledger has to say of the tables

    def owing(self, ledger: Ledger, _: Instant) -> bool:
        """Whether a table has moved chips of a ledger, or asked for some, and the ledger does not say so yet."""
        return any(True for _ in self._waiting(ledger))

    def owes(self, ledger: Ledger, _: Instant) -> tuple[LedgerEvent, ...]:
        """The entries of the ledger's next commit; a table that they cannot follow is an alarm."""
        movements = [
            Movement(key[0], commit, open_requests(self.tables.replicas[key].state))
            for key in self._waiting(ledger)
            for commit in self._unseen[key].folded(self.tables.replicas[key].state.n)
        ]
        found = due(ledger, movements)
        for key, reason in found.stuck.items():
            self._alarm(ledger, key, reason)
        return found.entries

    def causes(self, ledger: Ledger) -> Sequence[str]:
        """The traces of what tables have moved last, by which a ledger owes something."""
        return [self._moved[ledger.id][key] for key in list(self._waiting(ledger))]

    def stuck(self) -> dict[str, str]:
        """Why the cashier is not ready: tables whose chips no account can follow, each with the reason."""
        return {f"table {table} in room {room}": reason for (room, table), (_, reason) in self._stuck.items()}

    def _alarm(self, ledger: Ledger, key: TableKey, reason: str) -> None:
        known = self._stuck.get(key)
        self._stuck[key] = (ledger.n, reason)
        if known is None or known[1] != reason:
            logger.critical("table_unpayable", room=key[0], table=key[1], ledger=ledger.id, reason=reason)

    def _waiting(self, ledger: Ledger) -> Iterator[TableKey]:
        """The tables whose moves can be seen to now; of those that moved less than was thought nothing is kept."""
        moved = self._moved.get(ledger.id, {})
        if not self.ledgers.replica(HOUSE, ledger.id).ready:
            return
        for key in list(moved):
            replica, position = self.tables.replicas[key], ledger.table(*key).position
            if not replica.ready:
                continue
            if replica.state.moved <= position:
                del moved[key]
                self._stuck.pop(key, None)
                self._unseen_of(key).passed(position)
            elif not self._unseen_of(key).holds(position, replica.state.n):
                self._read(replica, position)
            elif key not in self._stuck or self._stuck[key][0] != ledger.n:
                yield key

    def _unseen_of(self, key: TableKey) -> Unseen:
        if key not in self._unseen:
            self._unseen[key] = Unseen()
        return self._unseen[key]

    # What the tables do

    def _on_table(self, replica: TableReplica, commit: Commit, stored: Stored) -> None:
        table = replica.state
        if table.config is None or table.config.bankroll != "cashier":
            return
        self._unseen_of(replica.key).note(commit)
        self._look.setdefault(replica.key, "")
        if is_for_the_cashier(table, commit):
            self._moved.setdefault(_ledger_of(replica), {})[replica.key] = stored.trace

    def _nudge(self, replica: TableReplica, commit: Commit, _: Sha256) -> None:
        if is_for_the_cashier(replica.state, commit):
            self._pay(_ledger_of(replica))

    def _pay(self, ledger: str) -> None:
        """Has the ledger say what follows, unless that is about to be done."""
        if ledger not in self._paying and self._loop is not None:
            self._paying.add(ledger)
            self._background.begin(self._paid(self._loop, ledger), "payment")

    async def _paid(self, loop: LedgerLoop, ledger: str) -> None:
        replica = self.ledgers.replica(HOUSE, ledger)
        try:
            if not replica.asked:
                await self.ledgers.catch_up(replica)
            async with replica.turnstile(loop.service):
                self._paying.discard(ledger)  # what comes from now on is for the next one
                await loop.pay_inside(replica)
        except (Refused, Unavailable) as error:
            logger.warning("log_unavailable", ledger=ledger, error=str(error))  # the sweep meets it again
        finally:
            self._paying.discard(ledger)

    def _read(self, replica: TableReplica, position: int) -> None:
        """Reads in the background what of a table's log was not seen as it was folded."""
        if replica.key not in self._reading:
            self._reading.add(replica.key)
            self._background.begin(self._read_moves(replica, position), "reading")

    async def _read_moves(self, replica: TableReplica, position: int) -> None:
        try:
            found = await _commits_after(self.tables.log, *replica.key, position)
            self._unseen_of(replica.key).read(position, found)
        except (Unavailable, NotFound, Unreadable) as error:
            logger.warning("log_unavailable", **TABLES.named(replica.state), error=str(error))
        finally:
            self._reading.discard(replica.key)
        self._pay(_ledger_of(replica))

    # What the tables are told

    def appended(self, _: LedgerReplica, commit: LedgerCommit) -> None:
        """Tells the tables what a commit of its own says, once that is acknowledged."""
        for key in dict.fromkeys(_tables_in(commit)):
            self._tell(key)

    def _on_ledger(self, _: LedgerReplica, commit: LedgerCommit, stored: Stored) -> None:
        self._look.update(dict.fromkeys(_tables_in(commit), stored.trace))
        if any(isinstance(entry, AccountFrozen) for entry in commit.events):
            self._look_at(self.tables.replicas)

    def _look_at(self, keys: Iterable[TableKey]) -> None:
        for key in keys:
            replica = self.tables.replicas[key]
            config = replica.state.config
            if config is not None and config.bankroll == "cashier":
                self._look.setdefault(key, "")
                self._moved.setdefault(_ledger_of(replica), {}).setdefault(key, "")

    async def _sweep(self) -> None:
        """Tells tables again what their folds still show open, and has missed work be found."""
        for turn in count():
            await asyncio.sleep(SWEEP_S)
            with going_on("sweep", service="cashier"):
                self._look_at(list(self.tables.replicas)[turn % LOOKS :: LOOKS])
                self._sweep_once()

    def _sweep_once(self) -> None:
        for ledger in list(self._moved):
            if self._moved[ledger]:
                replica = self.ledgers.replica(HOUSE, ledger)
                if not replica.asked:
                    self._pay(ledger)
        before, self._told = self._told, set()
        look, self._look = self._look, {}
        for key, trace in look.items():
            if not any(self._messages(key)):
                continue
            self._look[key] = trace
            self._told.add(key)
            if key in before:  # who appended the answer has told of it by now
                with Carried(trace):
                    self._tell(key)

    def _tell(self, key: TableKey) -> None:
        for message in self._messages(key):
            self._ask(command_subject(*key, "cashier", NAME), encode(message))

    def _messages(self, key: TableKey) -> tuple[AnyCommand, ...]:
        replica = self.tables.replicas.get(key)
        if replica is None or not replica.ready or replica.state.config is None:
            return ()
        books = self.ledgers.replicas.get((HOUSE, _ledger_of(replica)))
        if books is None or not books.ready:
            return ()
        return (*confirmations(books.state, replica.state), *removals(books.state, replica.state))


def _ledger_of(replica: TableReplica) -> str:
    config = replica.state.config
    assert config is not None
    return ledger_of(config.money, config.currency)


def _tables_in(commit: LedgerCommit) -> Iterator[TableKey]:
    for entry in commit.events:
        source = getattr(entry, "source", None)
        if source is not None and not isinstance(source, str):
            yield source.room, source.table


async def _commits_after(log: Log, room: Id, table: Id, position: int) -> list[Commit]:
    """Every commit of a table after commit `position`. Raises `Unavailable`, `NotFound` or `Unreadable`."""
    start = await from_commit(TABLES, log, room, table, position + 1)
    return [commit async for commit, _ in commits(log, start) if commit.n > position]
