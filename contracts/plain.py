"""What keeps plain data, as a file of TOML or JSON gives it, from being a contract: every fault, and what is accepted.

The codec stops at the first fault, and passes over fields that it does not know. Whoever wrote a file by hand wants to
be told of all that is wrong with it, by the names of the fields.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final, get_args, get_type_hints

import msgspec
from msgspec import inspect

from contracts.account_commands import Reference
from contracts.accounts import Account
from contracts.commands import AdjustStack, Command
from contracts.data import CHIPS_MAX, Id, Instant

SHOWN_CHARACTERS_MAX: Final = 60
"""So much of a wrong value is said again."""
FAULTS_MAX: Final = 20
"""So many faults are told of; whoever mends them is told of the next ones."""


def _pattern(kind: Any) -> str | None:  # noqa: ANN401 - an annotated type
    return next(each.pattern for each in get_args(kind) if isinstance(each, msgspec.Meta))


_PATTERNS: Final[dict[str | None, str]] = {
    _pattern(Id.__value__): "1 to 40 letters, digits, - and _",
    _pattern(Account.__value__): "`player.NAME`, `table.ROOM.TABLE`, `rake`, `suspense` or `cash`",
    _pattern(Reference.__value__): "printable characters, with no blank at either end",
    _pattern(get_type_hints(Command, include_extras=True)["id"]): "1 to 64 letters, digits, _, ., : and -",
    _pattern(get_type_hints(AdjustStack, include_extras=True)["reference"]): "printable characters",
    "^[A-Z]{3,5}(?!\\n)$": "3 to 5 capital letters",
}

_SCALARS: Final[dict[type[inspect.Type], str]] = {
    inspect.BoolType: "true or false",
    inspect.DateTimeType: "a time with its offset, as 2026-03-01T20:00:00Z,",
}
"""What is accepted where a field has nothing of its own to say."""

_REGEX: Final = re.compile(r"matching regex (['\"])(.*)\1")
"""How msgspec says what a text must be like."""


class Faulty(Exception):
    """Plain data that is no contract; `faults` says of each field why, and what is accepted."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = faults


def read[T: msgspec.Struct](data: object, of: type[T]) -> T:
    """Plain data as a struct. Raises `Faulty`."""
    faults: list[str] = []
    for fault in _faults("", data, _described(of)):
        faults.append(fault)
        if len(faults) == FAULTS_MAX:
            break
    if faults:
        raise Faulty(faults)
    found: T = msgspec.convert(data, of)
    return found


@cache
def _described(of: type[msgspec.Struct]) -> inspect.Type:
    return inspect.type_info(of)


def _faults(path: str, value: object, kind: inspect.Type) -> Iterator[str]:
    match kind:
        case inspect.Metadata():
            yield from _faults(path, value, kind.type)
        case inspect.UnionType():
            yield from () if value is None else _faults(path, value, _of_optional(kind))
        case inspect.StructType() if isinstance(value, Mapping):
            yield from _faults_of_fields(path, value, kind)
        case inspect.VarTupleType() if isinstance(value, list):
            for index, item in enumerate(value):
                yield from _faults(f"{path}[{index}]", item, kind.item_type)
        case inspect.TupleType() if isinstance(value, list) and len(value) == len(kind.item_types):
            for index, (item, of_item) in enumerate(zip(value, kind.item_types, strict=True)):
                yield from _faults(f"{path}[{index}]", item, of_item)
        case _ if not _fits(value, kind):
            yield f"{path or 'the file'}: {_shown(value)} is not accepted; {accepted(kind)} is"
        case _:
            pass


def _of_optional(kind: inspect.UnionType) -> inspect.Type:
    """The kind of a field that may be left out. No contract that is written by hand has a choice of two kinds."""
    (one,) = (each for each in kind.types if not isinstance(each, inspect.NoneType))
    return one


def _faults_of_fields(path: str, value: Mapping[str, object], kind: inspect.StructType) -> Iterator[str]:
    fields = {field.encode_name: field for field in kind.fields}
    for name, given in value.items():
        if name in fields:
            yield from _faults(_within(path, name), given, fields[name].type)
        else:
            yield f"{_within(path, _name(name))}: there is no such field; there are {', '.join(fields)}"
    for name, field in fields.items():
        if field.required and name not in value:
            yield f"{_within(path, name)}: is missing; {accepted(field.type)} is accepted"


def _fits(value: object, kind: inspect.Type) -> bool:
    match kind:
        case inspect.IntType():
            return type(value) is int and _within_bounds(value, kind)
        case inspect.BoolType():
            return isinstance(value, bool)
        case inspect.LiteralType():
            return isinstance(value, str) and value in kind.values
        case inspect.StrType():
            return isinstance(value, str) and _is_text(value, kind)
        case inspect.DateTimeType():
            return isinstance(value, str) and _is_instant(value)
        case _:
            return False


def _within_bounds(value: int, kind: inspect.IntType) -> bool:
    low, high = _bounds(kind)
    return low <= value <= high


def _bounds(kind: inspect.IntType) -> tuple[int, int]:
    """Whole numbers that have no bounds of their own are such as every reader of JSON keeps exact."""
    return (-CHIPS_MAX if kind.ge is None else int(kind.ge), CHIPS_MAX if kind.le is None else int(kind.le))


def _is_text(value: str, kind: inspect.StrType) -> bool:
    low, high = kind.min_length or 0, kind.max_length
    if len(value) < low or (high is not None and len(value) > high):
        return False
    return kind.pattern is None or re.search(kind.pattern, value) is not None


def _is_instant(value: str) -> bool:
    try:
        msgspec.convert(value, Instant)
    except msgspec.ValidationError:
        return False
    return True


def accepted(kind: inspect.Type) -> str:
    """What may stand in a field of this kind, in words."""
    match kind:
        case inspect.Metadata():
            return accepted(kind.type)
        case inspect.UnionType():
            return accepted(_of_optional(kind))
        case inspect.IntType():
            low, high = _bounds(kind)
            return f"a whole number from {low} to {high}"
        case inspect.LiteralType():
            return f"one of {', '.join(map(repr, kind.values))}" if len(kind.values) > 1 else repr(kind.values[0])
        case inspect.StrType():
            return _text(kind)
        case inspect.BoolType() | inspect.DateTimeType():
            return _SCALARS[type(kind)]
        case inspect.VarTupleType():
            return f"a list, each {accepted(kind.item_type)},"
        case inspect.TupleType():
            return f"a list of {len(kind.item_types)}, each {accepted(kind.item_types[0])},"
        case inspect.StructType():
            return f"a table of {', '.join(field.encode_name for field in kind.fields)}"
        case _:
            raise TypeError(f"no contract that is written by hand has a field of kind {kind}")


def _text(kind: inspect.StrType) -> str:
    if kind.pattern is not None:
        return f"a text of {_PATTERNS.get(kind.pattern, f'the form {kind.pattern}')}"
    low, high = kind.min_length or 0, kind.max_length
    return "a text" if high is None else f"a text of {low} to {high} characters"


def in_words(reason: str) -> str:
    """What msgspec says of a fault, with words in the place of a pattern that has some."""
    return _REGEX.sub(lambda found: _worded(found[2].replace("\\\\", "\\"), found[0]), reason)


def _worded(pattern: str, otherwise: str) -> str:
    words = _PATTERNS.get(pattern)
    return otherwise if words is None else f"of {words}"


def _within(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _name(name: str) -> str:
    """A name that somebody made up, as it can be printed."""
    return name if name.isprintable() and len(name) <= SHOWN_CHARACTERS_MAX else _shown(name)


def _shown(value: Any) -> str:  # noqa: ANN401 - anything that a file may hold
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "a table"
    if isinstance(value, list):
        return "an empty list" if not value else f"a list of {len(value)}"
    if value is None:
        return "null"
    if isinstance(value, int) and abs(value) >= 10**SHOWN_CHARACTERS_MAX:
        return "a number of more than 60 digits"
    text = ascii(value) if isinstance(value, str) else str(value)
    return text if len(text) <= SHOWN_CHARACTERS_MAX else f"{text[:SHOWN_CHARACTERS_MAX]}..."
