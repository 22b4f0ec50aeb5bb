"""What an account command's bytes, and its ledger's name, must be: size, version, shape; the rest is decided.

Unknown fields of a command are passed over, so that a later release may say more.
"""

import re
from typing import Final, get_args

import msgspec

from contracts.account_commands import ACCOUNT_COMMAND_VERSION, AnyAccountCommand
from contracts.accounts import LEDGER_PATTERN
from contracts.codec import decode_account_command
from contracts.commands import COMMAND_BYTES_MAX
from contracts.data import CHIPS_MAX, END
from contracts.outcomes import Allowed, Rejected
from contracts.plain import in_words

KINDS: Final = tuple(str(kind.__struct_config__.tag) for kind in get_args(AnyAccountCommand.__value__))
"""What the `type` of an account command may be."""

_AMOUNT: Final = re.compile(r"at `\$\.amount`$")
"""How msgspec says that the fault lies in an amount."""
_LEDGER: Final = re.compile(LEDGER_PATTERN + END)


class _Glance(msgspec.Struct):
    """What is read of a command that cannot be read."""

    v: int = ACCOUNT_COMMAND_VERSION
    id: str = ""


class _Kind(msgspec.Struct):
    kind: str = msgspec.field(name="type", default="")


_glances: Final = msgspec.json.Decoder(_Glance)
_kinds: Final = msgspec.json.Decoder(_Kind)
_UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def read_command(body: bytes) -> AnyAccountCommand | Rejected:
    """The command, or why it cannot be one; never raises."""
    if len(body) > COMMAND_BYTES_MAX:
        message = f"A command has at most {COMMAND_BYTES_MAX} bytes; this one has {len(body)}."
        return Rejected(code="oversized", message=message, allowed=Allowed(maximum=COMMAND_BYTES_MAX))
    try:
        command = decode_account_command(body)
    except _UNREADABLE as error:
        return _unreadable(body, in_words(str(error)))
    return command if command.v == ACCOUNT_COMMAND_VERSION else _unsupported(command.v, command.id)


def misnamed_ledger(ledger: str, command: str = "") -> Rejected | None:
    """The refusal of a command to what cannot be a ledger; None for what can (R5)."""
    if _LEDGER.match(ledger) is not None:
        return None
    message = (
        "A ledger is `real-` or `play-` and the 3 to 5 capital letters of a currency, as in real-USD; "
        "no other has accounts."
    )
    return Rejected(code="wrong_currency", message=message, id=command[:64])


def _unreadable(body: bytes, reason: str) -> Rejected:
    try:
        glance = _glances.decode(body)
    except _UNREADABLE:
        glance = _Glance()
    if glance.v != ACCOUNT_COMMAND_VERSION:
        return _unsupported(glance.v, glance.id)
    kind = _kind(body)
    command = glance.id[:64]
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


def _kind(body: bytes) -> str:
    """What command it was meant to be; "" where that cannot be read."""
    try:
        return _kinds.decode(body).kind
    except _UNREADABLE:
        return ""


def _unsupported(version: int, command: str) -> Rejected:
    known = Allowed(versions=(ACCOUNT_COMMAND_VERSION,))
    message = f"Commands of version {version} are not known here; version {ACCOUNT_COMMAND_VERSION} is."
    return Rejected(code="unsupported_version", message=message, id=command[:64], allowed=known)
