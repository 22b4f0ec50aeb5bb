"""What a command's bytes must be to be read as one of a table's; the rest is decided on the table.

Unknown fields of its configuration are not passed over: a mistyped option would open a table by other rules than were
meant.
"""

import re
from collections.abc import Iterator
from typing import Any, Final, get_args

import msgspec

from contracts.codec import decode_command
from contracts.commands import COMMAND_VERSION, AnyCommand, ChangeOptions, OpenTable
from contracts.data import CHIPS_MAX
from contracts.outcomes import Allowed, Code, Rejected
from contracts.plain import in_words
from services.aggregate.intake import UNREADABLE, as_command, glance

AMOUNT: Final = re.compile(r"at `\$\.(to|amount|buy_in)`$")
"""How msgspec says that the fault lies in an amount of chips."""

_SEAT: Final = re.compile(r"at `\$\.seat`$")
"""How it says so of a seat."""
SEATS_MAX: Final = 10

KINDS: Final = tuple(str(kind.__struct_config__.tag) for kind in get_args(AnyCommand.__value__))
"""What the `type` of a command may be."""

SIGNED: Final = ("adjust_stack",)
"""Commands whose amount may be below 0."""

MESSAGE_CHARACTERS_MAX: Final = 1000
"""So much is said of the names in a body that may hold thousands."""


class _Configured(msgspec.Struct):
    config: dict[str, Any]


_configured: Final = msgspec.json.Decoder(_Configured)


def read_command(body: bytes) -> AnyCommand | Rejected:
    """The command, or why it cannot be one; never raises."""
    command = as_command(body, decode_command, COMMAND_VERSION, _unreadable)
    return _without_strays(command, body) if isinstance(command, OpenTable | ChangeOptions) else command


def _without_strays(command: OpenTable | ChangeOptions, body: bytes) -> AnyCommand | Rejected:
    """The command, unless its configuration has fields that no configuration has."""
    try:
        given = _configured.decode(body).config
    except UNREADABLE as error:
        return _unreadable(body, str(error))
    names = ", ".join(f"`{name}`" for name in _strays("config", given, command.config))
    if not names:
        return command
    kind = str(command.__struct_config__.tag)
    cannot = "No table can be opened" if isinstance(command, OpenTable) else "The table cannot be changed"
    message = f"{cannot} like this: a configuration has no field {names}."
    allowed = Allowed(actions=(kind,))
    return Rejected(code="malformed", message=message[:MESSAGE_CHARACTERS_MAX], id=command.id, allowed=allowed)


def _strays(path: str, given: object, read: object) -> Iterator[str]:
    """The paths of fields that were given and not read: they are none of the contract's."""
    if isinstance(read, msgspec.Struct) and isinstance(given, dict):
        for name, value in given.items():
            if name in read.__struct_encode_fields__:
                yield from _strays(f"{path}.{name}", value, getattr(read, name))
            else:
                yield f"{path}.{name}"
    elif isinstance(read, tuple) and isinstance(given, list):
        for index, (value, part) in enumerate(zip(given, read, strict=True)):
            yield from _strays(f"{path}[{index}]", value, part)


def _unreadable(body: bytes, reason: str) -> Rejected:
    seen = glance(body, COMMAND_VERSION)
    if isinstance(seen, Rejected):
        return seen
    command, kind = seen
    code: Code = "malformed"
    allowed = Allowed(actions=(kind,) if kind in KINDS else KINDS)
    if kind not in KINDS:
        reason = f"{reason}; a command is JSON whose `type` is one of {', '.join(KINDS)}"
    elif AMOUNT.search(reason):
        least = -CHIPS_MAX if kind in SIGNED else 1
        code, allowed = "not_a_whole_chip", Allowed(minimum=least, maximum=CHIPS_MAX, chip=1)
        reason = f"{reason}; an amount is a whole number of the smallest chips, from {least} to {CHIPS_MAX}"
    elif _SEAT.search(reason):
        allowed = Allowed(actions=(kind,), minimum=1, maximum=SEATS_MAX)
        reason = f"{reason}; a seat is a whole number from 1 to {SEATS_MAX}, as far as the table has so many"
    message = f"The command cannot be read: {in_words(reason)}."
    return Rejected(code=code, message=message, id=command, allowed=allowed)
