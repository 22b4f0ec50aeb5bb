"""Faults planted on purpose: parts that look right and are not. The simulation has to find each of them."""

import asyncio
from typing import Final, NamedTuple

import msgspec

from contracts import subjects
from contracts.codec import decode, digest, encode
from contracts.commit import Cause, Commit, Head
from contracts.data import Instant
from contracts.events import AnyEvent, fact_of
from contracts.outcomes import Accepted, Outcome, Rejected
from contracts.queries import PublicTable
from contracts.subjects import Guarded
from contracts.views import PublicView
from services.aggregate.table import Table
from services.bus.clock import Clock
from services.bus.desk import TableDesk
from services.bus.follower import TableFollower
from services.bus.log import Conflict, InDoubt, Stored
from services.bus.loop import TableLoop
from services.bus.replica import Pending, TableReplica
from services.bus.stall import StallGuard
from services.table.app import RULES
from services.views.public import public_table, public_view
from tests.simulation.faulty_log import FaultyLog
from tests.simulation.planted_cashier import (
    UNFORGETTING,
    ConfirmsTooEarly,
    CreditsRakeAtOnce,
    FreezesSeatsAlone,
    KeepsWhatWasPaid,
    PaysAgain,
    ReturnsByTheClock,
    SkipsCommits,
)
from tests.simulation.planted_rules import NEVER_RELEASES, bank_used_twice, role_with, rules_with, swapped_stacks
from tests.simulation.process import Build
from tests.simulation.spectators import Spectator


class AnswersBeforeTheAppend(TableLoop):
    """A command is told to be accepted while its commit is still on its way."""

    async def append(
        self, replica: TableReplica, events: tuple[AnyEvent, ...], at: Instant, cause: Cause | None = None
    ) -> Head | None:
        """Promises what it has only begun."""
        if cause is None:
            return await super().append(replica, events, at, cause)
        commit = self.of.commit_of(replica.state, self.service, events, at, cause)
        self._background.begin(super().append(replica, events, at, cause), "append")
        return Head(n=commit.n, hash=digest(encode(commit)))


class SendsNewBytesOnARetry(TableLoop):
    """The second attempt is dated anew, so that the first is not known again."""

    async def _land(self, replica: TableReplica, commit: Commit, _: bytes, pending: Pending) -> bool:
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


class DecidesAnewInDoubt(TableLoop):
    """An append without an answer counts as one that failed."""

    async def _land(self, replica: TableReplica, commit: Commit, data: bytes, pending: Pending) -> bool:
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


class TakesAConflictForItsOwn(TableLoop):
    """A conflict on a retry is always taken for the lost acknowledgement."""

    async def _land(self, replica: TableReplica, commit: Commit, data: bytes, pending: Pending) -> bool:
        await super()._land(replica, commit, data, pending)
        return True


class NeverSweeps(TableLoop):
    """Only nudges start work."""

    async def _sweep(self) -> None:
        await self._closing.wait()


class RefusesFromAnyFold(TableDesk):
    """A refusal goes out without a look at the log's tail."""

    async def _decide(self, replica: TableReplica, cause: Cause) -> Outcome | None:
        known = self.rules.known(replica.state, cause)
        if known is None and not self.rules.holds(replica.state, cause):
            decision = self.rules.decide(replica.state, cause, self.loop.follower.clock.now())
            if isinstance(decision, Rejected):
                return decision
        return await super()._decide(replica, cause)


class AnswersFromTheFold(TableDesk):
    """The number of the commit is read from the fold, after others may have gone on."""

    async def _decide(self, replica: TableReplica, cause: Cause) -> Outcome | None:
        outcome = await super()._decide(replica, cause)
        if not isinstance(outcome, Accepted):
            return outcome
        await asyncio.sleep(0.001)
        return Accepted(id=outcome.id, n=replica.state.n, head=replica.state.head)


class NeverReadsAgain(TableFollower):
    """A fact that was lost is made good by nobody."""

    async def audit(self) -> None:
        """Trusts that nothing is ever lost."""


class TrustsTheOrderOfFacts(TableFollower):
    """Whatever is sent on is taken for the next message of the table."""

    def take(self, replica: TableReplica, stored: Stored, *, in_order: bool = False) -> Commit | None:  # noqa: ARG002
        """Takes it as it comes."""
        return super().take(replica, stored, in_order=True)


class FiltersBySubject(FaultyLog):
    """The expectation is compared with the last message of the commit's own subject, not with the table's."""

    def store(self, address: Guarded, data: bytes, expected: int) -> Stored:
        """Overlooks what other facts came first."""
        own, found = self._facts[address.subject], self._tables[address.guard]
        blind = bool(found) and (own[-1].sequence if own else 0) <= expected < found[-1].sequence
        return super().store(address, data, found[-1].sequence if blind else expected)


def _forgetful(table: Table) -> Table:
    """The table without the commands that were accepted before this hand."""
    lately = {key: known for key, known in table.accepted.items() if known.n > table.stated_n}
    return msgspec.structs.replace(table, accepted=lately)


FORGETFUL: Final = msgspec.structs.replace(
    RULES,
    known=lambda table, cause: RULES.known(_forgetful(table), cause),
    decide=lambda table, cause, at: RULES.decide(_forgetful(table), cause, at),
)
UNWRITTEN: Final = msgspec.structs.replace(RULES, refused=lambda _, __: ())


class TellsBeforeTheAcknowledgement(TableLoop):
    """Heads and cards leave the house while the commit is still on its way."""

    async def append(
        self, replica: TableReplica, events: tuple[AnyEvent, ...], at: Instant, cause: Cause | None = None
    ) -> Head | None:
        """Takes for done what it is about to do."""
        commit = self.of.commit_of(replica.state, self.service, events, at, cause)
        self._after(replica, commit, Head(n=commit.n, hash=digest(encode(commit))))
        return await super().append(replica, events, at, cause)


class LosesTheOrderOfItsTasks(TableFollower):
    """Two tasks of one service decide at the same table at the same time."""

    def replica(self, room: str, table: str) -> TableReplica:
        """Gives replicas whose turnstiles hold nobody up."""
        replica = super().replica(room, table)
        replica.turnstile = lambda service: asyncio.Lock()  # type: ignore[method-assign] # noqa: ARG005
        return replica


class PaysAgainAfterACrash(TableLoop):
    """The settlement goes on with what it did last, and does not look whether that is in the log."""

    async def start(self) -> None:
        """Pays the pots of each hand that is not over."""
        for replica in self.follower.replicas.values():
            hand = replica.state.hand
            if self.service == "settlement" and hand is not None and hand.awards is not None:
                self._background.begin(self.append(replica, (hand.awards,), self.follower.clock.now()), "append")
        await super().start()


class OwesBesideOthers(TableLoop):
    """The rake owes until the pots are paid, so that two services owe at the same time."""

    def is_owing(self, replica: TableReplica) -> bool:
        """Also when it is the settlement's turn."""
        beside = replica.debt is not None and self.service == "rake" and replica.debt.duty == "award_pots"
        return beside or super().is_owing(replica)

    async def pay_inside(self, replica: TableReplica) -> None:
        """Takes the rake again."""
        await super().pay_inside(replica)
        hand = replica.state.hand
        if self.service == "rake" and self.is_owing(replica) and hand is not None and hand.rake is not None:
            await self.append(replica, (hand.rake,), self.follower.clock.now())


class BelievesItsClock(Clock):
    """The server's clock is nobody's concern."""

    def trusted(self, _: Instant | None) -> bool:
        """Is always sure of the time."""
        return True


def shown_to_everybody(table: Table, commit: Commit) -> PublicView:
    """A view of a commit as it stands in the log."""
    return msgspec.structs.replace(public_view(table, commit), events=commit.events)


class NeverNoticesAStall(StallGuard):
    """A stopped process that wakes up goes on with what came before."""

    @property
    def stalled(self) -> bool:
        """Drops nothing."""
        return False

    @property
    def stalls(self) -> int:
        """Has never stood still."""
        return 0


class NeverAsks(Spectator):
    """A view that did not come is missed by nobody."""

    async def ask(self) -> None:
        """Trusts that views are never lost."""


class TakesAnyPicture(Spectator):
    """A picture of a table is taken for the newest, whoever answers."""

    def show(self, data: bytes) -> None:
        """Takes a view for the next one, and for whole what there is."""
        self.sight.n = decode(data, PublicView).previous
        super().show(data)


def without_what_waits(table: Table) -> PublicTable | None:
    """A picture that does not tell the turn which the deal will open."""
    picture = public_table(table)
    waits = picture is not None and picture.turn_number is None
    return msgspec.structs.replace(picture, turn=None) if picture is not None and waits else picture


class Planted(NamedTuple):
    """A house with a fault in it, and the words by which it is found out."""

    build: Build
    words: str


PLANTED: Final[dict[str, Planted]] = {
    "answers before the append": Planted(Build(loop=AnswersBeforeTheAppend), "is told to be accepted"),
    "sends new bytes on a retry": Planted(Build(loop=SendsNewBytesOnARetry), "in doubt"),
    "decides anew in doubt": Planted(Build(loop=DecidesAnewInDoubt), "in doubt"),
    "takes a conflict for its own": Planted(Build(loop=TakesAConflictForItsOwn), "is told to be accepted"),
    "never sweeps": Planted(Build(loop=NeverSweeps), "stands: "),
    "refuses from any fold": Planted(Build(desk=RefusesFromAnyFold), "was the tail when it arrived"),
    "answers from the fold": Planted(Build(desk=AnswersFromTheFold), "is told to be accepted"),
    "never reads again": Planted(Build(follower=NeverReadsAgain), "stands: "),
    "filters by the subject alone": Planted(Build(log=FiltersBySubject), "is told to be accepted"),
    "forgets commands when a hand ends": Planted(Build(rules=FORGETFUL), "is the cause of commits"),
    "does not write refusals down": Planted(Build(rules=UNWRITTEN), "nothing in the log says so"),
    "tells before the acknowledgement": Planted(Build(loop=TellsBeforeTheAcknowledgement), "is published and not in"),
    "loses the order of two tasks": Planted(Build(follower=LosesTheOrderOfItsTasks), "in doubt"),
    "pays again after a crash": Planted(Build(loop=PaysAgainAfterACrash), "owed nothing"),
    "two owe at the same time": Planted(Build(loop=OwesBesideOthers), "owed nothing"),
    "believes its own clock": Planted(Build(clock=BelievesItsClock), "ahead of the server's clock"),
    "shows everything": Planted(Build(view=shown_to_everybody), "shows"),
    "never notices a stall": Planted(Build(guard=NeverNoticesAStall), "which came before it stood still"),
    "never asks for a view that was lost": Planted(Build(spectator=NeverAsks), "a spectator sees T"),
    "takes a picture with a hole for whole": Planted(Build(spectator=TakesAnyPicture), "where the log has"),
    "leaves out what waits for the deal": Planted(Build(picture=without_what_waits), "a spectator sees turn None"),
    "pays a request twice after a crash": Planted(Build(till=PaysAgain), "follow from tables"),
    "forgets a paid request": Planted(Build(till=KeepsWhatWasPaid), "follow from tables"),
    "confirms before the acknowledgement": Planted(Build(till=ConfirmsTooEarly), "before the ledger says so"),
    "refunds and seats": Planted(Build(till=ReturnsByTheClock), "follow from tables"),
    "skips a table's commit": Planted(Build(till=SkipsCommits), "follow from tables"),
    "credits rake before the hand has ended": Planted(Build(till=CreditsRakeAtOnce), "follow from tables"),
    "freezes seats alone": Planted(Build(till=FreezesSeatsAlone), "with an account that is frozen"),
    "remembers an answer past its settlement": Planted(Build(ledgers=UNFORGETTING), "to commit"),
    "a cancelled hand mixes up stacks": Planted(Build(rules=rules_with(swapped_stacks)), "the cancelled hand leaves"),
    "a time bank is used twice": Planted(
        Build(rules=rules_with(bank_used_twice), role=role_with(bank_used_twice)), "ms were used, holds"
    ),
    "a reservation is never released": Planted(Build(role=NEVER_RELEASES), "table owes release_seat"),
    "trusts the order of facts": Planted(Build(follower=TrustsTheOrderOfFacts), "has a hole"),
}
