"""What a command's bytes must be to be read at all, of whatever kind: size and version; and what of them can be read.

Unknown fields of a command are passed over, so that a later release may say more.
"""

from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

import msgspec

from contracts.commands import COMMAND_BYTES_MAX
from contracts.outcomes import Allowed, Rejected

ID_CHARACTERS_MAX: Final = 64
"""So much of an id is said again; no id is longer."""
UNREADABLE: Final = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
"""What a decoder raises for bytes that are not what it reads."""


class Versioned(Protocol):
    """A command of any aggregate."""

    @property
    def v(self) -> int:
        """The version of the contract that it was written by."""

    @property
    def id(self) -> str:
        """The client's name for it."""


class Glance(NamedTuple):
    """What is read of a command that cannot be read: its id and its kind, each "" where it cannot be read."""

    id: str
    kind: str


class _Numbered(msgspec.Struct):
    v: int | msgspec.UnsetType = msgspec.UNSET
    id: str = ""


class _Kind(msgspec.Struct):
    kind: str = msgspec.field(name="type", default="")


_numbered: Final = msgspec.json.Decoder(_Numbered)
_kinds: Final = msgspec.json.Decoder(_Kind)


def as_command[C: Versioned](
    body: bytes, decode: Callable[[bytes], C], version: int, unreadable: Callable[[bytes, str], Rejected]
) -> C | Rejected:
    """The command of this version, or why it cannot be one; never raises.

    `unreadable` says so of a body that `decode` refuses for some reason.
    """
    if len(body) > COMMAND_BYTES_MAX:
        message = f"A command has at most {COMMAND_BYTES_MAX} bytes; this one has {len(body)}."
        return Rejected(code="oversized", message=message, allowed=Allowed(maximum=COMMAND_BYTES_MAX))
    try:
        command = decode(body)
    except UNREADABLE as error:
        return unreadable(body, str(error))
    return command if command.v == version else _unsupported(command.v, version, command.id)


def glance(body: bytes, version: int) -> Glance | Rejected:
    """What can be read of a command that cannot; or the refusal of one that is of another version."""
    try:
        numbered = _numbered.decode(body)
    except UNREADABLE:
        numbered = _Numbered()
    if numbered.v is not msgspec.UNSET and numbered.v != version:
        return _unsupported(numbered.v, version, numbered.id)
    return Glance(numbered.id[:ID_CHARACTERS_MAX], _kind(body))


def _kind(body: bytes) -> str:
    try:
        return _kinds.decode(body).kind
    except UNREADABLE:
        return ""


def _unsupported(given: int, known: int, command: str) -> Rejected:
    message = f"Commands of version {given} are not known here; version {known} is."
    allowed = Allowed(versions=(known,))
    return Rejected(code="unsupported_version", message=message, id=command[:ID_CHARACTERS_MAX], allowed=allowed)
