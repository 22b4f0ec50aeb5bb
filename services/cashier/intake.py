"""What an account command's bytes, and its ledger's name, must be; the rest is decided."""

import re
from typing import Final, get_args

from contracts.account_commands import ACCOUNT_COMMAND_VERSION, AnyAccountCommand
from contracts.accounts import LEDGER_PATTERN
from contracts.codec import decode_account_command
from contracts.data import CHIPS_MAX, END
from contracts.outcomes import Allowed, Rejected
from contracts.plain import in_words
from services.aggregate.intake import as_command, glance

KINDS: Final = tuple(str(kind.__struct_config__.tag) for kind in get_args(AnyAccountCommand.__value__))
"""What the `type` of an account command may be."""

_AMOUNT: Final = re.compile(r"at `\$\.amount`$")
"""How msgspec says that the fault lies in an amount."""
_LEDGER: Final = re.compile(LEDGER_PATTERN + END)


def read_command(body: bytes) -> AnyAccountCommand | Rejected:
    """The command, or why it cannot be one; never raises."""
    return as_command(body, decode_account_command, ACCOUNT_COMMAND_VERSION, _unreadable)


def misnamed_ledger(ledger: str, command: str = "") -> Rejected | None:
    """The refusal of a command to what cannot be a ledger; None for what can (R5)."""
    if _LEDGER.match(ledger) is not None:
        return None
    message = (
        "A ledger is `real-` or `play-` and the 3 to 5 capital letters of a currency, as in real-USD; "
        "no other has accounts."
    )
    return Rejected(code="wrong_currency", message=message, id=command[:64])


def _unreadable(body: bytes, fault: str) -> Rejected:
    seen, reason = glance(body, ACCOUNT_COMMAND_VERSION), in_words(fault)
    if isinstance(seen, Rejected):
        return seen
    command, kind = seen
    if kind not in KINDS:
        message = f"The command cannot be read: {reason}; an account command is JSON whose `type` is one of "
        return Rejected(
            code="malformed", message=f"{message}{', '.join(KINDS)}.", id=command, allowed=Allowed(actions=KINDS)
        )
    if _AMOUNT.search(reason):
        message = f"The command cannot be read: {reason}; an amount is a whole number of the smallest chips, "
        allowed = Allowed(minimum=1, maximum=CHIPS_MAX, chip=1)
        return Rejected(
            code="not_a_whole_chip", message=f"{message}from 1 to {CHIPS_MAX}.", id=command, allowed=allowed
        )
    allowed = Allowed(actions=(kind,))
    return Rejected(code="malformed", message=f"The command cannot be read: {reason}.", id=command, allowed=allowed)
