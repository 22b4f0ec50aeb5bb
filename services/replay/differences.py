"""Where two records of the same thing differ: field by field, so that a dispute can be about one number."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, Final, NamedTuple

import msgspec

_ABSENT: Final = object()
TEXT_MAX: Final = 200
"""Longer values are cut in a report."""


class Difference(NamedTuple):
    """A field, such as `events[0].amount`, what was recorded in it and what should be."""

    field: str
    recorded: str
    derived: str


def differences(recorded: object, derived: object, field: str = "") -> Iterator[Difference]:
    """Every innermost field in which two structs, tuples or scalars differ."""
    if type(recorded) is type(derived) and isinstance(recorded, msgspec.Struct):
        for name in recorded.__struct_fields__:
            yield from differences(getattr(recorded, name), getattr(derived, name), f"{field}.{name}".lstrip("."))
    elif isinstance(recorded, tuple) and isinstance(derived, tuple):
        for index, pair in enumerate(zip_longest(recorded, derived, fillvalue=_ABSENT)):
            yield from differences(*pair, f"{field}[{index}]")
    elif recorded is _ABSENT or derived is _ABSENT or recorded != derived:
        yield _different(recorded, derived, field)


def _different(recorded: object, derived: object, field: str) -> Difference:
    if _tag(recorded) is not None and _tag(derived) is not None:
        return Difference(f"{field}.type", str(_tag(recorded)), str(_tag(derived)))
    return Difference(field, text(recorded), text(derived))


def _tag(value: object) -> Any:  # noqa: ANN401 - a tag may be a string or a number
    return value.__struct_config__.tag if isinstance(value, msgspec.Struct) else None


def text(value: object) -> str:
    """A value as the log would write it, cut to `TEXT_MAX`; empty for one that is not there."""
    if value is _ABSENT:
        return ""
    written = msgspec.json.encode(value).decode()
    return written if len(written) <= TEXT_MAX else f"{written[: TEXT_MAX - 3]}..."


def equal(what: str, found: object, must: object) -> Iterator[Difference]:
    """The difference, if there is one, between a quantity as it was found and as it must be."""
    if found != must:
        yield Difference(what, str(found), str(must))
