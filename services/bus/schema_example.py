"""An example of a message, made from its schema alone: all that it must hold, and nothing else."""

import re
from typing import Any, Final

from services.bus.schema_files import Json, definition

DEPTH_MAX: Final = 40
_BY_FIELD: Final[dict[str, str | int]] = {
    "room": "main",
    "table": "T1",
    "player": "alice",
    "name": "alice",
    "id": "c-1",
    "ledger": "real-USD",
    "reason": "the house is closing",
    "message": "It is P2's turn.",
    "code": "not_your_turn",
    "subject": "command.main.T1.player.alice",
    "reference": "bank-2026-117",
    "head": "5f" * 32,
    "source": "suspense",
    "target": "player.alice",
    "account": "player.alice",
    "limit": "no_limit",
    "action": "call",
    "small_blind": 1,
    "big_blind": 2,
    "seats": 6,
    "minimum": 40,
    "buy_in": 200,
    "amount": 200,
    "balance": 4_800,
    "hand": 3,
    "n": 17,
    "turn": 16,
    "previous": 16,
}
"""What a field is given that has such a name, where its schema takes that."""
_TEXTS: Final = (
    *("T1", "As", "USD", "real-USD", "rake", "c-1", "2026-01-31T20:15:00.250Z"),
    *("5f" * 32, "5f" * 16, "5f"),
)


def example(schema: Json, file: str, field: str = "", depth: int = 0) -> Any:  # noqa: ANN401 - whatever JSON has
    """A value that the schema, which stands in this file, takes. Raises ValueError where none is known."""
    if depth > DEPTH_MAX:
        raise ValueError(f"the schema of {field} does not end")
    if "$ref" in schema:
        found, where = definition(schema["$ref"], file)
        return example(found, where, field, depth + 1)
    if "anyOf" in schema:
        return example(schema["anyOf"][0], file, field, depth + 1)
    if "enum" in schema:
        known = _BY_FIELD.get(field)
        return known if known in schema["enum"] else schema["enum"][0]
    match schema.get("type"):
        case "object":
            return {
                name: example(schema["properties"][name], file, name, depth + 1) for name in schema.get("required", ())
            }
        case "array":
            items = schema.get("items", {})
            return [example(items, file, field, depth + 1)] * max(schema.get("minItems", 0), 1)
        case "integer":
            return _number(schema, field)
        case "boolean":
            return True
        case "string":
            return _text(schema, field)
        case other:
            raise ValueError(f"nothing is known of the type {other!r} of {field}")


def _number(schema: Json, field: str) -> int:
    lowest, known = schema.get("minimum", 0), _BY_FIELD.get(field)
    fits = isinstance(known, int) and lowest <= known <= schema.get("maximum", known)
    return known if fits and isinstance(known, int) else max(lowest, 1)


def _text(schema: Json, field: str) -> str:
    if schema.get("format") == "date-time":
        return _TEXTS[6]
    for text in (_BY_FIELD.get(field), *_TEXTS):
        if isinstance(text, str) and _fits(schema, text):
            return text
    raise ValueError(f"no example fits {schema.get('pattern')} of {field}")


def _fits(schema: Json, text: str) -> bool:
    return (
        schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", len(text))
        and re.search(schema.get("pattern", ""), text) is not None
    )
