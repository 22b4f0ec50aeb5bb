"""The ledger: the accounts of one kind of money in one currency, as a log of double entries (R136).

An account is `player.<player>`, `table.<room>.<table>` (the chips at a table, and those on the way to it), `rake`,
`suspense` (corrections whose other side is not known yet) or `cash` (the world outside: it goes down by what was
deposited). The balances of a ledger always add up to 0.
"""

from typing import Annotated, Final, Literal

from msgspec import Meta

from contracts.account_commands import AnyAccountCommand
from contracts.accounts import LEDGER_PATTERN, SYSTEM_ACCOUNTS, player_account, table_account
from contracts.commit import GENESIS
from contracts.data import END, Data, Instant, Sha256
from contracts.events.cashier import LedgerEvent
from contracts.events.state import Actor

__all__ = [
    "GENESIS",
    "HOUSE",
    "LEDGER_COMMIT_VERSION",
    "SYSTEM_ACCOUNTS",
    "AccountCause",
    "LedgerCommit",
    "ledger_of",
    "player_account",
    "table_account",
]

LEDGER_COMMIT_VERSION: Final = 1
HOUSE: Final = "house"
"""In place of a room in the subjects of ledgers: accounts are the whole house's."""


def ledger_of(money: Literal["real", "play"], currency: str) -> str:
    """The ledger of a table's chips: `real-USD`. Real and play money never mix (R5)."""
    return f"{money}-{currency}"


class AccountCause(Data, frozen=True):
    """The command that a commit of a ledger answers, who sent it, and when it arrived."""

    actor: Actor
    arrived: Instant
    command: AnyAccountCommand


class LedgerCommit(Data, frozen=True):
    """A list of entries, atomic by construction: what the cashier decided in answer to one command or to tables.

    `n` counts a ledger's commits from 1, `cause` is absent where the tables' logs owed the entries, `prev` is the
    SHA-256 of the previous commit's bytes.
    """

    v: int
    ledger: Annotated[str, Meta(pattern=LEDGER_PATTERN + END)]
    n: Annotated[int, Meta(ge=1)]
    by: Literal["cashier"]
    at: Instant
    prev: Sha256
    events: Annotated[tuple[LedgerEvent, ...], Meta(min_length=1)]
    cause: AccountCause | None = None
