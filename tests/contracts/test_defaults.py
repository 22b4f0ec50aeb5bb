"""A default is part of every log: fields at their default are not written, so a default may never change."""

import json
from pathlib import Path
from typing import Any

from msgspec import NODEFAULT
from msgspec.inspect import Field

from contracts.codec import encode
from contracts.games import Options
from tests.contracts.shapes import STRUCTS, fields

PINNED = Path(__file__).with_name("defaults.json")
"""Struct -> field -> its default, for ever. Lines are added for new fields, and never changed."""


def defaults() -> dict[str, str]:
    """Struct.field -> its default as JSON text, so that true is not 1; of every field that has one."""
    return {
        f"{struct.__name__}.{field.name}": encode(default(field)).decode()
        for struct in STRUCTS
        for field in fields(struct)
        if not field.required
    }


def default(field: Field) -> Any:
    return field.default if field.default is not NODEFAULT else field.default_factory()


def pinned() -> dict[str, str]:
    structs = json.loads(PINNED.read_text(encoding="utf-8"))
    return {f"{name}.{field}": encode(value).decode() for name, of in structs.items() for field, value in of.items()}


def test_no_default_changes() -> None:
    """DESIGN 2: an old log folds the same for ever."""
    now = defaults()
    changed = {name: f"{was} -> {now.get(name, 'none')}" for name, was in pinned().items() if was != now.get(name)}
    assert not changed, (
        f"the default of a contract field changed: {changed}. Old logs leave out fields at their default, so with "
        "another one they would fold differently, or not at all. Keep the default; what should now be usual is "
        "written out by whoever makes the struct, or is a new field."
    )


def test_every_default_is_pinned() -> None:
    new = {name: text for name, text in defaults().items() if name not in pinned()}
    assert not new, f"new fields: add them to tests/contracts/{PINNED.name}, and never change them again: {new}"


def test_a_field_at_its_default_is_not_written() -> None:
    """Why the defaults are pinned: the bytes say nothing about them."""
    assert encode(Options()) == b"{}"
    assert encode(Options(burn_cards=False, fl_cap=4)) == b'{"burn_cards":false}'
