"""Faults planted on purpose: parts that look right and are not. The simulation has to find each of them."""

import asyncio
from typing import Final, NamedTuple

import msgspec

from contracts import subjects
from contracts.codec import digest, encode
from contracts.commit import Cause, Commit, Head
from contracts.data import Instant
from contracts.events import AnyEvent, fact_of
from contracts.outcomes import Accepted, Outcome, Rejected
from services.aggregate.fold import commit_of
from services.bus.desk import Desk
from services.bus.follower import Follower
from services.bus.log import Conflict, InDoubt, Stored
from services.bus.loop import Loop
from services.bus.replica import Pending, Replica
from tests.simulation.faults import Faults
from tests.simulation.process import Build


class AnswersBeforeTheAppend(Loop):
    """A command is told to be accepted while its commit is still on its way."""

    async def append(
        self, replica: Replica, events: tuple[AnyEvent, ...], at: Instant, cause: Cause | None = None
    ) -> Head | None:
        """Promises what it has only begun."""
        if cause is None:
            return await super().append(replica, events, at, cause)
        commit = commit_of(replica.table, self.service, events, at, cause)
        self._spawn(super().append(replica, events, at, cause))
        return Head(n=commit.n, hash=digest(encode(commit)))


class SendsNewBytesOnARetry(Loop):
    """The second attempt is dated anew, so that the first is not known again."""

    async def _land(self, replica: Replica, commit: Commit, _: bytes, pending: Pending) -> bool:
        room, table = replica.key
        expected, fact = replica.sequence, fact_of(commit.events[-1])
        while pending.landed is None:
            again = msgspec.structs.replace(commit, at=max(commit.at, self.follower.clock.now()))
            try:
                await self.log.append(room, table, self.service, fact, encode(again), expected)
            except Conflict:
                await self._settled(replica, pending)
                return pending.landed is True
            except InDoubt:
                continue
            await self._settled(replica, pending)
        return pending.landed


class DecidesAnewInDoubt(Loop):
    """An append without an answer counts as one that failed."""

    async def _land(self, replica: Replica, commit: Commit, data: bytes, pending: Pending) -> bool:
        room, table = replica.key
        fact = fact_of(commit.events[-1])
        try:
            sequence = await self.log.append(room, table, self.service, fact, data, replica.sequence)
        except Conflict:
            await self._settled(replica, pending)
            return pending.landed is True
        except InDoubt:
            return False
        subject = subjects.guarded(room, table, self.service, fact).subject
        self.follower.take_own(replica, commit, Stored(sequence, subject, data, None))
        return True


class TakesAConflictForItsOwn(Loop):
    """A conflict on a retry is always taken for the lost acknowledgement."""

    async def _land(self, replica: Replica, commit: Commit, data: bytes, pending: Pending) -> bool:
        await super()._land(replica, commit, data, pending)
        return True


class NeverSweeps(Loop):
    """Only nudges start work."""

    async def _sweep(self) -> None:
        await self._closing.wait()


class RefusesFromAnyFold(Desk):
    """A refusal goes out without a look at the log's tail."""

    async def _decide(self, replica: Replica, cause: Cause) -> Outcome | None:
        known = self.rules.known(replica.table, cause)
        if known is None and not self.rules.holds(replica.table, cause.command):
            decision = self.rules.decide(replica.table, cause, self.loop.follower.clock.now())
            if isinstance(decision, Rejected):
                return decision
        return await super()._decide(replica, cause)


class AnswersFromTheFold(Desk):
    """The number of the commit is read from the fold, after others may have gone on."""

    async def _decide(self, replica: Replica, cause: Cause) -> Outcome | None:
        outcome = await super()._decide(replica, cause)
        if not isinstance(outcome, Accepted):
            return outcome
        await asyncio.sleep(0.001)
        return Accepted(id=outcome.id, n=replica.table.n, head=replica.table.head)


class NeverReadsAgain(Follower):
    """A fact that was lost is made good by nobody."""

    async def audit(self) -> None:
        """Trusts that nothing is ever lost."""


class TrustsTheOrderOfFacts(Follower):
    """Whatever is sent on is taken for the next message of the table."""

    def take(self, replica: Replica, stored: Stored, *, in_order: bool = False) -> Commit | None:  # noqa: ARG002
        """Takes it as it comes."""
        return super().take(replica, stored, in_order=True)


class Planted(NamedTuple):
    """A house with a fault in it, the words by which it is found out, what goes wrong if not what the seed says."""

    build: Build
    words: str
    faults: Faults | None = None


PLANTED: Final[dict[str, Planted]] = {
    "answers before the append": Planted(Build(loop=AnswersBeforeTheAppend), "is told to be accepted"),
    "sends new bytes on a retry": Planted(Build(loop=SendsNewBytesOnARetry), "in doubt"),
    "decides anew in doubt": Planted(Build(loop=DecidesAnewInDoubt), "in doubt"),
    "takes a conflict for its own": Planted(Build(loop=TakesAConflictForItsOwn), "is told to be accepted"),
    "never sweeps": Planted(Build(loop=NeverSweeps), "is not at rest"),
    "refuses from any fold": Planted(Build(desk=RefusesFromAnyFold), "was the tail when it arrived"),
    "answers from the fold": Planted(Build(desk=AnswersFromTheFold), "is told to be accepted"),
    "never reads again": Planted(
        Build(follower=NeverReadsAgain), "is not at rest", Faults(fact_lost=0.5, nudge_lost=0.5)
    ),
    "trusts the order of facts": Planted(Build(follower=TrustsTheOrderOfFacts), "has a hole"),
}
