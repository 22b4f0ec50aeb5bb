"""The one loop of every service: fold the log, ask what is owed, append it with the expected sequence (DESIGN 3)."""

import asyncio
import contextlib
from collections.abc import Callable
from random import Random
from typing import Final

import structlog

from contracts import subjects
from contracts.codec import digest, encode
from contracts.commit import Cause, Commit, Head
from contracts.data import Instant
from contracts.events import AnyEvent, Event
from contracts.subjects import read_commit
from services.aggregate.chain import Chained, State
from services.aggregate.table import Table
from services.bus.asked import Caused
from services.bus.background import Background, going_on
from services.bus.follower import Follower
from services.bus.log import Conflict, Following, InDoubt, Log, Refused, Stored, Unavailable
from services.bus.measures import UNMEASURED, Appended, Measures, Stopwatch
from services.bus.owing import owed_since
from services.bus.replica import Gap, Pending, Replica
from services.bus.role import Role
from services.bus.spans import note_commit, of_debt
from services.bus.tracing import UNTRACED, Tracer, current
from services.bus.vouching import Vouching

logger: Final = structlog.get_logger(__name__)

type Publish = Callable[[str, bytes], None]

SWEEP_S: Final = 0.25
DEBT_AGE_S: Final = 0.3
"""A debt that another replica ought to have paid is looked after when it is older than this."""
AUDIT_S: Final = 1.0
CONFLICTS_MAX: Final = 3
"""After so many conflicts in a row a table is left to the next nudge or sweep."""
RETRY_S: Final = 0.05
RETRY_S_MAX: Final = 1.0
CLOSE_S: Final = 5.0


class Loop[S: State, C: Chained, E: Event, K: Caused]:
    """One service at work on the tables of its rooms, or on the ledgers, over one log; any number of replicas may run.

    With `nudged` off nothing but the sweep starts work. `measures` is told of all work.
    """

    def __init__(
        self,
        role: Role[S, C, E, K],
        follower: Follower[S, C],
        log: Log,
        *,
        publish: Publish,
        random: Random,
        nudged: bool = True,
        measures: Measures = UNMEASURED,
        tracer: Tracer = UNTRACED,
    ) -> None:
        self.of = role.of
        self.service = role.service
        self.owes = role.owes
        self.answers = role.answers if nudged else ()
        self.appended = role.appended
        self.owing = role.owing
        self.causes = role.causes
        self.tracer = tracer
        self.follower = follower
        self.log = log
        self.publish = publish
        self.random = random
        self.measures = measures
        measures.begins(follower.rooms)
        self.conflicts = 0
        self._append_s = 0.0
        self._rest_until: dict[tuple[str, str], float] = {}
        self._vouching = Vouching(role.service, follower, publish)
        self._background = Background(service=role.service)
        self._followings: list[Following] = []
        self._closing = asyncio.Event()

    async def start(self) -> None:
        """Listens to the facts that the service answers, and sweeps from now on."""
        for room in self.follower.rooms:
            for answer in self.answers:
                service, fact = answer.split(".")
                following = await self.log.follow(room, self._nudge, service=service, fact=fact, queue=self.service)
                self._followings.append(following)
        self._background.begin(self._sweep(), "sweep")

    async def stop(self) -> None:
        """Takes no more work, and finishes what is in hand."""
        self._closing.set()
        for following in self._followings:
            await following.stop()
        await self._background.finish(CLOSE_S)
        self._background.cancel()
        await self._vouching.leave_all(self.log)

    def _nudge(self, stored: Stored) -> None:
        address = read_commit(stored.subject, self.of.archive.roots)
        if address is not None and not self._closing.is_set():
            self._background.begin(self._answer(self.follower.replica(address.room, address.table), stored), "answer")

    async def _answer(self, replica: Replica[S, C], stored: Stored) -> None:
        try:
            await self._reach(replica, stored)
        except Unavailable as error:
            logger.warning("log_unavailable", service=self.service, **self.of.named(replica.state), error=str(error))
            return  # the sweep meets the debt once the log can be read
        await self._pay_or_rest(replica)

    async def _reach(self, replica: Replica[S, C], stored: Stored) -> None:
        """Brings the fold up to a fact."""
        if replica.sequence < stored.sequence:
            try:
                self.follower.take(replica, stored)
            except Gap:
                await self.follower.catch_up(replica)

    async def pay(self, replica: Replica[S, C]) -> None:
        """Appends what the service owes at this table, and goes on while it owes itself."""
        async with replica.turnstile(self.service):
            await self.pay_inside(replica)

    async def pay_inside(self, replica: Replica[S, C]) -> None:
        """The same for a caller that holds the service's turnstile of this table.

        After a conflict it decides again: what was owed may be paid by now, or owed still.
        """
        conflicts = 0
        while not self._closing.is_set() and self.is_owing(replica) and conflicts < CONFLICTS_MAX:
            at, began = self.follower.clock.now(), self.tracer.now()
            events = self.owes(replica.state, at)
            if not events:
                return
            with of_debt(self.tracer, replica, self.causes, began):
                self.tracer.done("owes", began)
                if await self.append(replica, events, at) is None:
                    conflicts += 1

    def is_owing(self, replica: Replica[S, C]) -> bool:
        """Whether the service owes something at this table now, and may append it."""
        at = self.follower.clock.now()
        return self._owes_something(replica, at) and replica.ready and self.follower.clock.trusted(replica.state.at)

    def _owes_something(self, replica: Replica[S, C], at: Instant) -> bool:
        if self.owing is not None:
            return self.owing(replica.state, at)
        owed = replica.debt
        return owed is not None and owed.service == self.service and owed.is_due(at)

    async def append(
        self, replica: Replica[S, C], events: tuple[E, ...], at: Instant, cause: K | None = None
    ) -> Head | None:
        """Appends one commit decided on the replica as it is; its head, or None when another commit came first.

        The same bytes go out with the same expectation until it is known which. Raises `Refused` where the log takes
        nothing and the commit cannot be in it, `Unavailable` where the log cannot be read.
        """
        commit = self.of.commit_of(replica.state, self.service, events, at, cause)
        with self.tracer.span("append", after=(replica.trace,), kind="sends") as span:
            note_commit(span, self.of, replica.state, commit, cause)
            head = await self._appended(replica, commit, cause)
            span.note(outcome="appended" if head is not None else "conflict")
        return head

    async def _appended(self, replica: Replica[S, C], commit: C, cause: K | None) -> Head | None:
        data = encode(commit)
        pending = Pending(commit.n, digest(data))
        debt = replica.debt
        since = cause.arrived if cause is not None else owed_since(replica, self.service)
        watch = Stopwatch(self.follower.clock.now, since)
        replica.expect(pending)
        try:
            landed = await self._land(replica, commit, data, pending)
        except Refused:
            self.measures.append_failed()
            raise
        finally:
            replica.forget(pending)
        if not landed:
            self._conflicted(replica)
            return None
        fact = self.of.facts(commit)[-1]
        self.measures.appended(Appended(replica.state, commit, fact, cause, debt, *watch.read()))
        head = Head(n=commit.n, hash=pending.head)
        self._after(replica, commit, head)
        return head

    async def _land(self, replica: Replica[S, C], commit: C, data: bytes, pending: Pending) -> bool:
        room, table = replica.key
        expected, fact, retry_s, doubted = replica.sequence, self.of.facts(commit)[-1], RETRY_S, False
        clock = asyncio.get_running_loop()
        while True:
            began = clock.time()
            try:
                sequence = await self.log.append(room, table, self.service, fact, data, expected)
            except Conflict:
                await self._settled(replica, pending)
                if not doubted or replica.sequence != expected or replica.halted is not None:
                    return pending.landed is True
                # Nothing to be read explains the conflict: an earlier attempt of ours may be under way.
            except InDoubt:
                doubted = True
            except Refused:
                if not doubted:
                    raise
            else:
                self._append_s += (clock.time() - began - self._append_s) / 8
                subject = subjects.guarded(room, table, self.service, fact, self.of.archive.roots).subject
                stored = Stored(sequence, subject, data, None, trace=current.get().header)
                self.follower.take_own(replica, commit, stored)
                return True
            if pending.landed is not None:
                return pending.landed
            await asyncio.sleep(retry_s)
            retry_s = min(retry_s * 2, RETRY_S_MAX)

    async def _settled(self, replica: Replica[S, C], pending: Pending) -> None:
        """Reads on until the fold has passed the commit's number, or the log has no more to say."""
        while pending.landed is None and replica.halted is None:
            try:
                await self.follower.catch_up(replica)
            except Unavailable:
                await asyncio.sleep(RETRY_S_MAX)
            else:
                return

    def _conflicted(self, replica: Replica[S, C]) -> None:
        self.conflicts += 1
        self.measures.conflicted(replica.state.room)
        self._rest(replica, DEBT_AGE_S)

    def _rest(self, replica: Replica[S, C], at_least_s: float) -> None:
        now = asyncio.get_running_loop().time()
        self._rest_until[replica.key] = now + at_least_s * (1 + self.random.random())

    def _after(self, replica: Replica[S, C], commit: C, head: Head) -> None:
        ended = "hand_ended" in self.of.facts(commit)
        self._vouching.note(replica.key, head, at_once=ended)
        if self.appended is not None:
            self.appended(replica, commit)

    async def _sweep(self) -> None:
        while not self._closing.is_set():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), SWEEP_S)
            with going_on("sweep", service=self.service):
                self._sweep_once()

    def _sweep_once(self) -> None:
        self._vouching.publish_due()
        for replica in self._swept():
            with going_on("sweep", service=self.service, **self.of.named(replica.state)):
                if not self._closing.is_set() and self._neglected(replica):
                    self.measures.swept(replica.state.room, replica.debt)
                    self._background.begin(self._pay_or_rest(replica), "debt")

    def _swept(self) -> list[Replica[S, C]]:
        """What the sweep looks at: not those whose deadlines are yet to come, be they ever so many."""
        if self.owing is not None:
            return list(self.follower.replicas.values())
        return self.follower.owed(self.service, self.follower.clock.now())

    async def _pay_or_rest(self, replica: Replica[S, C]) -> None:
        """Pays; where the log takes nothing or cannot be read, the table is left alone for a while."""
        try:
            await self.pay(replica)
        except (Refused, Unavailable) as error:
            logger.error("debt_not_appended", service=self.service, **self.of.named(replica.state), reason=str(error))  # noqa: TRY400
            self._rest(replica, RETRY_S_MAX)

    def _neglected(self, replica: Replica[S, C]) -> bool:
        now = asyncio.get_running_loop().time()
        if replica.turnstile(self.service).locked() or now < self._rest_until.get(replica.key, 0.0):
            return False
        if not self.is_owing(replica):
            return False
        age = DEBT_AGE_S * (1 + self.random.random()) + 4 * self._append_s
        return now - replica.since > age


TableLoop = Loop[Table, Commit, AnyEvent, Cause]
