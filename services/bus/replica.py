"""One table, or one ledger, as this process knows it: the fold of what has been read, and how far that was."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Final

import structlog

from contracts.codec import digest
from contracts.commit import Commit, Head
from contracts.data import Sha256
from services.aggregate.chain import UNFOLDABLE, Chained, State, Verdict
from services.aggregate.debts import Debt
from services.aggregate.table import Table
from services.bus.aggregates import Kind
from services.bus.halts import say_halted, say_resumed, say_still_halted
from services.bus.log import Heads, Stored

logger: Final = structlog.get_logger(__name__)

AGAIN: Final = "its log is being read again"


class Pending:
    """A commit on its way: `landed` is None until the fold has passed its number, then whether it is this one."""

    def __init__(self, n: int, head: Sha256) -> None:
        self.n = n
        self.head = head
        self.landed: bool | None = None


class Replica[S: State, C: Chained]:
    """The fold of one aggregate, shared by all services of the process: `of` says of which kind it is.

    `sequence` is that of its last message in the stream, ignored ones included: what the next append expects.
    `halted` says why nothing folds any more. `strays` counts messages that are not part of the log, by kind. `debt` is
    what the state owes, `since` the loop time at which it was last changed.

    `trace` is the `traceparent` that came with the commit of `held`, if any.

    `known` are heads that the chain has still to pass. `held` is the last commit that was folded and fitted, `last` the
    SHA-256 of the message at `sequence`: by them it is found out that the log is not what it was. `asked` says whether
    the published heads have been read, `epoch` counts how often the whole log was read again.
    """

    def __init__(self, of: Kind[S, C], room: str, name: str) -> None:
        self.of = of
        self.state = of.new(room, name)
        self.sequence = 0
        self.halted: str | None = None
        self.strays: Counter[str] = Counter()
        self.debt: Debt | None = None
        self.since = 0.0
        self.known: Heads = {}
        self.held: Head | None = None
        self.last: Sha256 | None = None
        self.trace = ""
        self.asked = False
        self._size = 0
        self.epoch = 0
        self.turnstiles: dict[str, asyncio.Lock] = {}
        self._changed: asyncio.Future[None] | None = None
        self._pending: list[Pending] = []

    @property
    def key(self) -> tuple[str, str]:
        """Room and name."""
        return self.state.room, self.state.id

    @property
    def ignored(self) -> int:
        """How many messages are not part of the log."""
        return self.strays.total()

    @property
    def ready(self) -> bool:
        """Whether anything may be decided on it: it is not halted, and has passed every head that was published."""
        return self.halted is None and self.asked and not self.known

    def turnstile(self, service: str) -> asyncio.Lock:
        """Lets one decision of a service at a time through; the others wait in the order of their arrival."""
        return self.turnstiles.setdefault(service, asyncio.Lock())

    def begin(self, state: S, sequence: int, size: int = 0) -> None:
        """Starts from a fold, or the anchor of a partial read, to which all up to `sequence` belongs.

        `size`: how many messages the log had when that was found, unless it is known to be no copy.
        """
        self.state, self.sequence, self.last, self._size = state, sequence, None, size
        self.known = {n: head for n, head in self.known.items() if n >= state.n}
        self._compare()

    @property
    def is_short(self) -> bool:
        """Whether its last commit has a lower number than the log had messages: it may have begun at a copy."""
        return self.state.n < self._size

    def is_other_than(self, epoch: int) -> bool:
        """Whether somebody has read it anew since it was in this `epoch`, or it is halted: what is read has no use."""
        return self.epoch != epoch or self.halted is not None

    def learn(self, heads: Heads) -> None:
        """Has the chain pass these heads; not those that it passed while they were asked for."""
        self.known |= {n: head for n, head in heads.items() if n >= self.state.n}
        self._compare()

    def adopt(self, fresh: "Replica[S, C]") -> None:
        """Goes on from the same log read anew; where that halted it stays halted, by that reason."""
        was_short = self.is_short
        self.epoch, self._size = self.epoch + 1, 0
        if fresh.halted is not None:
            self.halt(fresh.halted)
            return
        self.state, self.sequence, self.known = fresh.state, fresh.sequence, fresh.known
        self.held, self.last, self.debt, self.since = fresh.held, fresh.last, fresh.debt, fresh.since
        self.trace, self.halted = fresh.trace, None
        if not was_short:
            say_resumed(self.of, self.state)
        self.wake()

    def heir(self, heads: Heads) -> "Replica[S, C]":
        """An empty replica of the same one, which has to pass these heads and the commit that this one holds."""
        fresh = Replica(self.of, *self.key)
        fresh.known = {**self.known, **heads}
        if self.held is not None:
            fresh.known[self.held.n] = self.held.hash
        fresh._pending = self._pending
        return fresh

    def take(self, stored: Stored, *, in_order: bool = False) -> C | None:
        """Folds a stored message if it is the next commit, and gives the commit.

        What was taken before is passed over. `in_order`: nothing lies between it and the last message taken, so that
        it is counted if it is not part of the log. Else it may be a second copy of a commit that was not read yet:
        its `previous` tells. Raises `Gap` when commits between are missing, or may be.
        """
        if stored.sequence <= self.sequence or self.halted is not None:
            return None
        if not in_order and stored.previous > self.sequence:
            raise Gap(f"message {stored.previous} is not read yet")
        reading = self.of.read(self.state, stored.subject, stored.data)
        if reading.verdict is Verdict.GAP:
            raise Gap(reading.reason)
        if reading.verdict is Verdict.NEXT and reading.commit is not None:
            self._fold(reading.commit, stored)
            return reading.commit
        if reading.verdict is Verdict.UNREADABLE:
            self.halt(reading.reason)
            return None
        if not in_order:
            raise Gap(reading.reason)
        self.sequence, self.last = stored.sequence, digest(stored.data)
        assert reading.stray is not None
        self.strays[reading.stray] += 1
        logger.error("message_ignored", **self.of.named(self.state), sequence=stored.sequence, reason=reading.reason)
        return None

    def take_own(self, commit: C, stored: Stored) -> bool:
        """Folds a commit that this process appended on top of what it knew; False: it was taken already."""
        if stored.sequence <= self.sequence or self.halted is not None:
            return False
        self._fold(commit, stored)
        return True

    def _fold(self, commit: C, stored: Stored) -> None:
        try:
            owed = self._owed_after(commit, stored.data)
        except UNFOLDABLE as error:
            self.halt(f"commit {commit.n} does not follow on the state before it: {error!r}")
            return
        self.sequence, self.last = stored.sequence, self.state.head
        self._compare()
        if self.halted is not None:
            return
        self.held = Head(n=commit.n, hash=self.state.head)
        self.trace = stored.trace
        self.debt = owed
        self.since = asyncio.get_running_loop().time()
        for pending in self._pending:
            if pending.n == commit.n:
                pending.landed = pending.head == self.state.head
        self.wake()

    def _owed_after(self, commit: C, data: bytes) -> Debt | None:
        """Folds a commit after which it can be said what is owed; else raises, and the state is as it was."""
        before = self.of.fold(self.state, commit, data)
        try:
            return self.of.debt(self.state)
        except UNFOLDABLE:
            self.state.become(before)
            raise

    def _compare(self) -> None:
        """Halts where the last commit is another one than somebody knows by this number."""
        n, found = self.state.n, self.state.head
        if (known := self.known.pop(n, found)) != found:
            self.halt(f"commit {n} was altered: its hash is {found}, and {known} was published")

    def check_heads(self) -> None:
        """Halts where the log, read up to its tail, ends before a commit that somebody knows."""
        n, known = self.state.n, max(self.known, default=0)
        if self.halted is None and known > n:
            which = f"commit {known} is" if known == n + 1 else f"commits {n + 1} to {known} are"
            self.halt(f"{which} missing: the log ends at commit {n}, and commit {known} is known")

    def halt(self, reason: str) -> None:
        """Nothing folds past this point, and nothing is appended."""
        if self.halted in (None, AGAIN):
            say_halted(self.of, self.state, reason)
        elif self.halted != reason:
            say_still_halted(self.of, self.state, reason)
        self.halted = reason
        self.debt = None
        self.wake()

    def suspend(self) -> None:
        """The same for as long as the log is read again, which is no alarm by itself."""
        self.halted = self.halted or AGAIN
        self.debt = None
        self.wake()

    def expect(self, pending: Pending) -> None:
        """Has the fold say whether this commit is the one at its number."""
        self._pending.append(pending)

    def forget(self, pending: Pending) -> None:
        """Ends what `expect` began."""
        self._pending.remove(pending)

    def wake(self) -> None:
        """Tells all that wait in `changed`."""
        if self._changed is not None and not self._changed.done():
            self._changed.set_result(None)
        self._changed = None

    async def changed(self, timeout_s: float) -> bool:
        """Waits until it changes; False when it did not in time."""
        if self._changed is None:
            self._changed = asyncio.get_running_loop().create_future()
        done, _ = await asyncio.wait((self._changed,), timeout=timeout_s)
        return bool(done)


class Gap(Exception):
    """A message came whose predecessors may not all have been read: read on from the last one known."""


type Watcher[S: State, C: Chained] = Callable[[Replica[S, C], C, Stored], None]
"""Is told of each commit that was folded."""

TableReplica = Replica[Table, Commit]
