"""One word for one thing: whoever searches the lines of all services for a table or a command needs one search."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

HOUSE: Final = Path(__file__).parents[1]
METHODS: Final = {"debug", "info", "warning", "error", "critical", "exception", "say"}
THINGS: Final = {"room", "table", "hand", "seat", "ledger", "service", "player", "command", "stream", "subject"}
"""Each is called this, and nothing else: a table is `table`, never `table_id` or `table_name`."""
NAMELESS: Final = {"id", "name", "number", "type", "tbl", "cmd", "msg", "user_id"}
"""What does not say of what it is one."""


def fault(word: str) -> str | None:
    """Why a line may not say something under this name."""
    if word in NAMELESS:
        return "of what?"
    if word not in THINGS and THINGS & set(word.split("_")):
        return "it has a name already"
    return None


def calls() -> Iterator[tuple[str, ast.Call]]:
    """Every call that logs a line, and where it stands."""
    for source in (HOUSE / "services").rglob("*.py"):
        for call in ast.walk(ast.parse(source.read_bytes())):
            if isinstance(call, ast.Call) and _logs(call):
                yield f"{source.relative_to(HOUSE)}:{call.lineno}", call


def _logs(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in METHODS:
        return False
    return call.func.attr == "say" or "log" in ast.unparse(call.func.value)


CALLS: Final = dict(calls())


def test_there_are_lines() -> None:
    assert len(CALLS) > 50


@pytest.mark.parametrize("place", CALLS)
def test_a_line_says_things_by_their_one_name(place: str) -> None:
    given = [each.arg for each in CALLS[place].keywords]
    assert {word: fault(word) for word in given if word is not None and fault(word)} == {}
    if "table" in given:
        assert "room" in given


@pytest.mark.parametrize("word", ["table_id", "hand_number", "id", "the_room", "command_id"])
def test_a_second_name_is_found(word: str) -> None:
    assert fault(word) is not None
    assert fault("took_ms") is None
