"""What comes in as an account command: each kind with each fault gets a typed refusal, and nothing raises."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.account_commands import Deposit
from contracts.codec import encode
from contracts.data import CHIPS_MAX
from contracts.outcomes import Allowed, Rejected
from services.cashier.intake import KINDS, misnamed_ledger, read_command
from tests.cashier.books import START

BODIES: dict[str, dict[str, Any]] = {
    "open_account": {"player": "alice"},
    "deposit": {"player": "alice", "amount": 5, "reference": "d1"},
    "withdraw": {"player": "alice", "amount": 5, "reference": "w1"},
    "freeze_account": {"player": "alice", "reason": "chargeback"},
    "unfreeze_account": {"player": "alice", "reason": "settled"},
    "correct": {"source": "suspense", "target": "rake", "amount": 5, "reason": "wrong", "reference": "k1"},
}
WHOLE = {kind: {"type": kind, "id": "c1", "made": "2026-03-01T20:00:00Z", **body} for kind, body in BODIES.items()}
FIELDS = [(kind, field) for kind, body in WHOLE.items() for field in body if field != "type"]
AMOUNTS = [kind for kind, body in WHOLE.items() if "amount" in body]
WRONG: list[Any] = [None, True, 1.5, [], {}, -1, 2**63, 2**64, 10**30]


def refused(body: object) -> tuple[str, str, Allowed]:
    answer = read_command(body if isinstance(body, bytes) else json.dumps(body).encode())
    assert isinstance(answer, Rejected), answer
    return answer.code, answer.id, answer.allowed


def test_every_kind_of_command_is_read_as_it_is_written() -> None:
    assert tuple(WHOLE) == KINDS
    for body in WHOLE.values():
        command = read_command(json.dumps(body).encode())
        assert not isinstance(command, Rejected)
        assert read_command(encode(command)) == command
        assert read_command(json.dumps({**body, "colour": "felt"}).encode()) == command


@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_a_field_of_a_wrong_type_is_refused(kind: str, field: str) -> None:
    """The issue's last line: each command with a wrong type, 2^63, a negative: typed rejection."""
    for wrong in WRONG:
        if field == "id" and isinstance(wrong, bool | None):
            continue  # below: without a readable id there is none to repeat
        code, command, allowed = refused({**WHOLE[kind], field: wrong})
        assert (code, command) == (
            "not_a_whole_chip" if field == "amount" else "malformed",
            "" if field == "id" else "c1",
        )
        assert allowed == (
            Allowed(minimum=1, maximum=CHIPS_MAX, chip=1) if field == "amount" else Allowed(actions=(kind,))
        )


@pytest.mark.parametrize("kind", AMOUNTS)
@pytest.mark.parametrize("amount", ["5", 5.0, 0, -5, 2**53, 2**63, 10**400])
def test_an_amount_is_a_whole_number_of_chips_and_one_at_least(kind: str, amount: object) -> None:
    """R136: integers of the smallest unit, nothing else."""
    assert refused({**WHOLE[kind], "amount": amount})[0] == "not_a_whole_chip"


@pytest.mark.parametrize(("kind", "field"), FIELDS)
def test_a_missing_field_is_refused(kind: str, field: str) -> None:
    body = {name: value for name, value in WHOLE[kind].items() if name != field}
    assert refused(body)[0] == "malformed"


@pytest.mark.parametrize("kind", WHOLE)
def test_a_newer_version_is_told_which_is_known(kind: str) -> None:
    for v in (0, 2, 2**60):
        assert refused({**WHOLE[kind], "v": v}) == ("unsupported_version", "c1", Allowed(versions=(1,)))
        assert refused({**WHOLE[kind], "v": v, "made": 5})[0] == "unsupported_version"


@pytest.mark.parametrize(
    "body",
    [b"", b"\xff", b"null", b"[]", b"{}", b'"deposit"', b"[" * 100_000, b'{"type":"take_seat"}', b'{"type":5}'],
)
def test_what_is_no_account_command_is_refused(body: bytes) -> None:
    code, _, allowed = refused(body)
    assert code in {"malformed", "oversized"}
    assert code == "oversized" or allowed == Allowed(actions=KINDS)


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        ("open_account", "player", "a.b"),
        ("open_account", "player", ""),
        ("open_account", "player", "x" * 41),
        ("open_account", "made", "2026-03-01T20:00:00"),
        ("open_account", "made", "yesterday"),
        ("open_account", "id", "x" * 65),
        ("deposit", "reference", ""),
        ("deposit", "reference", "x" * 65),
        ("deposit", "reference", " d1"),
        ("deposit", "reference", "d1 "),
        ("withdraw", "reference", "d\n1"),
        ("withdraw", "reference", "\x1b[2J"),
        ("correct", "reference", "\u202e1d"),
        ("freeze_account", "reason", ""),
        ("freeze_account", "reason", "x" * 201),
        ("correct", "source", "player."),
        ("correct", "source", "bank"),
        ("correct", "target", "rake\n"),
        ("correct", "target", "table.main"),
    ],
)
def test_a_text_that_is_no_name_is_refused(kind: str, field: str, value: str) -> None:
    assert refused({**WHOLE[kind], field: value})[0] == "malformed"
    said = read_command(json.dumps({**WHOLE[kind], field: value}).encode())
    assert isinstance(said, Rejected)
    assert "regex" not in said.message


@pytest.mark.parametrize("reference", ["x", "x" * 64, "Überweisung 7731/b", "a  b"])
def test_a_reference_is_printable(reference: str) -> None:
    assert not isinstance(read_command(encode({**WHOLE["deposit"], "reference": reference})), Rejected)


def test_a_long_body_is_not_read() -> None:
    command = Deposit(id="c1", made=START, player="alice", amount=1, reference="d1")
    body = encode(command)[:-1] + b',"x":"' + b"y" * 65_536 + b'"}'
    assert refused(body)[0] == "oversized"


@pytest.mark.parametrize("ledger", ["", "USD", "gold-USD", "real-usd", "real-US", "real-DOLLAR", "real-USD\n", "real-"])
def test_a_ledger_of_an_unknown_currency_is_none(ledger: str) -> None:
    """R5: real or play money of one currency; a name that is neither is refused before anything is read of it."""
    refusal = misnamed_ledger(ledger, "c1")
    assert refusal is not None
    assert (refusal.code, refusal.id) == ("wrong_currency", "c1")


def test_a_ledger_is_named_by_money_and_currency() -> None:
    assert [misnamed_ledger(name) for name in ("real-USD", "play-CHIPS")] == [None, None]


@given(st.binary(max_size=300))
def test_no_bytes_make_the_intake_raise(body: bytes) -> None:
    read_command(body)
