"""JSON altered where a decision says: fields missing, doubled, moved, of another type, out of range, nested, cut."""

import json
from collections.abc import Iterator
from functools import cache
from typing import Any, Final

import msgspec

from contracts.data import Data, Message
from contracts.games import Options, RakeSchedule, TableConfig
from tests.fuzz.choices import Choices

DEEP: Final = "\x01deep"
"""Stands for a nesting deeper than any decoder goes."""
_DEEP: Final = json.dumps(DEEP).encode()
NESTED: Final = (b"[" * 20_000 + b"]" * 20_000, b'{"a":' * 12_000 + b"0")

VALUES: Final[tuple[Any, ...]] = (
    None, True, False, 0, 1, -1, 2, 10, 11, 51, 52, 100, 255, 2**31, 2**53 - 1, 2**53, 2**63 - 1, 2**63, 2**64,
    -(2**63), 10**40, 10**400, 0.0, 1.0, 1.5, -0.0, 1e308, 1e22, float("nan"), float("inf"),
    "", " ", "a", "0", "T1", "P1", "P1\n", "\n", "\0", "é", "\ud800", "*", ">", ".", "a.b", "x" * 41, "x" * 70_000,
    "0" * 64, "f" * 64, "00", "As", "Td", "1s", "flop", "preflop", "river", "fold", "call", "raise", "all_in", "check",
    "big_blind", "ante", "holdem", "omaha8", "plo8", "no_limit", "fixed_limit", "percent", "table", "dealer", "player",
    "0001-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59-12:00",
    "2026-03-01T20:00:00", "2026-03-01T20:00:00.1234567Z", "2026-02-30T20:00:00Z", "2026-03-01T20:00:60Z",
    [], {}, [None], [[]], {"": None}, {"type": "fold"}, [1, 2], [0] * 300, DEEP,
)  # fmt: skip
"""What stands in any field's place."""
NUMBERS: Final = tuple(value for value in VALUES if type(value) is int)
COUNTS: Final = (1, 0, 2, 3, 4, 5, 7, 25, 100, 700, 1000, 60_000, 3_600_000, 10**9, 2**31, 2**53 - 1)
"""What an option may be that is a number."""


def _structs(of: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    for found in of.__subclasses__():
        yield found
        yield from _structs(found)


NAMES: Final = tuple(
    sorted({name for of in (Data, Message) for found in _structs(of) for name in found.__struct_fields__})
)
"""What a field of a contract may be called."""


def _words(of: type[msgspec.Struct]) -> Iterator[str]:
    for field in msgspec.structs.fields(of):
        kind = msgspec.inspect.type_info(field.type)
        if isinstance(kind, msgspec.inspect.LiteralType):
            yield from map(str, kind.values)


WORDS: Final = tuple(sorted({word for of in (Options, TableConfig, RakeSchedule) for word in _words(of)}))
"""What the options of a table may be."""


def mutated(data: bytes, choices: Choices, other: bytes = b"null") -> bytes:
    """JSON bytes altered up to three times; `other` gives pieces that do not belong. What is no JSON stays."""
    try:
        tree = [json.loads(data)]
    except (ValueError, RecursionError):
        return data
    for _ in range(choices.one_of((1, 1, 2, 3))):
        _alter(tree, choices, other)
    return _bent(written(tree[0]), choices)


def written(value: Any) -> bytes:
    """A value as JSON, short."""
    return json.dumps(value, separators=(",", ":")).encode().replace(_DEEP, NESTED[0])


def _bent(data: bytes, choices: Choices) -> bytes:
    """Now and then the bytes themselves are altered: cut, flipped, doubled, followed by others."""
    match choices.below(48):
        case 1:
            return data[: choices.below(len(data) + 1)]
        case 2 if data:
            at = choices.below(len(data))
            return data[:at] + choices.take(1) + data[at + 1 :]
        case 3:
            at, size = choices.below(len(data) + 1), choices.below(64)
            return data[:at] + data[at : at + size] * 2 + data[at + size :]
        case 4:
            return data + choices.one_of((b" ", b"\n", b"\0", b"x", b"{}", data))
        case 5:
            at = choices.below(len(data) + 1)
            return data[:at] + choices.take(choices.below(8)) + data[at:]
        case _:
            return data


def _place(tree: list[Any], choices: Choices) -> tuple[Any, Any]:
    """A container and one of its keys, at any depth."""
    inside: Any = tree
    key: Any = 0
    while True:
        found = inside[key]
        keys = list(found) if isinstance(found, dict) else range(len(found)) if isinstance(found, list) else ()
        if not keys or choices.below(8) == 7:  # now and then a whole part is taken
            return inside, key
        inside, key = found, choices.one_of(list(keys))


def _alter(tree: list[Any], choices: Choices, other: bytes) -> None:
    inside, key = _place(tree, choices)
    match choices.below(16):
        case 0:
            inside[key] = choices.one_of(VALUES)
        case 2 if inside is not tree:
            del inside[key]
        case 3:
            again, where = _place(tree, choices)
            if _fits(inside[key], again[where], choices):
                inside[key], again[where] = again[where], inside[key]
        case 4 if isinstance(inside, list) and inside is not tree:
            inside.insert(choices.below(len(inside) + 1), inside[key])
        case 5 if isinstance(inside, dict):
            inside[choices.one_of(("type", "v", "unknown", *NAMES))] = choices.one_of((inside[key], *VALUES, *WORDS))
        case 6:
            piece, where = _place([json.loads(other)], choices)
            inside[key] = piece[where] if _fits(inside[key], piece[where], choices) else inside[key]
        case _:
            inside[key] = _near(inside[key], choices)
    _untie(tree)


def _fits(one: Any, other: Any, choices: Choices) -> bool:
    """Mostly one thing takes the place of another of its type alone."""
    return type(one) is type(other) or choices.below(4) == 1


def _near(value: Any, choices: Choices) -> Any:
    """Something of the same type."""
    match value:
        case bool():
            return not value
        case int():
            return choices.one_of(
                (value + 1, value - 1, value * 2, -value, value + 2**32, value // 2, choices.number(4), *NUMBERS)
            )
        case str():
            return choices.one_of(
                (value + "x", value[:-1], value.upper(), value * 2, value[::-1], f"{value}\n", *WORDS)
            )
        case list():
            return choices.one_of((value[::-1], value * 2, value[1:], value[:1]))
        case dict():
            return dict(list(value.items())[1:])
        case _:
            return choices.one_of(VALUES)


def _untie(tree: list[Any]) -> None:
    """A part put into itself cannot be written; and one part in two places must not be altered in both."""
    try:
        tree[:] = json.loads(json.dumps(tree))
    except (ValueError, RecursionError):
        tree[:] = [None]


@cache
def _options() -> tuple[tuple[str, tuple[Any, ...]], ...]:
    """Each option of a table, and what it may be."""
    found = []
    for field in msgspec.structs.fields(Options):
        kind = msgspec.inspect.type_info(field.type)
        words = tuple(kind.values) if isinstance(kind, msgspec.inspect.LiteralType) else ()
        found.append((field.name, words or ((False, True) if field.type is bool else COUNTS)))
    return tuple(found)


def options(choices: Choices) -> dict[str, Any]:
    """Some options of a table, at values that they may have."""
    taken = [choices.one_of(_options()) for _ in range(choices.below(5))]
    return {name: choices.one_of(values) for name, values in taken}
