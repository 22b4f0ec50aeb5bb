"""One process of a service: a fold, a loop and, at the table, a desk; it can crash anywhere and starts again empty."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextvars import Context
from datetime import timedelta
from random import Random
from typing import Any, Final, NamedTuple, Protocol

import msgspec

from contracts.codec import decode, encode
from contracts.commit import Commit, Head
from contracts.data import Instant, Sha256
from contracts.events.state import Actor
from contracts.ledger import LedgerCommit
from contracts.outcomes import Rejected
from contracts.queries import PublicTable
from contracts.subjects import read_command
from contracts.views import PublicView
from services.aggregate.ledger import Ledger
from services.aggregate.table import Table
from services.bus.aggregates import LEDGERS, TABLES, Kind
from services.bus.asked import TableRules
from services.bus.clock import Clock
from services.bus.desk import TableDesk
from services.bus.follower import TableFollower
from services.bus.log import Stored, Unavailable
from services.bus.loop import AUDIT_S, TableLoop
from services.bus.picked import REMEMBERED_MAX, Picked
from services.bus.replica import TableReplica
from services.bus.role import Role, TableRole
from services.bus.stall import StallGuard
from services.cashier.till import Till
from services.dealer import app as dealer_app
from services.dealer.custody import Given
from services.dealer.decks import SealedDecks
from services.rake import app as rake_app
from services.settlement import app as settlement_app
from services.table import app as table_app
from services.views.public import public_table, public_view
from tests.simulation.examiner import MASTERS
from tests.simulation.faulty_log import EPOCH, FaultyLog
from tests.simulation.judge import Judge
from tests.simulation.releases import of_release
from tests.simulation.spectators import Spectator
from tests.simulation.virtual_loop import OWNER, Standstill

TASKS_KEPT: Final = 500
LOOK_S: Final = 0.2


class Audited(Protocol):
    """A fold that compares itself with the log now and then."""

    async def audit(self) -> None:
        """Raises `Unavailable`."""


class Network(Protocol):
    """Takes what leaves a process to those whom it concerns."""

    def answer(self, reply: str, data: bytes) -> None:
        """Takes an answer to whoever asked."""

    def show(self, table: str, data: bytes) -> None:
        """Takes a public view to the spectators of a table."""

    async def request(self, subject: str, body: bytes, timeout_s: float) -> bytes | None:
        """Takes a command to one of those who answer it; None where no answer comes in time."""


class Place(NamedTuple):
    """Where processes live: the tables' log, who watches it, and the network."""

    log: FaultyLog
    judge: Judge
    network: Network


class Build(msgspec.Struct, frozen=True):
    """What processes are built of: the real parts, or in their place broken ones that must be found out."""

    loop: type[TableLoop] = TableLoop
    desk: type[TableDesk] = TableDesk
    follower: type[TableFollower] = TableFollower
    rules: TableRules = table_app.RULES
    role: TableRole = table_app.ROLE
    log: type[FaultyLog] = FaultyLog
    clock: type[Clock] = Clock
    view: Callable[[Table, Commit], PublicView] = public_view
    picture: Callable[[Table], PublicTable | None] = public_table
    guard: type[StallGuard] = StallGuard
    spectator: type[Spectator] = Spectator
    nudged: bool = True
    till: type[Till] = Till
    ledgers: Kind[Ledger, LedgerCommit] = LEDGERS


class SeededDealer(dealer_app.Dealer):
    """The dealer with entropy that is the same at every run."""

    def __init__(self, random: Random) -> None:
        super().__init__(Given(MASTERS))
        self._random = random

    def decks(self) -> SealedDecks:
        """Decks for one decision."""
        return SealedDecks(self.masters, self._random.randbytes(32), self._random.randbytes(12), self.opened)


class Process:
    """One life of a process, from its start to a crash."""

    def __init__(self, name: str, service: str, place: Place, build: Build, random: Random, knows: int) -> None:
        self.name = name
        self.service = service
        self.knows = knows
        self.alive = True
        self.still_until = 0.0
        self.stood_still = Standstill(0.0, 0.0)
        self.deaf_until = 0.0
        self.context = Context()
        self.context.run(OWNER.set, self)
        self.desk: TableDesk | None = None
        self.follower: TableFollower | None = None
        self.judge = place.judge
        self._log = place.log
        self._build = build
        self._random = random
        self._network = place.network
        self._skew_s = random.uniform(-0.5, 0.5) * place.log.weather.faults.skew_s
        self._off_s = self._rate = self._off_since = 0.0
        self._guard = build.guard(self._ping)
        self._views: OrderedDict[tuple[str, int], PublicView] = OrderedDict()
        self._tasks: list[asyncio.Task[Any]] = []

    def adopt(self, task: asyncio.Task[Any]) -> None:
        """Every task of the process ends with it."""
        self._tasks.append(task)
        if len(self._tasks) > TASKS_KEPT:
            self._tasks = [each for each in self._tasks if not each.done()]

    def crash(self) -> None:
        """Everything ends where it just is; nothing of it leaves the process any more."""
        self.alive = False
        self.still_until = 0.0
        for task in self._tasks:
            task.cancel()

    def start(self) -> "asyncio.Task[None]":
        """Comes to life; the task ends when the process has died."""
        return asyncio.get_running_loop().create_task(self._run(), context=self.context)

    def now(self) -> Instant:
        """The process's own clock, which may be a little off, or wrong."""
        now_s = asyncio.get_running_loop().time()
        off_s = self._skew_s + self._off_s + self._rate * (now_s - self._off_since)
        return EPOCH + timedelta(seconds=now_s + off_s)

    def set_clock(self, off_s: float, rate: float) -> None:
        """Sets the clock so far off, from where it gains `rate` seconds a second."""
        self._off_s, self._rate, self._off_since = off_s, rate, asyncio.get_running_loop().time()

    def stand_still(self, for_s: float) -> None:
        """Does nothing for so long, and then goes on as if no time had passed."""
        now = asyncio.get_running_loop().time()
        if not self.alive:
            return
        since = self.stood_still.since if self.still_until > now else now
        self.still_until = max(self.still_until, now + for_s)
        self.stood_still = Standstill(since, self.still_until)

    @property
    def listening(self) -> bool:
        """Whether it has come so far as to subscribe to requests."""
        return self.desk is not None

    def arrive(self, subject: str, reply: str, body: bytes) -> None:
        """Has a request wait at the process until that reads it; before it has subscribed none is sent to it."""
        if not self.listening:
            return
        loop = asyncio.get_running_loop()
        loop.call_at(self.still_until, self.submit, subject, reply, body, loop.time(), context=self.context)

    def ask(self, table: str, reply: Callable[[bytes], object]) -> None:
        """Has a question for a table's picture wait until the process reads it."""
        asyncio.get_running_loop().call_at(self.still_until, self._tell, table, reply, context=self.context)

    def _tell(self, table: str, reply: Callable[[bytes], object]) -> None:
        known = self.follower.replicas.get(("main", table)) if self.alive and self.follower is not None else None
        picture = self._build.picture(known.state) if known is not None else None
        if picture is not None:
            reply(encode(picture))

    async def _ping(self) -> None:
        await self._log.answered()

    def submit(self, subject: str, reply: str, body: bytes, came: float) -> None:
        """Takes a command, if it is up; it `came` at that loop time. To be called in the process's context."""
        address = read_command(subject)
        if not self.alive or self.desk is None or address is None or self._guard.stalled:
            return
        actor = Actor(kind=address.kind, name=address.name)
        cause = table_app.RULES.cause(actor, self.now(), body)
        if not isinstance(cause, Rejected):
            self.judge.delivered(reply, address, cause.command, cause.arrived)
            self.judge.came(self, address, cause.command, came)
        self.desk.submit(subject, reply, body)

    async def _run(self) -> None:
        clock = self._build.clock(self.now, asyncio.get_running_loop().time)
        try:
            while not clock.trusted(None):
                await asyncio.sleep(LOOK_S)
                clock.observe(await self._log.server_time())
            followers = await self._work(clock)
        except Unavailable:
            self.crash()
            return
        while True:
            await asyncio.sleep(AUDIT_S)
            try:
                clock.observe(await self._log.server_time())
                for follower in followers:
                    await follower.audit()
            except Unavailable:
                continue

    async def _work(self, clock: Clock) -> Sequence[Audited]:
        """Reads the log and takes up the work; gives the folds. Raises `Unavailable`."""
        follower = self._build.follower(TABLES, self._log, ("main",), clock)
        await follower.start()
        loop = self._loop(follower)
        await loop.start()
        if self.service == "table":
            follower.watchers.append(self._made)
            await Picked(follower, self._log, "views", self._show).start()
        self.follower = follower
        if self.service == "table":
            self._guard.start()
            self.desk = self._build.desk(loop, self._rules(), self._publish, lambda: self._guard.stalls)
        return (follower,)

    def _made(self, replica: TableReplica, commit: Commit, _: Stored) -> None:
        self._views[commit.table, commit.n] = self._build.view(replica.state, commit)
        if len(self._views) > REMEMBERED_MAX:
            self._views.popitem(last=False)

    def _show(self, _: TableReplica, commit: Commit, __: Sha256) -> None:
        if self._log.crashes(self):
            return
        view = self._views[commit.table, commit.n]
        self.judge.seen(view)
        self._network.show(view.table, encode(view))
        self._log.crashes(self)

    def _rules(self) -> TableRules:
        rules = self._build.rules
        known, decide = of_release(self.knows, rules.known), of_release(self.knows, rules.decide)
        return msgspec.structs.replace(rules, known=known, decide=decide)

    def _loop(self, follower: TableFollower) -> TableLoop:
        return self._build.loop(
            self._role(),
            follower,
            self._log,
            publish=self._publish,
            random=self._random,
            nudged=self._build.nudged,
        )

    def _role(self) -> TableRole:
        role = self._real_role()
        return msgspec.structs.replace(role, owes=of_release(self.knows, role.owes))

    def _real_role(self) -> TableRole:
        if self.service == "table":
            return self._build.role
        if self.service == "rake":
            return rake_app.ROLE
        if self.service == "settlement":
            return settlement_app.ROLE
        dealer = SeededDealer(self._random)

        def appended(replica: TableReplica, commit: Commit) -> None:
            hand = replica.state.hand
            for player in hand.players.values() if hand is not None and dealer_app.deals(commit) else ():
                view = dealer.cards_to_send(replica.state, commit.hand, player.player)
                if view is None or self._log.crashes(self):
                    return
                self.judge.dealt_to(view)

        return Role(TABLES, "dealer", dealer.owes, dealer_app.ANSWERS, appended)

    def _publish(self, subject: str, data: bytes) -> None:
        if self._log.crashes(self):
            return
        match subject.split("."):
            case ["heads", _, room, table]:
                head = decode(data, Head)
                self.judge.head(table, head.n, head.hash)
                self._log.published.setdefault((room, table), {})[head.n] = head.hash
            case ["_R_", *_]:
                self.judge.answered(subject, data)
                self._network.answer(subject, data)
        self._log.crashes(self)
