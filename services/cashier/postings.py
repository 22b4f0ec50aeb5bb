"""Both sides of an entry, and which movements the accounts can take (R136)."""

from typing import Final

from contracts.accounts import SYSTEM_ACCOUNTS, Account
from contracts.data import CHIPS_MAX, Chips
from contracts.events.cashier import Posting, Postings
from services.aggregate.ledger import Ledger

SUSPENSE: Final[Account] = "suspense"
CASH: Final[Account] = "cash"
RAKE: Final[Account] = "rake"


def moved(ledger: Ledger, source: Account, target: Account, amount: Chips) -> Postings:
    """The entry's sides: `amount` from one account to another, and what is then in each of them.

    12345 in `player.alice`: 6789 to `table.main.T1` leave 5556.
    """
    return (
        Posting(account=source, amount=-amount, balance=ledger.balance(source) - amount),
        Posting(account=target, amount=amount, balance=ledger.balance(target) + amount),
    )


def lacks(ledger: Ledger, source: Account, amount: Chips) -> bool:
    """Whether there is less in an account than is to go out of it; the house's own may go below 0."""
    return source not in SYSTEM_ACCOUNTS and ledger.balance(source) < amount


def room_for(ledger: Ledger, source: Account) -> Chips:
    """How much may come from one of the house's accounts.

    What these are below 0, taken together, is what all others hold: with at most `CHIPS_MAX` of it no balance can ever
    be more than an amount can be.
    """
    if source not in SYSTEM_ACCOUNTS:
        return CHIPS_MAX
    below = sum(max(0, -ledger.balance(account)) for account in SYSTEM_ACCOUNTS)
    return CHIPS_MAX - below + max(0, ledger.balance(source))
