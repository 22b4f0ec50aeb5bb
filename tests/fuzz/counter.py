"""The cashier's counter: account commands of any bytes arrive, tables ask for chips, and every account is watched."""

from datetime import timedelta
from functools import cache
from itertools import count
from typing import Final, NamedTuple

import msgspec

from contracts.account_commands import AnyAccountCommand, Correct, Deposit, OpenAccount, Withdraw
from contracts.accounts import SYSTEM_ACCOUNTS
from contracts.codec import decode_account_command, decode_ledger_commit, decode_outcome, encode
from contracts.commit import Commit
from contracts.data import CHIPS_MAX, Id, Instant
from contracts.events.cashier import LedgerEvent, entry_of
from contracts.events.state import Actor
from contracts.ledger import HOUSE, AccountCause
from contracts.outcomes import Accepted, Allowed, Code, Outcome, Rejected
from contracts.subjects import LEDGERS, ActorKind, guarded
from services.accounting.derivation import derived
from services.accounting.sides import faults
from services.aggregate.chain import Verdict, read_ledger
from services.aggregate.ledger import Ledger
from services.aggregate.ledger_evolve import evolve
from services.aggregate.ledger_fold import commit_of, fold
from services.cashier.asked import RULES
from services.cashier.transfers import Movement, due
from tests.accounting.evening import evening
from tests.cashier.books import START, Books

NOTHING_ELSE: Final[frozenset[Code]] = frozenset(
    {"account_exists", "duplicate_id", "duplicate_reference", "stale", "wrong_currency"}
)
"""Refused whatever else the command says: another command is accepted, and the message says which."""
AMOUNTS: Final = ("not_enough", "above_maximum")
_ids: Final = count()


type TableCommit = tuple[Id, Commit]
"""A commit of a table, and its room."""


class State(NamedTuple):
    """A ledger to begin with, and when; `tables` are the tables' commits, some of them still to be seen to."""

    ledger: Ledger
    at: Instant
    tables: tuple[TableCommit, ...] = ()


def copied(ledger: Ledger) -> Ledger:
    """A ledger that can be folded on without changing this one."""
    return msgspec.structs.replace(
        ledger,
        balances=dict(ledger.balances),
        players=dict(ledger.players),
        tables=dict(ledger.tables),
        references=dict(ledger.references),
        commands=dict(ledger.commands),
        replaced=None,
    )


@cache
def states() -> tuple[State, ...]:
    """Ledgers after every commit of an evening; one that holds all it can; such as are empty, or none at all."""
    played = evening()
    tables = tuple((each.room, each.commit) for stand in played.stands for each in stand.movements())
    ledger = Ledger(id="real-USD")
    found = [State(copied(ledger), START, tables)]
    for commit, data in zip(played.books.commits, played.books.lines, strict=True):
        fold(ledger, commit, data)
        found.append(State(copied(ledger), commit.at, tables))
    return (*found, _full(), *(State(Ledger(id=name), START) for name in ("play-EUR", "real-usd", "main")))


def _full() -> State:
    """A ledger with no room for one chip more."""
    books = Books()
    for player in ("alice", "bob"):
        books.ask(OpenAccount(id=f"o-{player}", made=START, player=player))
    books.ask(Deposit(id="d", made=START, player="alice", amount=CHIPS_MAX, reference="d"))
    return State(books.ledger, books.at)


class Counter:
    """One ledger and who stands before it. Everything that must hold is asserted; nothing else may be raised."""

    def __init__(self, state: State) -> None:
        self.ledger = copied(state.ledger)
        self.at = state.at

    def wait(self, seconds: int) -> None:
        """Time goes by."""
        self.at += timedelta(seconds=seconds)

    def submit(self, kind: ActorKind, name: str, body: bytes) -> Outcome:
        """What the cashier's desk does with a command; the answer."""
        before = copied(self.ledger)
        outcome = self._answer(Actor(kind=kind, name=name), body)
        assert decode_outcome(encode(outcome)) == outcome, "an answer is read as it was written"
        if isinstance(outcome, Rejected):
            assert outcome.message
            moved = (self.ledger.balances, self.ledger.players, self.ledger.references, self.ledger.tables)
            assert moved == (before.balances, before.players, before.references, before.tables), (
                "a refusal moves nothing"
            )
        return outcome

    def _answer(self, actor: Actor, body: bytes) -> Outcome:
        cause = RULES.cause(actor, self.at, body)
        if isinstance(cause, Rejected):
            _says_what_would_do(cause)
            return cause
        command = cause.command
        assert decode_account_command(encode(command)) == command, "a command is read as it was written"
        known = RULES.known(self.ledger, cause)
        if known is not None:
            return known
        decided = self._decided(cause)
        if not isinstance(decided, Rejected):
            self._append(decided, cause)
            accepted = RULES.known(self.ledger, cause)
            assert isinstance(accepted, Accepted), "an accepted command is known"
            return accepted
        _says_what_would_do(decided)
        self._would_be_accepted(cause, decided)
        written = RULES.refused(decided, cause)
        if written:
            self._append(written, cause)
            again = RULES.known(self.ledger, cause)
            assert isinstance(again, Rejected), "a refusal that was written down is known"
            assert (again.code, again.message) == (decided.code, decided.message)
        return decided

    def _decided(self, cause: AccountCause) -> tuple[LedgerEvent, ...] | Rejected:
        before = copied(self.ledger)
        decided = RULES.decide(self.ledger, cause, self.at)
        assert self.ledger == before, "deciding changes nothing"
        assert isinstance(decided, Rejected) or self.ledger.n or RULES.opens(cause), "only an account opens a ledger"
        return decided

    def _would_be_accepted(self, cause: AccountCause, refused: Rejected) -> None:
        """The largest amount that a refusal offers is accepted, and one more is not."""
        most = refused.allowed.maximum
        if refused.code not in AMOUNTS or not most:
            return
        for amount, accepted in ((most, True), (most + 1, False)):
            fitting = _with(cause.command, amount)
            decided = self._decided(msgspec.structs.replace(cause, command=fitting))
            assert isinstance(decided, Rejected) is not accepted, f"{refused.message} and {amount} {decided}"

    def follow(self, commits: tuple[TableCommit, ...], *, given_up: bool) -> None:
        """The cashier sees to the tables' commits, while the requests are open there, or given up by now."""
        movements = [Movement(room, each, frozenset() if given_up else frozenset({each.n})) for room, each in commits]
        before = copied(self.ledger)
        found = due(self.ledger, movements)
        assert self.ledger == before, "owing changes nothing"
        if found.entries:
            self._append(found.entries)

    def _append(self, entries: tuple[LedgerEvent, ...], cause: AccountCause | None = None) -> None:
        """Writes and folds a commit as any reader would; both sides of every entry are added up (R136)."""
        commit = commit_of(self.ledger, entries, self.at, cause)
        data = encode(commit)
        assert decode_ledger_commit(data) == commit, "a commit is read as it was written"
        reading = read_ledger(
            self.ledger, guarded(HOUSE, self.ledger.id, "cashier", entry_of(entries[-1]), LEDGERS).subject, data
        )
        assert reading.verdict is Verdict.NEXT, reading.reason
        assert reading.commit == commit
        if cause is not None:
            assert derived(self.ledger, commit, None) == entries, "a decision is derived again"
        draft = self.ledger.copy()
        draft.n = commit.n
        for entry in entries:
            assert [*faults(entry, draft.balances)] == [], f"the accounts do not add up after {entry}"
            evolve(draft, entry)
        fold(self.ledger, commit, data)
        balances = self.ledger.balances
        assert sum(balances.values()) == 0, "the balances add up to nothing"
        assert all(balance >= 0 for account, balance in balances.items() if account not in SYSTEM_ACCOUNTS)
        assert all(abs(balance) <= CHIPS_MAX for balance in balances.values())


def _with(command: AnyAccountCommand, amount: int) -> AnyAccountCommand:
    assert isinstance(command, Deposit | Withdraw | Correct)
    return msgspec.structs.replace(command, amount=amount, id=f"fitting-{next(_ids)}")


def _says_what_would_do(refused: Rejected) -> None:
    """A refusal names what would be accepted; a copy of its command is told the message alone."""
    if refused.code not in NOTHING_ELSE and "between two accounts" not in refused.message:
        assert refused.allowed != Allowed(), f"{refused} offers nothing"
