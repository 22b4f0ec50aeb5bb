"""The state of a ledger: nothing but the fold of its commits. It decides nothing."""

from collections import ChainMap
from collections.abc import MutableMapping
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple

import msgspec

from contracts.accounts import Account
from contracts.commit import GENESIS
from contracts.data import Chips, Id, Instant, Sha256
from contracts.events.state import Allowed, Code
from contracts.ledger import HOUSE

MADE_MAX: Final = timedelta(days=1)
"""A command that was made longer ago is stale; until then its answer is known."""
AHEAD_MAX: Final = timedelta(minutes=5)
"""A command may be made so much later than it arrives: clocks differ."""
KNOWN_FOR: Final = MADE_MAX + AHEAD_MAX
"""So long after its answer every copy of a command is stale."""

type TableKey = tuple[Id, Id]
"""Room and table."""

_ABSENT: Final = object()


class Answer(msgspec.Struct, frozen=True, gc=False):
    """What the cashier answered to a request of a table, for as long as the table has not settled it."""

    player: Id
    amount: Chips
    paid: bool
    message: str = ""


class TableLedger(msgspec.Struct, frozen=True):
    """What a ledger knows of one table: the last commit of the table that was seen to, and its answers by request.

    `answers` is never changed, only replaced.
    """

    position: int = 0
    answers: dict[int, Answer] = msgspec.field(default_factory=dict)


class Answered(msgspec.Struct, frozen=True, gc=False):
    """A command that is in the log: which bytes, the commit that answered it, and what it was refused with, if it was.

    `at` is the time of that commit.
    """

    digest: str
    n: int
    head: Sha256
    at: Instant
    refused: Code | None = None
    message: str = ""
    allowed: Allowed = Allowed()


class Touched(NamedTuple):
    """The last commit that said something of a player's account, and the one before it that did; 0: there is none."""

    n: int = 0
    before: int = 0


class Before(msgspec.Struct, frozen=True):
    """A ledger as it was before a commit: its head, and each value that the commit has replaced, the last one first."""

    n: int
    head: Sha256
    at: Instant | None
    money: Literal["real", "play"] | None
    currency: str | None
    replaced: list[tuple[MutableMapping[Any, Any], Any, Any]]


class Ledger(msgspec.Struct, kw_only=True):
    """A ledger after commit `n`, whose SHA-256 is `head` and whose time is `at`.

    `money` and `currency` are None before `ledger_opened`. `balances` hold every account that was ever posted to,
    `players` everybody who has an account, and whether it is frozen, `touched` which commits last said something of it.
    `tables` are those that ever asked for something. `references` name the payments, and the corrections, each with its
    commit. `commands` are those of the last day, by (kind, name, id), in the order of their answers. `replaced` are the
    values that the commit being folded replaces.
    """

    room: str = HOUSE
    id: str
    n: int = 0
    head: Sha256 = GENESIS
    at: Instant | None = None
    money: Literal["real", "play"] | None = None
    currency: str | None = None
    balances: MutableMapping[Account, int] = msgspec.field(default_factory=dict)
    players: MutableMapping[Id, bool] = msgspec.field(default_factory=dict)
    touched: MutableMapping[Id, Touched] = msgspec.field(default_factory=dict)
    tables: MutableMapping[TableKey, TableLedger] = msgspec.field(default_factory=dict)
    references: MutableMapping[str, int] = msgspec.field(default_factory=dict)
    commands: dict[tuple[str, str, str], Answered] = msgspec.field(default_factory=dict)
    replaced: list[tuple[MutableMapping[Any, Any], Any, Any]] | None = None

    def balance(self, account: Account) -> int:
        """What is in an account; 0 in one that nothing was ever posted to."""
        return self.balances.get(account, 0)

    def table(self, room: Id, table: Id) -> TableLedger:
        """What is known of a table; of one that never asked for anything that it is at its beginning."""
        return self.tables.get((room, table), UNKNOWN)

    def put[K, V](self, values: MutableMapping[K, V], key: K, value: V) -> None:
        """Assigns a value of one of the ledger's mappings, and keeps the one before for `become`."""
        if self.replaced is not None:
            self.replaced.append((values, key, values.get(key, _ABSENT)))
        values[key] = value

    def before(self) -> Before:
        """The ledger as it is, for `become`; only the last one that was taken may be gone back to."""
        self.replaced = []
        return Before(self.n, self.head, self.at, self.money, self.currency, self.replaced)

    def become(self, before: Before) -> None:
        """Takes back all that came after `before`, the last one of this ledger."""
        self.n, self.head, self.at, self.replaced = before.n, before.head, before.at, None
        self.money, self.currency = before.money, before.currency
        for values, key, value in reversed(before.replaced):
            if value is _ABSENT:
                values.pop(key, None)
            else:
                values[key] = value
        before.replaced.clear()

    def copy(self) -> "Ledger":
        """A ledger that can be changed without changing this one, and costs nothing: it looks through to this one.

        It is good until this one changes. `commands` are shared, for events never change them.
        """
        other = msgspec.structs.replace(self, replaced=None)
        other.balances = ChainMap({}, self.balances)
        other.players = ChainMap({}, self.players)
        other.touched = ChainMap({}, self.touched)
        other.tables = ChainMap({}, self.tables)
        other.references = ChainMap({}, self.references)
        return other


UNKNOWN: Final = TableLedger()
UNTOUCHED: Final = Touched()
