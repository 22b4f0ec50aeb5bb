"""What a command's bytes must be to be read at all: size, version, shape; the rest is decided on the table."""

import re
from typing import Final

import msgspec

from contracts.codec import decode_command
from contracts.commands import COMMAND_BYTES_MAX, COMMAND_VERSION, AnyCommand
from contracts.data import CHIPS_MAX
from contracts.outcomes import Allowed, Code, Rejected

AMOUNT: Final = re.compile(r"at `\$\.(to|amount|buy_in)`$")
"""How msgspec says that the fault lies in an amount of chips."""


class _Version(msgspec.Struct):
    v: int = COMMAND_VERSION
    id: str = ""


_versions: Final = msgspec.json.Decoder(_Version)


def read_command(body: bytes) -> AnyCommand | Rejected:
    """The command, or why it cannot be one; never raises."""
    if len(body) > COMMAND_BYTES_MAX:
        message = f"A command has at most {COMMAND_BYTES_MAX} bytes; this one has {len(body)}."
        return Rejected(code="oversized", message=message, allowed=Allowed(maximum=COMMAND_BYTES_MAX))
    try:
        command = decode_command(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        return _unreadable(body, str(error))
    return command if command.v == COMMAND_VERSION else _unsupported(command.v, command.id)


def _unreadable(body: bytes, reason: str) -> Rejected:
    try:
        version = _versions.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        version = _Version()
    if version.v != COMMAND_VERSION:
        return _unsupported(version.v, version.id)
    code: Code = "malformed"
    allowed = Allowed()
    if AMOUNT.search(reason):
        code, allowed = "not_a_whole_chip", Allowed(minimum=0, maximum=CHIPS_MAX, chip=1)
        reason = f"{reason}; an amount is a whole number of the smallest chips, from 0 to {CHIPS_MAX}"
    return Rejected(code=code, message=f"The command cannot be read: {reason}.", id=version.id[:64], allowed=allowed)


def _unsupported(version: int, command: str) -> Rejected:
    message = f"Commands of version {version} are not known here; version {COMMAND_VERSION} is."
    return Rejected(
        code="unsupported_version", message=message, id=command[:64], allowed=Allowed(versions=(COMMAND_VERSION,))
    )
