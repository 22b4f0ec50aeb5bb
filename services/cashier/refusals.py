"""Why an account command changes nothing, and what would be accepted instead."""

from typing import Final

from contracts.events.cashier import AccountCommandRefused, LedgerEvent
from contracts.ledger import AccountCause
from contracts.outcomes import Allowed, Code, Rejected
from services.aggregate.ledger import Ledger


def refuse(ledger: Ledger, cause: AccountCause, code: Code, message: str, allowed: Allowed | None = None) -> Rejected:
    """The rejection of a command, decided on the ledger as it stands."""
    return Rejected(
        code=code,
        message=message,
        id=cause.command.id,
        allowed=allowed if allowed is not None else Allowed(),
        n=ledger.n,
        head=ledger.head,
    )


_PASSING: Final[frozenset[Code]] = frozenset(
    {
        "unknown_account",
        "account_exists",
        "account_frozen",
        "account_not_frozen",
        "not_enough",
        "above_maximum",
        "duplicate_reference",
    }
)
"""What the ledger may no longer say a moment later: a second copy of the command could be accepted."""


def refused_events(rejected: Rejected, cause: AccountCause) -> tuple[LedgerEvent, ...]:
    """The entry that makes a refusal final; () where it is not written down.

    That is every refusal that rests on the ledger's passing state. A ledger that was never opened is not opened by a
    refusal.
    """
    if rejected.n == 0 or rejected.code not in _PASSING:
        return ()
    return (AccountCommandRefused(code=rejected.code, message=rejected.message, allowed=rejected.allowed),)
