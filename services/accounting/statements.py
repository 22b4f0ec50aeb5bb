"""What accounts hold, and all that ever moved in one: told from a ledger's commits (R126, R136)."""

from collections.abc import Iterator
from typing import Final

from contracts.account_commands import Correct, FreezeAccount, UnfreezeAccount
from contracts.accounts import SYSTEM_ACCOUNTS, Account, player_account
from contracts.data import Data, Instant
from contracts.events.cashier import LedgerEvent, PurchaseRefused, entry_of
from contracts.ledger import AccountCause, LedgerCommit
from services.aggregate.ledger import Ledger

_ABOUT_PLAYERS: Final = frozenset({"account_opened", "account_frozen", "account_unfrozen", "purchase_refused"})


class AccountLine(Data, frozen=True):
    """An account and what is in it."""

    account: Account
    balance: int
    frozen: bool = False


class EntryLine(Data, frozen=True):
    """An entry about an account: what it moved, what was in it then, and what it came from.

    `by` is who sent the command, or the commit of the table that it follows from; `why` a reason, a reference, or why
    the cashier did not pay.
    """

    n: int
    at: Instant
    entry: str
    amount: int = 0
    balance: int | None = None
    by: str = ""
    why: str = ""


def accounts_of(ledger: Ledger) -> list[AccountLine]:
    """Every account: players by name, tables by name, the house's own."""
    players = [
        AccountLine(account=player_account(player), balance=ledger.balance(player_account(player)), frozen=frozen)
        for player, frozen in sorted(ledger.players.items())
    ]
    known = {line.account for line in players}
    others = sorted(account for account in ledger.balances if account not in known | {*SYSTEM_ACCOUNTS})
    return [
        *players,
        *(AccountLine(account=account, balance=ledger.balance(account)) for account in others),
        *(AccountLine(account=account, balance=ledger.balance(account)) for account in SYSTEM_ACCOUNTS),
    ]


def is_there(ledger: Ledger, account: Account) -> bool:
    """Whether a ledger has an account."""
    return account in ledger.balances or account in SYSTEM_ACCOUNTS or account.removeprefix("player.") in ledger.players


def lines_of(account: Account, commit: LedgerCommit) -> Iterator[EntryLine]:
    """What a commit says of an account."""
    for entry in commit.events:
        for posting in getattr(entry, "postings", ()):
            if posting.account == account:
                yield _line(commit, entry, posting.amount, posting.balance)
        if entry_of(entry) in _ABOUT_PLAYERS and player_account(getattr(entry, "player", "")) == account:
            yield _line(commit, entry)


def _line(commit: LedgerCommit, entry: LedgerEvent, amount: int = 0, balance: int | None = None) -> EntryLine:
    return EntryLine(
        n=commit.n,
        at=commit.at,
        entry=entry_of(entry),
        amount=amount,
        balance=balance,
        by=_by(commit.cause, entry),
        why=_why(commit.cause, entry),
    )


def _by(cause: AccountCause | None, entry: LedgerEvent) -> str:
    if cause is not None:
        return f"{cause.actor.kind} {cause.actor.name}"
    source = getattr(entry, "source", None)
    return f"{source.room}/{source.table} commit {source.n}" if source is not None else ""


def _why(cause: AccountCause | None, entry: LedgerEvent) -> str:
    if isinstance(entry, PurchaseRefused):
        return f"{entry.amount} not paid: {entry.code}: {entry.message}"
    command = cause.command if cause is not None else None
    reason = command.reason if isinstance(command, Correct | FreezeAccount | UnfreezeAccount) else ""
    return ", ".join(part for part in (getattr(entry, "reference", ""), reason) if part)
