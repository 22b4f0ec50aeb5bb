"""Bytes say the same to whoever wrote them and whoever reads them, and nothing is taken for what it is not."""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.account_commands import AnyAccountCommand
from contracts.codec import (
    builtins,
    decode,
    decode_account_command,
    decode_command,
    decode_commit,
    decode_ledger_commit,
    decode_outcome,
    encode,
)
from contracts.commands import AnyCommand
from contracts.commit import COMMIT_VERSION, GENESIS, Commit
from contracts.events import AnyEvent, emitter_of
from contracts.events.cashier import LedgerEvent
from contracts.ledger import LEDGER_COMMIT_VERSION, LedgerCommit
from contracts.outcomes import Outcome
from tests.contracts import shapes
from tests.contracts.shapes import STRUCTS, Struct

AT = datetime(2026, 3, 1, 20, 15, 0, 250, tzinfo=UTC)
WRONG_AMOUNTS = ("300", 3.0, 1.5, -1, 10**30, 2**53, True, [1])


def each(structs: tuple[Struct, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("struct", structs, ids=lambda struct: struct.__name__)


def commit_with(event: AnyEvent) -> Commit:
    return Commit(v=COMMIT_VERSION, table="T1", n=1, hand=0, by=emitter_of(event), at=AT, prev=GENESIS, events=(event,))


def survives[T: msgspec.Struct](struct: T, read: Callable[[bytes], T]) -> None:
    data = encode(struct)
    again = read(data)
    assert again == struct
    assert type(again) is type(struct)
    assert encode(again) == data


@each(shapes.members(AnyEvent))
@given(st.data())
@settings(max_examples=20)
def test_every_event_is_read_as_it_was_written(struct: Struct, data: st.DataObject) -> None:
    """DESIGN 2: a commit is encoded once, and equal bytes mean the same events."""
    survives(commit_with(data.draw(shapes.any_of(struct))), decode_commit)


@each(shapes.members(AnyCommand))
@given(st.data())
@settings(max_examples=20)
def test_every_command_is_read_as_it_was_written(struct: Struct, data: st.DataObject) -> None:
    survives(data.draw(shapes.any_of(struct)), decode_command)


@each(shapes.members(LedgerEvent))
@given(st.data())
@settings(max_examples=10)
def test_every_entry_is_read_as_it_was_written(struct: Struct, data: st.DataObject) -> None:
    """R136: a ledger's commit is encoded once, as a table's."""
    entry = data.draw(shapes.any_of(struct))
    commit = LedgerCommit(
        v=LEDGER_COMMIT_VERSION, ledger="real-USD", n=1, by="cashier", at=AT, prev=GENESIS, events=(entry,)
    )
    survives(commit, decode_ledger_commit)
    with pytest.raises(msgspec.ValidationError, match="version 2"):
        decode_ledger_commit(encode(msgspec.structs.replace(commit, v=2)))


@each(shapes.members(AnyAccountCommand))
@given(st.data())
@settings(max_examples=10)
def test_every_account_command_is_read_as_it_was_written(struct: Struct, data: st.DataObject) -> None:
    survives(data.draw(shapes.any_of(struct)), decode_account_command)


@each(shapes.members(Outcome))
@given(st.data())
def test_every_outcome_is_read_as_it_was_written(struct: Struct, data: st.DataObject) -> None:
    survives(data.draw(shapes.any_of(struct)), decode_outcome)


@each(STRUCTS)
@given(st.data())
@settings(max_examples=10)
def test_every_struct_is_read_as_it_was_written(struct: Struct, data: st.DataObject) -> None:
    survives(data.draw(shapes.any_of(struct)), lambda written: decode(written, struct))


@each(STRUCTS)
@given(st.data())
@settings(max_examples=5)
def test_an_unknown_field_is_passed_over(struct: Struct, data: st.DataObject) -> None:
    """DESIGN 2: a release reads what a later one wrote with a new field."""
    known = data.draw(shapes.any_of(struct))
    later = json.dumps({"colour": {"of": ["the", "felt"]}, **builtins(known)}).encode()
    assert decode(later, struct) == known


@pytest.mark.parametrize("name", ["raise_the_roof", "", "ACT", "Act", None, 1])
def test_an_unknown_tag_is_refused(name: object) -> None:
    """DESIGN 2: a new meaning is a new tag, which a release that does not know it must not guess at."""
    body: dict[str, Any] = {"type": name, "id": "c1", "turn": 3, "action": "fold"}
    with pytest.raises(msgspec.ValidationError):
        decode_command(json.dumps(body).encode())
    with pytest.raises(msgspec.ValidationError):
        decode_outcome(json.dumps({"type": name, "id": "c1", "n": 1, "head": GENESIS}).encode())
    commit = {"v": 1, "table": "T1", "n": 1, "hand": 0, "by": "table", "at": AT.isoformat(), "prev": GENESIS}
    decode_commit(json.dumps({**commit, "events": [{"type": "table_paused"}]}).encode())
    with pytest.raises(msgspec.ValidationError):
        decode_commit(json.dumps({**commit, "events": [{"type": name}]}).encode())


def test_a_body_without_a_tag_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="type"):
        decode_command(b'{"id":"c1","turn":3,"action":"fold"}')


def test_a_commit_says_something() -> None:
    commit = {"v": 1, "table": "T1", "n": 1, "hand": 0, "by": "table", "at": AT.isoformat(), "prev": GENESIS}
    with pytest.raises(msgspec.ValidationError, match="events"):
        decode_commit(json.dumps({**commit, "events": []}).encode())


def test_a_moment_without_a_time_zone_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="timezone"):
        decode_commit(
            b'{"v":1,"table":"T1","n":1,"hand":0,"by":"table","at":"2026-03-01T20:15:00",'
            b'"prev":"' + GENESIS.encode() + b'","events":[{"type":"table_paused"}]}'
        )


WITH_AMOUNTS = tuple(
    struct
    for struct in STRUCTS
    if any(shapes.in_place_of_amounts(field.type, 1) is not None for field in shapes.fields(struct))
)


@each(WITH_AMOUNTS)
@given(st.data())
@settings(max_examples=3)
def test_an_amount_is_a_whole_number_of_chips(struct: Struct, data: st.DataObject) -> None:
    """Money is an integer: no text, no fraction, nothing below 0 or beyond what every JSON reader keeps exact."""
    plain = builtins(data.draw(shapes.any_of(struct)))
    for field in shapes.fields(struct):
        right = shapes.in_place_of_amounts(field.type, 300)
        if right is None:
            continue
        decode(json.dumps({**plain, field.name: right}).encode(), struct)
        for wrong in WRONG_AMOUNTS:
            body = {**plain, field.name: shapes.in_place_of_amounts(field.type, wrong)}
            with pytest.raises(msgspec.ValidationError, match=field.name):
                decode(json.dumps(body).encode(), struct)


NUMBERED = {
    *("v", "version", "versions", "rules"),
    *("n", "start", "previous", "since"),
    *("hand", "hands", "number", "turn_number"),
    *("sat", "sittings", "bank_hands", "missed", "moved", "sit_out_blinds", "time_bank_refill_hands"),
    *("players", "cards_each", "bets", "fl_cap"),
}
"""Fields that number or count versions, commits, hands, arrivals, or things at the table: no amounts."""


def test_no_amount_lacks_its_limits() -> None:
    unlimited = {
        field.name
        for struct in STRUCTS
        for field in shapes.fields(struct)
        for kind in shapes.integers(field.type)
        if kind.le is None
    }
    assert unlimited <= NUMBERED, "an amount is `Chips`, a time `Milliseconds`; a number of something is named above"


@pytest.mark.parametrize("name", ["", "a b", "a.b", "*", ">", "a\n", "\na", "ß", "x" * 41, "a\0"])
def test_a_player_is_named_by_an_id_alone(name: str) -> None:
    """An id becomes a token of a subject, so what would break out of one is refused where it comes in."""
    body = {"type": "take_seat", "id": "c1", "player": name, "buy_in": 100}
    with pytest.raises(msgspec.ValidationError, match="player"):
        decode_command(json.dumps(body).encode())


@pytest.mark.parametrize("card", ["", "1s", "TD", "td", "Tdd", "Td\n", "10d"])
def test_a_card_is_one_of_the_52(card: str) -> None:
    body = {"type": "hands_shown", "hands": [{"seat": 1, "cards": [card], "high": "a pair"}]}
    commit = {"v": 1, "table": "T1", "n": 1, "hand": 1, "by": "settlement", "at": AT.isoformat(), "prev": GENESIS}
    with pytest.raises(msgspec.ValidationError, match="cards"):
        decode_commit(json.dumps({**commit, "events": [body]}).encode())
