"""`croupier reconcile`: every chip that was ever deposited is in an account, on a table or in the rake account (R136).

First the whole log of a ledger is read, then the log of each table, in any order; a log may be of any length, for of
the ledger six integers an entry are kept, and of a table nothing but where its chips are.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Final

from contracts.accounts import SYSTEM_ACCOUNTS, table_account
from contracts.data import Data, Id, Instant, Sha256
from contracts.events.cashier import Corrected, Deposited, LedgerEvent, Withdrawn
from services.accounting.ledger_verification import LedgerVerification
from services.accounting.matching import Difference, TableMatch
from services.accounting.rows import Deed, Rows
from services.aggregate.ledger import TableKey
from services.replay.findings import Finding

SEEN_WITHIN: Final = timedelta(seconds=10)
"""So soon a working cashier sees to a commit of a table; one that waits longer is a difference."""


class Day(Data, frozen=True):
    """What a day moved, in UTC: payments by when they were entered, the rest by when it happened at the tables.

    `rake` is what the ledger has, `rake_at_tables` what the hands of the day took: they are the same (R136). A hand's
    rake is of the day on which it was taken, as `croupier rake` has it, though the hand may end after midnight.
    """

    day: str
    deposited: int = 0
    withdrawn: int = 0
    bought: int = 0
    returned: int = 0
    cashed_out: int = 0
    rake: int = 0
    rake_at_tables: int = 0
    corrected: int = 0


class TableLine(Data, frozen=True):
    """What a table has moved, and what it holds: `balance` of its account is `chips` and those `on_the_way`.

    `waiting` counts the commits that the cashier has still to see to.
    """

    room: Id
    table: Id
    commits: int
    bought: int
    returned: int
    cashed_out: int
    rake: int
    corrected: int
    balance: int
    chips: int
    on_the_way: int
    waiting: int = 0


class Reconciled(Data, frozen=True):
    """What was found of a ledger: where all chips are, day by day and table by table, and each first difference.

    `deposited` less `withdrawn` is `players`, `tables`, `rake` and `suspense` together, corrections with cash aside.
    """

    ledger: str
    commits: int
    entries: int
    head: Sha256
    deposited: int
    withdrawn: int
    players: int
    tables: int
    rake: int
    suspense: int
    cash: int
    accounts: int
    days: tuple[Day, ...]
    of_tables: tuple[TableLine, ...]
    differences: tuple[Difference, ...]
    unreadable: bool = False

    @property
    def code(self) -> int:
        """The exit code: 0 clean, 1 with a difference, 2 where a log cannot be read."""
        if not self.differences:
            return 0
        return 2 if self.unreadable and len(self.differences) == 1 else 1


class Reconciliation:
    """A reconciliation under way: `enter` the ledger's messages, then `table` for each table, then `result`."""

    def __init__(self, ledger: str, *, exported: bool = False) -> None:
        self.verification = LedgerVerification(ledger, exported=exported)
        self.rows = Rows()
        self._exported = exported
        self._payments: Counter[tuple[str, Deed | str]] = Counter()
        self._matches: dict[TableKey, TableMatch] = {}
        self._findings: list[Finding] = []
        self._at: Instant | None = None

    def enter(self, subject: str, data: bytes) -> None:
        """Reads the next message of the ledger's log; after a difference in it nothing more is read."""
        if self._findings:
            return
        commits = self.verification.commits
        self._findings += list(self.verification.take(subject, data))[:1]
        if self.verification.commits > commits:
            self._keep(self.verification.last)

    def _keep(self, entries: Iterable[LedgerEvent]) -> None:
        ledger = self.verification.ledger
        assert ledger.at is not None
        day = ledger.at.date().isoformat()
        for entry in entries:
            match entry:
                case Deposited():
                    self._payments[day, "deposited"] += entry.postings[1].amount
                case Withdrawn():
                    self._payments[day, "withdrawn"] += entry.postings[1].amount
                case Corrected():
                    self._payments[day, "corrected"] += entry.postings[1].amount
                case _:
                    self.rows.add(ledger.n, entry)
        self._at = ledger.at

    def tables(self) -> list[TableKey]:
        """The tables that the ledger has entries of."""
        return self.rows.tables()

    def table(self, room: Id, table: Id) -> TableMatch:
        """Where the messages of a table's log go, of each table that may be the ledger's; once for each."""
        match = TableMatch((room, table), self.rows.of((room, table)), exported=self._exported)
        self._matches[room, table] = match
        return match

    def result(self, now: Instant | None = None) -> Reconciled:
        """All that was found. `now`: a live log, of whose last seconds nothing has to be seen to yet."""
        balances = self.verification.ledger.balances
        matches = [match for _, match in sorted(self._matches.items()) if self._is_ours(match)]
        for match in matches:
            match.finish(balances.get(match.account, 0))
        differences = [*self._of_the_ledger(), *self._of_tables(matches, now)]
        house = {account: balances.get(account, 0) for account in SYSTEM_ACCOUNTS}
        paid = self._total()
        return Reconciled(
            ledger=self.verification.ledger.id,
            commits=self.verification.commits,
            entries=self.verification.entries,
            head=self.verification.ledger.head,
            deposited=paid["deposited"],
            withdrawn=paid["withdrawn"],
            players=sum(balance for account, balance in balances.items() if account.startswith("player.")),
            tables=sum(balance for account, balance in balances.items() if account.startswith("table.")),
            accounts=len(self.verification.ledger.players),
            days=self._days(matches),
            of_tables=tuple(self._line(match) for match in matches),
            differences=tuple(differences),
            unreadable=any(finding.kind == "unreadable" for finding in self._findings),
            **house,
        )

    def _is_ours(self, match: TableMatch) -> bool:
        """Whether a table's chips are this ledger's; one that cannot be read is, if the ledger has entries of it."""
        ours = tuple(self.verification.ledger.id.split("-")) == match.ledger and match.bankroll == "cashier"
        return ours or match.key in self.rows.tables()

    def _of_the_ledger(self) -> Iterator[Difference]:
        for finding in self._findings:
            account = finding.field.partition(", ")[2]
            where = f" in {finding.field.partition(', ')[0]}" if finding.field else ""
            yield Difference(
                where=self.verification.ledger.id,
                n=finding.n,
                account=account,
                message=f"{finding.message}{where}",
                recorded=finding.recorded,
                expected=finding.derived,
            )

    def _of_tables(self, matches: Iterable[TableMatch], now: Instant | None) -> Iterator[Difference]:
        if self._findings:
            return  # what the ledger says of tables from there on is not known
        for match in matches:
            at = match.waiting.at
            if match.difference is not None:
                yield match.difference
            elif at is not None and (now is None or now - at > SEEN_WITHIN):
                message = f"the ledger has no entry of it, nor of anything that came after it ({match.waiting.commits})"
                yield Difference(where=match.where, n=match.waiting.n, account=match.account, message=message)
        for room, table in self.tables():
            if (room, table) not in self._matches:
                account = table_account(room, table)
                n = self.verification.ledger.table(room, table).position
                message = "the ledger has entries of a table of which there is no log"
                yield Difference(where=f"{room}/{table}", n=n, account=account, message=message)

    def _total(self) -> Counter[str]:
        total: Counter[str] = Counter()
        for (_, deed), amount in self._payments.items():
            total[deed] += amount
        return total

    def _days(self, matches: Iterable[TableMatch]) -> tuple[Day, ...]:
        days: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for (day, deed), amount in self._payments.items():
            days[day][deed] += amount
        for match in matches:
            for (day, deed), amount in match.deeds.items():
                days[day][deed] += amount
            for day, amount in match.raked.items():
                days[day]["at tables"] += amount
        return tuple(_day(day, days[day]) for day in sorted(days))

    def _line(self, match: TableMatch) -> TableLine:
        sums: Counter[str] = Counter()
        for (_, deed), amount in match.deeds.items():
            sums[deed] += amount
        return TableLine(
            room=match.key[0],
            table=match.key[1],
            commits=match.commits,
            bought=sums["bought"],
            returned=sums["returned"],
            cashed_out=sums["cashed out"],
            rake=sums["rake"],
            corrected=sums["corrected"],
            balance=self.verification.ledger.balance(match.account),
            chips=match.held,
            on_the_way=match.floor.on_the_way(),
            waiting=match.waiting.commits,
        )


def _day(day: str, sums: Counter[str]) -> Day:
    return Day(
        day=day,
        deposited=sums["deposited"],
        withdrawn=sums["withdrawn"],
        bought=sums["bought"],
        returned=sums["returned"],
        cashed_out=sums["cashed out"],
        rake=sums["rake"],
        rake_at_tables=sums["at tables"],
        corrected=sums["corrected"],
    )
