"""The way of a command: in at a subject, held while it must be, decided at the log's tail, answered once (DESIGN 4)."""

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

import msgspec
import structlog

from contracts import subjects
from contracts.codec import encode
from contracts.commit import Cause, Commit
from contracts.data import Instant
from contracts.events import AnyEvent, Event
from contracts.events.state import Actor
from contracts.outcomes import Accepted, Outcome, Rejected
from contracts.subjects import CommandSubject
from services.aggregate.chain import Chained, State
from services.aggregate.table import Table
from services.bus import misnamed
from services.bus.asked import TOO_MUCH, Caused, Request, Rules, StoodStill, at_head, busy
from services.bus.background import Background, going_on
from services.bus.log import Refused, Unavailable
from services.bus.loop import Loop
from services.bus.pace import Pace
from services.bus.refused import as_kept
from services.bus.replica import Replica
from services.bus.spans import note_command, note_outcome, of_command
from services.bus.waiting import Waiting

logger: Final = structlog.get_logger(__name__)

HOLD_S: Final = 2.0
"""How long a command waits for what another service owes, before it is `busy`."""
SILENCE_S: Final = 1.5
"""A command that waits longer than this has the log read: a fact may have been lost."""
REFUSALS_BURST: Final = 500
REFUSALS_PER_S: Final = 2.0
"""So many refusals of one player are kept, in all and a second; every refused command is answered."""
EXPIRY_S: Final = 0.25
"""How often commands are looked for that have waited too long."""
TRIES_MAX: Final = 20
"""So often a command is decided anew because the log moved on, before it is `busy`."""

NOBODY: Final = Actor(kind="operator", name="nobody")
"""Stands for who asks where the subject does not say."""

type Publish = Callable[[str, bytes], None]


class Desk[S: State, C: Chained, E: Event, K: Caused]:
    """Takes commands for the tables or ledgers of one loop, those of each in the order of their arrival here.

    `stalls` counts how often the process has stood still: a command that was in hand then is dropped, unanswered.
    """

    def __init__(
        self,
        loop: Loop[S, C, E, K],
        rules: Rules[S, E, K],
        publish: Publish,
        stalls: Callable[[], int] = lambda: 0,
    ) -> None:
        self.of = loop.of
        self.loop = loop
        self.rules = rules
        self.publish = publish
        self.stalls = stalls
        self.measures = loop.measures
        self.waiting = Waiting()
        self.measures.waits(lambda: self.waiting.count)
        self._kept: Pace[str] = Pace(REFUSALS_BURST, REFUSALS_PER_S)
        self._queues: dict[tuple[str, str], deque[Request[K]]] = {}
        self._background = Background(service=loop.service)
        self._expiring = Background(service=loop.service)
        self._closing = False

    def submit(self, subject: str, reply: str, body: bytes) -> None:
        """Takes a command; its answer goes to `reply`. Never raises, never waits."""
        address, arrived = subjects.read_command(subject, self.of.archive.roots), self.loop.follower.clock.now()
        if address is None:
            misnamed.answer(self.publish, subject, reply, self._id_of(body, arrived))
        if address is None or self._closing:
            return
        span = of_command(self.loop.tracer, self.of, address.room, address.table, address.kind)
        cause = self.rules.cause(Actor(kind=address.kind, name=address.name), arrived, body)
        if isinstance(cause, Rejected):
            with span:
                note_outcome(span, cause)
                self.measures.answered(address, None, cause, 0.0)
                self._refuse(subject, reply, body, arrived, address, cause)
            return
        note_command(span, cause)
        since = asyncio.get_running_loop().time()
        self._queue(Request(subject, reply, body, address, cause, since, self.stalls(), span))

    def _id_of(self, body: bytes, arrived: Instant) -> str:
        read = self.rules.cause(NOBODY, arrived, body)
        return read.id if isinstance(read, Rejected) else read.command.id

    async def stop(self) -> None:
        """Takes no more commands, and answers those that are in hand."""
        self._closing = True
        await self._background.finish(HOLD_S)
        self._expiring.cancel()

    def _queue(self, request: Request[K]) -> None:
        key = (request.address.room, request.address.table)
        queue = self._queues.get(key)
        whim = self.rules.whim(request.cause)
        if self.waiting.is_full(request.address, len(queue or ())) or (
            whim and not self.waiting.bears(request.address, request.since)
        ):
            # Not kept among the refusals, nor among the spans: a flood must not become a flood of writes.
            full = busy(request.cause, TOO_MUCH)
            self.measures.answered(request.address, request.cause.command, full, 0.0)
            self.publish(request.reply, encode(full))
            return
        if queue is None:
            queue = self._queues[key] = deque()
            self._background.begin(self._drain(key, queue), "commands")
        queue.append(request)
        self.waiting.comes(request.address)
        if not self._expiring.count:
            self._expiring.begin(self._expire(), "expiry")

    async def _expire(self) -> None:
        """Tells commands `busy` that have waited too long behind another: that one's append may be in doubt."""
        while self._queues:
            await asyncio.sleep(EXPIRY_S)
            oldest = asyncio.get_running_loop().time() - HOLD_S
            for key, queue in list(self._queues.items()):
                while len(queue) > 1 and queue[1].since < oldest:
                    request = queue[1]
                    del queue[1]
                    self.waiting.leaves(request.address)
                    with going_on("expiry", **self._named(key, request)), request.span:
                        self._answer(request, busy(request.cause))

    async def _drain(self, key: tuple[str, str], queue: deque[Request[K]]) -> None:
        try:
            while queue:
                with going_on("commands", **self._named(key, queue[0])):
                    await self._serve(key, queue)
        finally:
            del self._queues[key]

    async def _serve(self, key: tuple[str, str], queue: deque[Request[K]]) -> None:
        """Answers the first command of a queue, which leaves it whatever happens, and pays what is owed then."""
        request = queue[0]
        try:
            with request.span:
                outcome = await self._outcome_or_none(request)
                self._answer(request, outcome)
        finally:
            queue.popleft()
            self.waiting.leaves(request.address)
        if isinstance(outcome, Accepted):
            await self._pay(key)

    async def _outcome_or_none(self, request: Request[K]) -> Outcome | None:
        """What becomes of a command; None where it gets no answer."""
        key = (request.address.room, request.address.table)
        try:
            return await self._outcome(request)
        except (Refused, Unavailable) as error:
            logger.warning("log_unavailable", **self._named(key, request), error=str(error))
            return busy(request.cause)
        except StoodStill:
            logger.warning("command_dropped", **self._named(key, request))
        except Exception:  # a fault in one command must not stop a table
            logger.exception("command_failed", **self._named(key, request))
        return None

    async def _pay(self, key: tuple[str, str]) -> None:
        """What the table service owes after its own commit, once the answer is out."""
        try:
            await self.loop.pay(self.loop.follower.replica(*key))
        except (Refused, Unavailable) as error:
            logger.warning("log_unavailable", **self._named(key), error=str(error))
        except Exception:  # a debt that cannot be paid must not stop the commands; the sweep meets it again
            logger.exception("debt_unpaid", **self._named(key))

    async def _outcome(self, request: Request[K]) -> Outcome:
        address, cause = request.address, request.cause
        if asyncio.get_running_loop().time() - request.since > HOLD_S:
            return busy(request.cause)
        unknown = await self._unknown(address, cause)
        if unknown is not None:
            return unknown
        replica = self.loop.follower.replica(address.room, address.table)
        for _ in range(TRIES_MAX):
            if not await self._free(replica, request):
                break
            async with replica.turnstile(self.loop.service):
                if self.stalls() != request.stalls:
                    raise StoodStill
                outcome = await self._decide(replica, cause)
            if outcome is not None:
                return outcome
        return busy(request.cause)

    async def _unknown(self, address: CommandSubject, cause: K) -> Outcome | None:
        """The refusal of a command to a table that is not there: anybody may name one, so nothing is kept of it."""
        follower, key = self.loop.follower, (address.room, address.table)
        if key in follower.replicas or self.rules.opens(cause):
            return None
        if await self.loop.log.tail(*key) is None:
            nothing = self.rules.decide(self.of.new(*key), cause, cause.arrived)
            return nothing if isinstance(nothing, Rejected) else None
        await follower.catch_up(follower.replica(*key))
        return None

    async def _free(self, replica: Replica[S, C], request: Request[K]) -> bool:
        """Waits while another service owes; False when that took too long."""
        clock = asyncio.get_running_loop()
        silent = False
        while replica.halted is None and self.rules.holds(replica.state, request.cause):
            left = request.since + HOLD_S - clock.time()
            if left <= 0:
                return False
            if not silent and clock.time() - request.since > SILENCE_S:
                silent = True
                await self.loop.follower.catch_up(replica)
                continue
            await replica.changed(min(left, SILENCE_S))
        return True

    async def _decide(self, replica: Replica[S, C], cause: K) -> Outcome | None:
        """Decides a command on the state as it is; None where the log moved on meanwhile.

        The command comes before what this service owes itself: it is in time as long as the log does not say otherwise.
        """
        state = replica.state
        if replica.halted is not None:
            why = f"The {self.of.name} is halted: {replica.halted}."
            message = f"{why} It accepts nothing until an operator has mended that."
            return at_head(state, Rejected(code="halted", message=message), cause)
        if not replica.ready:
            await self.loop.follower.catch_up(replica)
            return None
        known = self.rules.known(state, cause)
        if known is not None:
            self.measures.repeated(state.room, known)
            return known
        if self.rules.holds(state, cause):
            return None
        at, sequence = self.loop.follower.clock.now(), replica.sequence
        if not self.loop.follower.clock.trusted(state.at):
            return busy(cause)
        began = self.loop.tracer.now()
        decision = self.rules.decide(state, cause, at)
        self.loop.tracer.done("decide", began)
        if not isinstance(decision, Rejected):
            head = await self.loop.append(replica, decision, at, cause)
            return Accepted(id=cause.command.id, n=head.n, head=head.hash) if head is not None else None
        if self.loop.is_owing(replica):  # a refusal may rest on what is owed: that has to be in the log first
            await self.loop.pay_inside(replica)
            return None
        written = self.rules.refused(decision, cause)
        if written:  # what the append expects is the look at the tail
            head = await self.loop.append(replica, written, at, cause)
            return msgspec.structs.replace(decision, n=head.n, head=head.hash) if head is not None else None
        tail = await self.loop.log.tail(*replica.key)
        if (tail.sequence if tail is not None else 0) == sequence == replica.sequence:
            return decision
        await self.loop.follower.catch_up(replica)
        return None

    def _named(self, key: tuple[str, str], request: Request[K] | None = None) -> dict[str, str | int]:
        """Service and table, and the command that is in hand, for a line that is logged."""
        named = {"service": self.loop.service, **self.loop.follower.named(key)}
        return named if request is None else {**named, "command": request.cause.command.id}

    def _answer(self, request: Request[K], outcome: Outcome | None) -> None:
        """Answers a command; one that was dropped is only counted."""
        took_s = asyncio.get_running_loop().time() - request.since
        self.measures.answered(request.address, request.cause.command, outcome, took_s)
        note_outcome(request.span, outcome)
        if isinstance(outcome, Rejected):
            self._refuse(request.subject, request.reply, request.body, request.cause.arrived, request.address, outcome)
        elif outcome is not None:
            self.publish(request.reply, encode(outcome))

    def _refuse(
        self, subject: str, reply: str, body: bytes, arrived: Instant, address: CommandSubject, outcome: Rejected
    ) -> None:
        if (address.room, address.table) in self.loop.follower.replicas and self._keeps(address):
            refusal = as_kept(subject, arrived, body, outcome)
            self.publish(subjects.refused(address.room, address.table, self.of.archive.roots), encode(refusal))
        self.publish(reply, encode(outcome))

    def _keeps(self, address: CommandSubject) -> bool:
        """Whether one more refusal is kept: a player must not push out those of others, which settle disputes."""
        return address.kind != "player" or self._kept.allows(address.name, asyncio.get_running_loop().time())


TableDesk = Desk[Table, Commit, AnyEvent, Cause]
