"""One table's log beside the entries that the ledger has of it: commit by commit, to the first place of difference."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from contracts.accounts import Account, table_account
from contracts.codec import decode_commit, digest
from contracts.commit import GENESIS, Commit
from contracts.data import Data, Instant
from contracts.events.base import Event
from contracts.events.rake import RakeTaken
from contracts.events.table import HandStarted, TableOpened, TableRestated
from contracts.subjects import read_commit
from services.accounting.floor import Amiss, Expected, Floor
from services.accounting.rows import Deed, Row
from services.aggregate.ledger import TableKey
from services.aggregate.movements import moves_chips
from services.bus.outline import outline_of

_TOLD: Final = (
    "rake_taken",
    "seat_reserved",
    "seat_released",
    "player_seated",
    "player_left",
    "top_up_requested",
    "top_up_released",
    "top_up_queued",
    "stack_topped_up",
    "stack_adjusted",
    "hand_ended",
    "hand_voided",
    "table_opened",
)
"""The events that say where the chips are, and when rake was taken."""
_TELLS: Final = re.compile(rb'"type":"(?:' + "|".join(_TOLD).encode() + rb')"')
_STATES: Final = re.compile(rb'"type":"(?:hand_started|table_restated|table_opened)"')


class Difference(Data, frozen=True):
    """Where ledger and tables part: in whose log (`real-USD`, or `main/T1`), in which commit, about which account."""

    where: str
    n: int
    account: Account
    message: str
    recorded: str = ""
    expected: str = ""

    def __str__(self) -> str:
        values = f" [recorded {self.recorded or 'nothing'}, expected {self.expected or 'nothing'}]"
        whose = f" ({self.account})" if self.account else ""
        return f"{self.where}, commit {self.n}{whose}: {self.message}{values if self.recorded or self.expected else ''}"


class Waiting(NamedTuple):
    """Commits of a table that the ledger has not seen to yet: how many, the first one, and when that was."""

    commits: int = 0
    n: int = 0
    at: Instant | None = None


class TableMatch:
    """A table's log, message by message, beside its rows of the ledger; `difference` ends it.

    `held` are the chips at the table after the last commit that the ledger has seen to. `deeds` add up the entries by
    day and deed, `raked` the rake of the table's own hands by day: that on which it was taken, as in all reports.
    """

    def __init__(self, key: TableKey, rows: Iterable[Row], *, exported: bool = False) -> None:
        self.key = key
        self.where = f"{key[0]}/{key[1]}"
        self.account = table_account(*key)
        self.n = 0
        self.head = GENESIS
        self.commits = 0
        self.hands = 0
        self.at: Instant | None = None
        self.bankroll: str | None = None
        self.ledger: tuple[str, str] | None = None
        self.floor = Floor()
        self.held = 0
        self.position = 0
        self.waiting = Waiting()
        self.deeds: Counter[tuple[str, Deed]] = Counter()
        self.raked: Counter[str] = Counter()
        self.difference: Difference | None = None
        self._exported = exported
        self._begun = False
        self._taken_at: Instant | None = None
        self._rows = iter(rows)
        self._row = next(self._rows, None)

    def take(self, subject: str, data: bytes) -> None:
        """Reads the next message of the table's log."""
        if self.difference is None and self._follows(subject, data):
            self._read(data)

    def is_anothers(self, ledger: str) -> bool:
        """Whether the table's chips are none of this ledger's, so that there is no need to read on."""
        return self.ledger is not None and (self.bankroll != "cashier" or "-".join(self.ledger) != ledger)

    def finish(self, balance: int) -> None:
        """Compares the account with the table, once all of its log is read."""
        if self.difference is not None:
            return
        row = self._row
        if row is not None:
            why = "no commit of the table moves that" if row.n <= self.n else f"the table's log ends at {self.n}"
            self._differs(row.n, f"the ledger's commit {row.entered} is about it: {why}", str(row))
        elif balance != (due := self.held + self.floor.on_the_way()):
            message = f"the account of the table is not its chips, {self.held}, and those on their way to it"
            self._differs(self.position, message, balance, due)

    def _differs(self, n: int, message: str, recorded: object = "", expected: object = "") -> None:
        self.difference = Difference(
            where=self.where,
            n=n,
            account=self.account,
            message=message,
            recorded=str(recorded),
            expected=str(expected),
        )

    def _follows(self, subject: str, data: bytes) -> bool:
        """Whether a message is the next commit of the chain; else it is none of the log, or the log is broken."""
        outline = outline_of(data)
        known = outline is not None and outline.table == self.key[1] and outline.n > self.n
        if outline is None or not known or (address := read_commit(subject)) is None or address.service != outline.by:
            if self._exported:
                self._differs(self.n + 1, "not the next commit of the table's log")
            return False
        begins = self.n == 0 and outline.n > 1
        if begins or (outline.n == self.n + 1 and outline.prev == self.head):
            self.n, self.head = outline.n, digest(data)
            self.commits += 1
            return True
        if outline.n > self.n + 1:
            self._differs(self.n + 1, f"commits {self.n + 1} to {outline.n - 1} are missing from the table's log")
        elif self._exported:
            self._differs(outline.n, "does not follow the commit before it", outline.prev, self.head)
        return False

    def _read(self, data: bytes) -> None:
        if _TELLS.search(data) is None and (self._begun or _STATES.search(data) is None):
            return
        try:
            commit = decode_commit(data)
        except msgspec.MsgspecError as error:
            self._differs(self.n, f"cannot be read: {error}")
            return
        try:
            self._match(commit)
        except Amiss as amiss:
            self._differs(commit.n, str(amiss), amiss.recorded, amiss.expected)

    def _match(self, commit: Commit) -> None:
        self.at = commit.at
        for event in commit.events:
            if not self._begun:
                self._begin(event)
            if isinstance(event, RakeTaken):
                self._taken_at = commit.at
        if self.bankroll != "cashier":
            return
        if self._row is None and any(map(moves_chips, commit.events)):
            first = self.waiting if self.waiting.commits else Waiting(0, commit.n, commit.at)
            self.waiting = first._replace(commits=first.commits + 1)
        elif not self.waiting.commits:
            self._follow(commit)

    def _follow(self, commit: Commit) -> None:
        for event in commit.events:
            for expected in self.floor.follow(commit.n, event):
                self._compare(commit, expected)
                if self.difference is not None:
                    return
        self.position, self.held = commit.n, self.floor.chips()
        if self._row is not None and self._row.n == commit.n:
            self._differs(commit.n, f"the ledger's commit {self._row.entered} has more than follows", str(self._row))

    def _begin(self, event: Event) -> None:
        """The table's beginning, or a statement of it where the log begins with a later commit."""
        match event:
            case TableOpened():
                config = event.config
            case HandStarted() | TableRestated():
                config = event.table.config
                self.floor.begin(event.table)
            case _:
                return
        self._begun, self.bankroll, self.ledger = True, config.bankroll, (config.money, config.currency)
        self.position, self.held = self.n, self.floor.chips()
        while self._row is not None and self._row.n < self.n:
            self._next(self._row)

    def _compare(self, commit: Commit, expected: Expected) -> None:
        """Compares the next entry with what must follow."""
        raked, row = expected.deeds == ("rake",), self._row
        at = self._taken_at if raked and self._taken_at is not None else commit.at  # a hand may end after midnight
        day = at.date().isoformat()
        if raked:
            self.hands += 1
            self.raked[day] += expected.amount
        if row is None:
            self._differs(commit.n, "only a part of it was entered", "", str(expected))
        elif row.n == commit.n and expected.allows(row):
            self.deeds[day, row.deed] += row.amount
            self._next(row)
        elif row.n > commit.n:
            message = f"nothing was entered of it; the ledger's commit {row.entered} is about commit {row.n}"
            self._differs(commit.n, message, "", str(expected))
        elif row.n < commit.n:
            message = f"the ledger's commit {row.entered} is about commit {row.n}, which moves nothing like it"
            self._differs(row.n, message, str(row))
        else:
            message = f"the ledger's commit {row.entered} has entered something else of it"
            self._differs(commit.n, message, str(row), str(expected))

    def _next(self, row: Row) -> None:
        self.floor.answered(row)
        self._row = next(self._rows, None)
