"""Which stored messages are part of a log: whether one is the next commit of the chain of a table or a ledger."""

from collections.abc import Callable
from enum import Enum
from typing import Any, Final, Literal, Never, Protocol, Self

import msgspec

from contracts.codec import decode_by, decode_commit, decode_ledger_commit
from contracts.commit import Commit
from contracts.data import Instant, Sha256
from contracts.events import SERVICES, Event, emitter_of, fact_of
from contracts.events.cashier import entry_of
from contracts.ledger import LedgerCommit
from contracts.subjects import LEDGERS, TABLES, Roots, read_commit
from services.aggregate.ledger import Ledger
from services.aggregate.table import Table


class Verdict(Enum):
    """What a stored message is to a log that has been read up to some commit (DESIGN 1)."""

    NEXT = "next"
    IGNORED = "ignored"
    GAP = "gap"
    UNREADABLE = "unreadable"


type Stray = Literal["not_a_commit", "of_another", "unchained", "misplaced"]
"""Of which kind a message is that is no part of a log: not readable, of another table or ledger, not the next of the
chain, or with a subject, an emitter and events that do not belong together."""

UNFOLDABLE: Final = (LookupError, AttributeError, TypeError, ValueError)
"""What a fold, and `debt`, raise where the next commit cannot follow on the state before it (R145)."""


class State(Protocol):
    """The fold of an aggregate's log up to commit `n`, whose SHA-256 is `head` and whose time is `at`."""

    room: str
    id: str
    n: int
    head: Sha256
    at: Instant | None

    def copy(self) -> Self:
        """One that can be changed without changing this one."""

    def become(self, before: Any) -> None:  # noqa: ANN401 - what `fold` gives: each kind its own
        """Takes back all that came after `before`."""


class Linked(Protocol):
    """The part of a commit that every release can read: enough to see whether it extends the chain."""

    @property
    def n(self) -> int:
        """Its number in the log, from 1."""

    @property
    def prev(self) -> Sha256:
        """The SHA-256 of the commit before it."""

    @property
    def by(self) -> str:
        """The service that wrote it."""


class Chained(Linked, Protocol):
    """A commit of any aggregate: what the chain and the loop have to know of it."""

    @property
    def at(self) -> Instant:
        """When it was decided."""

    @property
    def events(self) -> tuple[Event, ...]:
        """What happened."""


class Judged[C: Chained](msgspec.Struct, frozen=True):
    """A verdict on a stored message, its commit where it could be read, and why it does not follow.

    `stray`: of which kind an ignored one is.
    """

    verdict: Verdict
    commit: C | None = None
    reason: str = ""
    stray: Stray | None = None


class Chain[S: State, C: Chained](msgspec.Struct, frozen=True, kw_only=True):
    """What the logs of one kind of aggregate ask of their commits.

    `aggregate` is what one is called, and the field of a commit that says of which it is; `event` is what an event is
    called. `services` may write commits, on subjects that begin as `roots` say, each with the events of which
    `emitter_of` names it.
    """

    aggregate: str
    event: str
    decode: Callable[[bytes], C]
    outlines: msgspec.json.Decoder[Any]
    roots: Roots
    services: tuple[str, ...]
    emitter_of: Callable[[Event], str]
    fact_of: Callable[[Event], str]

    def read(self, state: S, subject: str, data: bytes) -> Judged[C]:
        """Judges one stored message against the chain of an aggregate; never raises.

        NEXT: the commit extends the chain. IGNORED: it is not part of the log. GAP: commits between are missing.
        UNREADABLE: it extends the chain, and this release cannot read it: nothing may fold past it.
        """
        try:
            commit = self.decode(data)
        except msgspec.MsgspecError as error:
            return self._read_outline(state, subject, data, error)
        stray = self._stray(state, subject, commit)
        if stray is not None:
            return stray
        for event in commit.events:
            if self.emitter_of(event) != commit.by:
                return _ignored("misplaced", f"{commit.by} may not emit {self.fact_of(event)}")
        if not subject.endswith(f".{self.fact_of(commit.events[-1])}"):
            return _ignored("misplaced", f"subject {subject} does not name the last {self.event}")
        if commit.n > state.n + 1:
            return Judged(Verdict.GAP, commit, reason=f"commit {commit.n} where {state.n + 1} is due")
        return Judged(Verdict.NEXT, commit)

    def _read_outline(self, state: S, subject: str, data: bytes, error: msgspec.MsgspecError) -> Judged[C]:
        """What cannot be read as a commit: a commit all the same if its outline extends the chain."""
        try:
            outline: Linked = decode_by(self.outlines, data)
        except msgspec.MsgspecError as no_outline:
            return _ignored("not_a_commit", f"not a commit: {no_outline}")
        stray = self._stray(state, subject, outline)
        if stray is not None:
            return stray
        return Judged(Verdict.UNREADABLE, reason=f"commit {outline.n} cannot be read: {error}")

    def _stray(self, state: S, subject: str, commit: Linked) -> Judged[C] | None:
        """Why a message is no part of the log: it does not extend the chain, or its subject is another's."""
        if (of := getattr(commit, self.aggregate)) != state.id:
            return _ignored("of_another", f"commit of {self.aggregate} {of}")
        if commit.n <= state.n or (commit.n == state.n + 1 and commit.prev != state.head):
            return _ignored("unchained", f"commit {commit.n} does not extend commit {state.n}")
        address = read_commit(subject, self.roots)
        fits = address is not None and address.table == state.id and address.service == commit.by
        if not fits or commit.by not in self.services:
            return _ignored("misplaced", f"subject {subject} is not that of a commit by {commit.by}")
        return None


def _ignored(stray: Stray, reason: str) -> Judged[Never]:
    return Judged(Verdict.IGNORED, reason=reason, stray=stray)


def _outlines(aggregate: str) -> msgspec.json.Decoder[Any]:
    """Reads what is `Linked`, and of which aggregate it is."""
    fields = [(aggregate, str), ("n", int), ("prev", str), ("by", str)]
    return msgspec.json.Decoder(msgspec.defstruct("Outline", fields))


_OF_TABLES: Final[Chain[Table, Commit]] = Chain(
    aggregate="table",
    event="event",
    decode=decode_commit,
    outlines=_outlines("table"),
    roots=TABLES,
    services=SERVICES,
    emitter_of=emitter_of,
    fact_of=fact_of,
)

_OF_LEDGERS: Final[Chain[Ledger, LedgerCommit]] = Chain(
    aggregate="ledger",
    event="entry",
    decode=decode_ledger_commit,
    outlines=_outlines("ledger"),
    roots=LEDGERS,
    services=("cashier",),
    emitter_of=lambda _: "cashier",
    fact_of=entry_of,
)

read_table: Final = _OF_TABLES.read
"""Judges a stored message against the chain of a table."""

read_ledger: Final = _OF_LEDGERS.read
"""Judges a stored message against the chain of a ledger."""
