"""One word for one thing: whoever searches the lines of all services for a table or a command needs one search."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

HOUSE: Final = Path(__file__).parents[1]
METHODS: Final = {"debug", "info", "warning", "error", "critical", "exception", "say"}
WORDS: Final = {
    # where
    *("room", "table", "hand", "n", "head", "seat", "ledger", "subject", "sequence", "stream", "messages"),
    # who
    *("service", "services", "user", "player", "host", "rooms", "by"),
    # what
    *("command", "kind", "fact", "code", "message", "took_ms"),
    # why
    *("reason", "error", "exc_info", "fault", "unsaid", "said"),
    # how much, until when
    *("waiting", "bytes", "in_all", "longer_than_ms", "spans", "until"),
    # with what
    *("nats", "reply", "collector", "current", "keys", "port", "wanted"),
}
"""What a line may say of itself; a table is `table` with its `room`, and never `table_id` or `name`."""


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
    assert set(given) - {None} <= WORDS
    if "table" in given:
        assert "room" in given
