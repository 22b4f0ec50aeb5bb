"""Contracts of every shape: all structs, what may stand in each of their fields, and where their amounts are."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

from contracts.data import CHIPS_MAX
from contracts.schema.groups import GROUPS, structs

type Struct = type[msgspec.Struct]

STRUCTS: tuple[Struct, ...] = tuple(struct for group in GROUPS for struct in structs(group))
ITEMS_MAX = 3

_MOMENTS = st.datetimes(min_value=datetime(2000, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - `timezones` adds it


def tag(struct: Struct) -> str:
    return str(struct.__struct_config__.tag)


def members(union: Any) -> tuple[Struct, ...]:
    """The structs of a union of contracts, in the order of STRUCTS."""
    inside = inspect.type_info(union)
    wanted = {each.cls for each in _parts(inside) if isinstance(each, inspect.StructType)}
    return tuple(struct for struct in STRUCTS if struct in wanted)


def any_of(struct: Struct) -> st.SearchStrategy[Any]:
    """Any value that a struct may have."""
    return _values(inspect.type_info(struct))


def fields(struct: Struct) -> tuple[inspect.Field, ...]:
    info = inspect.type_info(struct)
    assert isinstance(info, inspect.StructType)
    return info.fields


def is_amount(kind: inspect.Type) -> bool:
    """Whether it is a number of chips, milliseconds or hands: whole, from 0 to the largest exact JSON integer."""
    return isinstance(kind, inspect.IntType) and (kind.ge, kind.le) == (0, CHIPS_MAX)


def in_place_of_amounts(kind: inspect.Type, value: Any) -> Any:
    """What JSON stands in a field of this type when `value` is where its amounts are; None if it has none."""
    kind = _bare(kind)
    match kind:
        case inspect.IntType() if is_amount(kind):
            return value
        case inspect.VarTupleType():
            inside = in_place_of_amounts(kind.item_type, value)
            return None if inside is None else [inside]
        case inspect.TupleType():
            inside = [in_place_of_amounts(item, value) for item in kind.item_types]
            return None if None in inside else inside
        case inspect.UnionType():
            return next(filter(None, (in_place_of_amounts(each, value) for each in kind.types)), None)
    return None


def integers(kind: inspect.Type) -> Iterator[inspect.IntType]:
    """The integers that stand in a field of this type itself, not in a struct inside it."""
    return (each for each in _parts(kind) if isinstance(each, inspect.IntType))


def _values(kind: inspect.Type) -> st.SearchStrategy[Any]:
    match _bare(kind):
        case inspect.StructType(cls=cls, fields=inside):
            return st.builds(cls, **{each.name: _values(each.type) for each in inside})
        case inspect.VarTupleType(item_type=item, min_length=least):
            return st.lists(_values(item), min_size=least or 0, max_size=ITEMS_MAX).map(tuple)
        case inspect.TupleType(item_types=items):
            return st.tuples(*map(_values, items))
        case inspect.UnionType(types=types):
            return st.one_of(*map(_values, types))
        case scalar:
            return _scalars(scalar)


def _scalars(kind: inspect.Type) -> st.SearchStrategy[Any]:
    match kind:
        case inspect.IntType(ge=least, le=most):
            return st.integers(least or 0, CHIPS_MAX if most is None else most)
        case inspect.StrType(pattern=str(pattern)):
            return st.from_regex(pattern, fullmatch=True)
        case inspect.StrType(min_length=int(shortest), max_length=longest):  # a hash, of which only that is checked
            return st.text("0123456789abcdef", min_size=shortest, max_size=longest)
        case inspect.StrType(max_length=longest):
            return st.text(st.characters(codec="utf-8"), max_size=20 if longest is None else longest)
        case inspect.LiteralType(values=values):
            return st.sampled_from(values)
        case inspect.DateTimeType():
            return _MOMENTS
        case inspect.BoolType():
            return st.booleans()
        case inspect.NoneType():
            return st.none()
        case other:
            raise AssertionError(f"no contract has had a field of this type so far: {other}")


def _parts(kind: inspect.Type) -> Iterator[inspect.Type]:
    kind = _bare(kind)
    match kind:
        case inspect.UnionType(types=types) | inspect.TupleType(item_types=types):
            for each in types:
                yield from _parts(each)
        case inspect.VarTupleType(item_type=item):
            yield from _parts(item)
        case _:
            yield kind


def _bare(kind: inspect.Type) -> inspect.Type:
    return _bare(kind.type) if isinstance(kind, inspect.Metadata) else kind
