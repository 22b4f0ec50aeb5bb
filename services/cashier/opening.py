"""How a ledger begins: its name says which money it holds (R5)."""

from typing import cast

from contracts.events.cashier import LedgerOpened
from contracts.games import Money


def ledger_opened(ledger: str) -> LedgerOpened:
    """The first entry of a ledger: `real-USD` holds real dollars, and never any play money."""
    money, _, currency = ledger.partition("-")
    return LedgerOpened(money=cast("Money", money), currency=currency)
