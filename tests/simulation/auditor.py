"""Watches the ledgers' logs beside the tables', and says where chips are in two places, or in none."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from contracts.account_commands import AnyAccountCommand
from contracts.accounts import table_account
from contracts.codec import decode_ledger_commit, decode_outcome
from contracts.commands import ConfirmRequest
from contracts.commit import Commit
from contracts.events.cashier import (
    AccountCommandRefused,
    ChipsBought,
    ChipsReturned,
    Corrected,
    Deposited,
    LedgerEvent,
    PurchaseRefused,
    PurchaseSettled,
    Source,
    Withdrawn,
    entry_of,
)
from contracts.ledger import AccountCause, LedgerCommit, ledger_of
from contracts.outcomes import Accepted, Rejected
from contracts.subjects import LEDGERS, CommandSubject, read_commit
from services.aggregate.chain import Verdict, read_ledger
from services.aggregate.ledger import Ledger
from services.aggregate.ledger_evolve import evolve
from services.aggregate.ledger_fold import fold
from services.aggregate.movements import is_for_the_cashier
from services.aggregate.table import Table
from services.bus.log import Stored
from services.bus.stall import STALL_S_MAX
from services.cashier.decider import decide
from services.cashier.refusals import refused_events
from services.cashier.told import is_banker, open_requests
from services.cashier.transfers import Movement, due
from tests.simulation.bookkeeper import chips_at
from tests.simulation.judge import AHEAD_S_MAX, UNDECIDED, Judge
from tests.simulation.virtual_loop import Owner

UNWRITTEN = ("stale", "not_allowed", "duplicate_id", "malformed", "oversized", "wrong_currency")
"""Refusals of account commands that rest on nothing that passes."""

type CommandId = tuple[str, str, str, str]
"""Ledger, kind of actor, name, id."""


class Copy(NamedTuple):
    """One delivery of an account command to a desk, and what the ledger's last commit then was."""

    key: CommandId
    command: AnyAccountCommand
    tail: int


class Told(NamedTuple):
    """The commit that answers a command, and how it was refused, if it was."""

    n: int
    head: str
    refusal: AccountCommandRefused | None


class Auditor:
    """The true fold of each ledger; what is wrong is said to the judge of the tables.

    `reversed` counts commands that were refused because nobody had an account yet, and taken on a later copy.
    """

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self.ledgers: dict[str, Ledger] = {}
        self.heads: dict[str, list[str]] = {}
        self.commits: dict[str, list[LedgerCommit]] = {}
        self.ignored = 0
        self.accepted = 0
        self.reversed = 0
        self.refused: dict[CommandId, str] = {}
        self.answers: dict[tuple[str, int], bool] = {}
        self._settled: dict[tuple[str, int], int] = {}
        self._outside: defaultdict[str, int] = defaultdict(int)
        self._chips: defaultdict[str, list[int]] = defaultdict(lambda: [0])
        self._moves: defaultdict[str, list[Commit]] = defaultdict(list)
        self._causes: dict[CommandId, Told] = {}
        self._copies: dict[str, Copy] = {}
        self._came: dict[tuple[str, CommandId], float] = {}
        self._decided: dict[tuple[str, str], bytes] = {}
        self._doubts: dict[tuple[str, str], tuple[int, bytes]] = {}
        judge.watchers.append(self.on_table)

    def says(self, what: str) -> None:
        """Notes what may never be."""
        self.judge.says(what)

    def ledger(self, name: str) -> Ledger:
        """The true state of a ledger."""
        if name not in self.ledgers:
            self.ledgers[name] = Ledger(id=name)
            self.heads[name], self.commits[name] = [], []
        return self.ledgers[name]

    # The ledgers' log

    def decided(self, owner: Owner, ledger: str, data: bytes) -> None:
        """A commit is to be appended: none takes a command from before a standstill for the first time (DESIGN 4)."""
        if self._decided.get((owner.name, ledger)) == data:
            return
        self._decided[owner.name, ledger] = data
        cause, still, now = decode_ledger_commit(data).cause, owner.stood_still, asyncio.get_running_loop().time()
        if cause is None or now < still.until or still.until - still.since <= STALL_S_MAX:
            return
        key = (ledger, cause.actor.kind, cause.actor.name, cause.command.id)
        if self._came[owner.name, key] < still.until:
            self.says(f"{owner.name} wakes up and takes {key}, which came before it stood still")

    def sent(self, owner: Owner, ledger: str, data: bytes, expected: int) -> None:
        """An append goes out: while an earlier one is in doubt, only the same bytes may."""
        doubted = self._doubts.get((owner.name, ledger))
        if doubted is not None and doubted[0] == expected and doubted[1] != data:
            self.says(f"{owner.name} decides anew on {ledger} while its append after {expected} is in doubt")

    def doubted(self, owner: Owner, ledger: str, data: bytes, expected: int) -> None:
        """An append got no answer."""
        self._doubts[owner.name, ledger] = (expected, data)

    def stored(self, message: Stored) -> None:
        """A message is in the log."""
        address = read_commit(message.subject, LEDGERS)
        assert address is not None
        ledger = self.ledger(address.table)
        reading = read_ledger(ledger, message.subject, message.data)
        if reading.verdict is Verdict.IGNORED:
            self.ignored += 1
        elif reading.verdict is not Verdict.NEXT or reading.commit is None:
            self.says(f"{ledger.id}: {reading.reason}")
        else:
            self._fold(ledger, reading.commit, message.data)

    def _fold(self, ledger: Ledger, commit: LedgerCommit, data: bytes) -> None:
        ahead_s = (commit.at - self.judge.now()).total_seconds()
        if ahead_s > AHEAD_S_MAX:
            self.says(f"{ledger.id}/{commit.n} is dated {ahead_s:.1f} s ahead of the server's clock")
        self._derive(ledger, commit)
        fold(ledger, commit, data)
        self.heads[ledger.id].append(ledger.head)
        self.commits[ledger.id].append(commit)
        for entry in commit.events:
            self._note(ledger, commit, entry)
        self._note_cause(ledger, commit)
        self._count(ledger, commit.n)

    def _derive(self, ledger: Ledger, commit: LedgerCommit) -> None:
        """Every entry follows from the commit's cause, or from the tables' commits up to those that it names."""
        if commit.cause is not None:
            must = self._decision(ledger, commit.cause, commit)
        else:
            must = due(ledger, self._movements(ledger, commit)).entries
        if must != commit.events:
            self.says(f"{ledger.id}/{commit.n} says {commit.events}, and {must} follow from {commit.cause or 'tables'}")

    def _decision(self, ledger: Ledger, cause: AccountCause, commit: LedgerCommit) -> tuple[LedgerEvent, ...]:
        decision = decide(ledger, cause, commit.at)
        return refused_events(decision, cause) if isinstance(decision, Rejected) else decision

    def _movements(self, ledger: Ledger, commit: LedgerCommit) -> list[Movement]:
        """Of each table that is named, in that order, what it moved after the ledger's position, up to what is named.

        Whether a request was open then is for the cashier's fold to say; that may lag, and is never ahead of the log:
        what it held for closed is closed.
        """
        sources = [source for entry in commit.events if (source := _source(entry)) is not None]
        last = {source.table: source.n for source in sources}
        expired = {
            (entry.source.table, entry.source.n)
            for entry in commit.events
            if isinstance(entry, PurchaseRefused) and entry.code == "expired"
        }
        found = []
        for name, n in last.items():
            table, position = self.judge.table(name), ledger.table("main", name).position
            if not is_banker(ledger, table):
                self.says(f"{ledger.id}/{commit.n} moves chips of {name}, which is not of this ledger")
            for moved in self._moves[name]:
                if position < moved.n <= n:
                    gone = (name, moved.n) in expired
                    found.append(Movement("main", moved, frozenset() if gone else frozenset((moved.n,))))
                    if gone and moved.n in open_requests(table):
                        self.says(f"{ledger.id}/{commit.n} gives up request {moved.n} of {name}, which is open")
        return found

    def _note(self, ledger: Ledger, commit: LedgerCommit, entry: LedgerEvent) -> None:
        match entry:
            case Deposited() | Withdrawn():
                self._outside[ledger.id] += entry.postings[0 if isinstance(entry, Withdrawn) else 1].amount
            case Corrected():
                self._outside[ledger.id] -= sum(side.amount for side in entry.postings if side.account == "cash")
            case ChipsBought() | PurchaseRefused():
                request = (entry.source.table, entry.source.n)
                if request in self.answers:
                    self.says(f"{ledger.id}/{commit.n} answers request {request} again")
                self.answers[request] = isinstance(entry, ChipsBought)
            case PurchaseSettled(request=int(number)) | ChipsReturned(request=int(number)):
                self._note_settled(ledger, commit, (entry.source.table, number))

    def _note_settled(self, ledger: Ledger, commit: LedgerCommit, request: tuple[str, int]) -> None:
        if request in self._settled:
            self.says(f"{ledger.id}/{commit.n} settles request {request} again, after {self._settled[request]}")
        self._settled[request] = commit.n

    def _count(self, ledger: Ledger, n: int) -> None:
        """What must hold after every commit: sums, signs, and that of each table the account is what lies there."""
        total = sum(ledger.balances.values())
        if total != 0:
            self.says(f"{ledger.id}/{n}: the balances add up to {total}")
        below = {name: held for name, held in ledger.balances.items() if held < 0 and "." in name}
        if below:
            self.says(f"{ledger.id}/{n}: {below} are below 0")
        inside = total - ledger.balance("cash")
        if inside != self._outside[ledger.id]:
            self.says(f"{ledger.id}/{n}: {inside} are in the house, {self._outside[ledger.id]} came in")
        for (_, name), known in ledger.tables.items():
            self._compare(ledger, name, known.position, f"{ledger.id}/{n}")

    def _compare(self, ledger: Ledger, name: str, position: int, when: str) -> None:
        """balance(table) = the chips at the table when the ledger last saw to it, and what was paid and is to come."""
        chips, held = self._chips[name], ledger.balance(table_account("main", name))
        answers = ledger.table("main", name).answers.values()
        must = chips[position] + sum(answer.amount for answer in answers if answer.paid)
        if position >= len(chips) or held != must:
            self.says(f"{when}: {held} are in the account of {name}, and {must} at {name}/{position} or on their way")

    # The tables' log

    def on_table(self, table: Table, commit: Commit) -> None:
        """A table has a commit more: what follows from it can be written, and then the table's chips are all there."""
        if table.config is None or table.config.bankroll != "cashier":
            return
        self._chips[table.id].append(chips_at(table) + sum(record.top_up for record in table.seats.values()))
        if not is_for_the_cashier(table, commit):
            return
        self._moves[table.id].append(commit)
        ledger, requests = self.ledger(ledger_of(table.config.money, table.config.currency)), open_requests(table)
        after = ledger.copy()
        found = due(ledger, [Movement("main", moved, requests) for moved in self._moves[table.id]])
        if found.stuck:
            self.says(f"{table.id}/{table.n}: {found.stuck} cannot be written")
        for entry in found.entries:
            evolve(after, entry)
        self._compare(after, table.id, after.table("main", table.id).position, f"{table.id}/{table.n}")

    def confirms(self, owner: Owner, table: str, command: ConfirmRequest) -> None:
        """The cashier tells a table of an answer, which has to be in the ledger."""
        if self.answers.get((table, command.request)) is not command.paid:
            self.says(f"{owner.name} confirms request {command.request} of {table} before the ledger says so")

    # Answers

    def delivered(self, reply: str, address: CommandSubject, command: AnyAccountCommand) -> None:
        """A copy of a command reaches a desk that takes it."""
        key = (address.table, address.kind, address.name, command.id)
        self._copies[reply] = Copy(key, command, self.ledger(address.table).n)

    def came(self, owner: Owner, address: CommandSubject, command: AnyAccountCommand, at_s: float) -> None:
        """A copy of a command that a process takes came to it at this loop time."""
        key = (address.table, address.kind, address.name, command.id)
        self._came[owner.name, key] = max(at_s, self._came.get((owner.name, key), 0))

    def _note_cause(self, ledger: Ledger, commit: LedgerCommit) -> None:
        if commit.cause is None:
            return
        key = (ledger.id, commit.cause.actor.kind, commit.cause.actor.name, commit.cause.command.id)
        if key in self._causes:
            self.says(f"{key} is the cause of commits {self._causes[key].n} and {commit.n}")
        if key in self.refused:
            self.reversed += 1
            if self.refused[key] != "unknown_account":
                self.says(f"{key} was refused ({self.refused[key]}) and is the cause of commit {commit.n}")
        entry = commit.events[0]
        refusal = entry if isinstance(entry, AccountCommandRefused) else None
        self._causes[key] = Told(commit.n, ledger.head, refusal)

    def answered(self, reply: str, body: bytes) -> None:
        """A desk answers a copy."""
        outcome, copy = decode_outcome(body), self._copies.get(reply)
        if copy is None:
            if not isinstance(outcome, Rejected) or outcome.code not in UNWRITTEN:
                self.says(f"junk is answered: {outcome}")
        elif isinstance(outcome, Accepted):
            first = self._causes.get(copy.key)
            if first is None or first.refusal is not None or (outcome.n, outcome.head) != first[:2]:
                self.says(f"{copy.key} is told to be accepted by commit {outcome.n}; the log has {first}")
            self.accepted += 1
        elif outcome.code not in UNDECIDED:
            self._was_refused(copy, outcome)

    def _was_refused(self, copy: Copy, outcome: Rejected) -> None:
        first, code, heads = self._causes.get(copy.key), outcome.code, self.heads[copy.key[0]]
        if first is not None:
            answer = (
                outcome.n,
                outcome.head,
                AccountCommandRefused(code=code, message=outcome.message, allowed=outcome.allowed),
            )
            if answer != first:
                self.says(f"{copy.key} is refused by {answer}, and the log has {first}")
            return
        self.refused[copy.key] = code
        if code not in UNWRITTEN and outcome.n > 0:
            self.says(f"{copy.key} is refused ({code}), and nothing in the log says so")
        if not copy.tail <= outcome.n <= len(heads) or (outcome.n > 0 and heads[outcome.n - 1] != outcome.head):
            self.says(f"{copy.key} is refused at commit {outcome.n}; {copy.tail} was the tail when it arrived")

    def head(self, ledger: str, n: int, hash_: str) -> None:
        """Somebody publishes a head."""
        heads = self.heads.get(ledger, [])
        if n > len(heads) or heads[n - 1] != hash_:
            self.says(f"{ledger}: head {n} is published and not in the log")

    # The end

    def entries(self) -> dict[str, int]:
        """How many entries of each kind there are, of all ledgers; refused purchases by what was wrong."""
        found: Counter[str] = Counter()
        for commit in chain.from_iterable(self.commits.values()):
            for entry in commit.events:
                code = f".{entry.code}" if isinstance(entry, PurchaseRefused | AccountCommandRefused) else ""
                found[f"{entry_of(entry)}{code}"] += 1
        return dict(sorted(found.items()))

    def open_ends(self, table: Table) -> Iterator[str]:
        """What nobody may be waiting for any more once all is quiet."""
        if table.config is None or table.config.bankroll != "cashier":
            return
        ledger = self.ledger(ledger_of(table.config.money, table.config.currency))
        known = ledger.table("main", table.id)
        if known.position < table.moved:
            yield f"the ledger has seen {table.id} to commit {known.position}, and chips were moved by {table.moved}"
        if known.answers or open_requests(table):
            yield f"{table.id} still waits for {sorted(open_requests(table))}, and {known.answers} are not settled"
        seated = [record.player for record in table.seats.values()]
        kept = [reservation.player for reservation in table.reservations.values()]
        for player in (*seated, *kept, *table.waiting):
            if ledger.players.get(player, False):
                yield f"{player} sits at {table.id}, has a seat kept or waits, with an account that is frozen"


def _source(entry: LedgerEvent) -> Source | None:
    return getattr(entry, "source", None) if not isinstance(entry, Corrected) else None
