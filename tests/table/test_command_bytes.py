"""Every field of every command with a wrong type, 2^63, a negative, or left out: a typed rejection."""

import json
from typing import Any, Final, get_args

import pytest

from contracts.codec import decode, encode
from contracts.commands import AnyCommand
from contracts.data import CHIPS_MAX
from contracts.outcomes import Allowed, Rejected
from services.table.intake import KINDS, read_command
from tests.contracts.shapes import fields
from tests.table.stories import config

CONFIG: Final = json.loads(encode(config()))
GOOD: Final[dict[str, dict[str, Any]]] = {
    "open_table": {"config": CONFIG},
    "take_seat": {"player": "P1", "buy_in": 500, "seat": 2, "choice": "post"},
    "reserve_seat": {"player": "P1", "seat": 2},
    "release_seat": {"player": "P1"},
    "join_waiting_list": {"player": "P1"},
    "leave_waiting_list": {"player": "P1"},
    "confirm_request": {"request": 7, "paid": True, "message": "not enough"},
    "connected": {"player": "P1"},
    "disconnected": {"player": "P1"},
    "leave_table": {"player": "P1"},
    "sit_out": {"player": "P1"},
    "return_to_play": {"player": "P1", "choice": "post"},
    "top_up": {"player": "P1", "amount": 500},
    "act": {"turn": 4, "action": "raise", "to": 500},
    "pause_table": {"reason": "r"},
    "resume_table": {"reason": "r"},
    "close_table": {"reason": "r"},
    "change_options": {"config": CONFIG, "reason": "r"},
    "void_hand": {"reason": "r"},
    "remove_player": {"player": "P1", "reason": "r"},
    "adjust_stack": {"player": "P1", "amount": -500, "reason": "r", "reference": "T-17"},
}
"""All fields of each command, but for those that all have."""
COMMANDS: Final = {str(kind.__struct_config__.tag): kind for kind in get_args(AnyCommand.__value__)}
AMOUNTS: Final = ("buy_in", "amount", "to")
BAD: Final[dict[str, Any]] = {
    "a list": [],
    "an object": {"x": 1},
    "2^63": 2**63,
    "-2^63": -(2**63),
    "a fraction": 0.5,
}


def body(kind: str, **changes: Any) -> bytes:
    """A good command with fields changed; ... leaves one out."""
    given = {"type": kind, "id": "c1", "hand": 0, "v": 1} | GOOD[kind] | changes
    return json.dumps({name: value for name, value in given.items() if value is not ...}).encode()


def cases() -> list[tuple[str, str, Any]]:
    return [
        (kind, name, value) for kind, given in GOOD.items() for name in ("id", "hand", *given) for value in BAD.values()
    ]


def test_all_commands_and_all_their_fields_are_here() -> None:
    assert set(GOOD) == set(KINDS)
    for kind, given in GOOD.items():
        assert {"id", "hand", "v", *given} == {field.encode_name for field in fields(COMMANDS[kind])}, kind
        assert decode(body(kind), COMMANDS[kind]) == read_command(body(kind))


@pytest.mark.parametrize(("kind", "name", "value"), cases())
def test_a_field_that_cannot_be_is_refused_by_name(kind: str, name: str, value: Any) -> None:
    outcome = read_command(body(kind, **{name: value}))
    assert isinstance(outcome, Rejected), outcome
    if name in AMOUNTS:
        least = -CHIPS_MAX if kind == "adjust_stack" else 1
        assert (outcome.code, outcome.allowed) == (
            "not_a_whole_chip",
            Allowed(minimum=least, maximum=CHIPS_MAX, chip=1),
        )
        assert f"from {least} to {CHIPS_MAX}" in outcome.message
    else:
        low, high = (1, 10) if name == "seat" else (None, None)
        accepted = Allowed(actions=(kind,), minimum=low, maximum=high)
        assert (outcome.code, outcome.allowed) == ("malformed", accepted)
        assert f"`$.{name}" in outcome.message


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (kind, name)
        for kind, given in GOOD.items()
        for name in ("id", *given)
        if next(field for field in fields(COMMANDS[kind]) if field.encode_name == name).required
    ],
)
def test_a_field_that_is_missing_is_named(kind: str, name: str) -> None:
    """A reason above all: without one no operator voids, removes, adjusts or changes anything."""
    outcome = read_command(body(kind, **{name: ...}))
    assert outcome == Rejected(
        code="malformed",
        message=f"The command cannot be read: Object missing required field `{name}`.",
        id="" if name == "id" else "c1",
        allowed=Allowed(actions=(kind,)),
    )


@pytest.mark.parametrize("kind", ["change_options", "void_hand", "remove_player", "adjust_stack"])
@pytest.mark.parametrize("reason", ["", "r" * 201, None, 7])
def test_a_reason_says_something(kind: str, reason: object) -> None:
    outcome = read_command(body(kind, reason=reason))
    assert isinstance(outcome, Rejected)
    assert (outcome.code, outcome.allowed) == ("malformed", Allowed(actions=(kind,)))


@pytest.mark.parametrize(
    ("kind", "name"), [("take_seat", "buy_in"), ("top_up", "amount"), ("act", "to"), ("confirm_request", "request")]
)
@pytest.mark.parametrize("value", [-1, 2**53])
def test_no_amount_and_no_number_is_negative_or_larger_than_every_reader_keeps_exact(
    kind: str, name: str, value: int
) -> None:
    outcome = read_command(body(kind, **{name: value}))
    assert isinstance(outcome, Rejected)
    assert outcome.code == ("malformed" if name == "request" else "not_a_whole_chip")


@pytest.mark.parametrize("reference", ["", "r" * 64, "hand 7 (Zürich)"])
def test_a_correction_is_called_something_or_nothing(reference: str) -> None:
    assert not isinstance(read_command(body("adjust_stack", reference=reference)), Rejected)


@pytest.mark.parametrize("reference", ["a\nb", "\x1b[2J", "a\u202eb", "\x7f", "r" * 65])
def test_a_reference_cannot_change_how_a_line_is_shown(reference: str) -> None:
    outcome = read_command(body("adjust_stack", reference=reference))
    assert isinstance(outcome, Rejected)
    assert outcome.code == "malformed"
    assert "regex" not in outcome.message
