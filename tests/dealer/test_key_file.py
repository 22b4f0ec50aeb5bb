"""Master keys in their file: joined and changed by id, and never said aloud."""

import json
from hashlib import sha256

import pytest

from services.dealer.key_file import (
    KeyFile,
    NoMasterKeys,
    fingerprint,
    id_of,
    joined,
    only,
    read_keys,
    sealing_by,
    written,
)
from services.dealer.vault import MasterKeys

OLD, NEW = bytes(range(32)), bytes(range(100, 132))
TWO = MasterKeys("old", {"old": OLD, "new": NEW})


def test_a_key_is_named_after_itself() -> None:
    assert only(OLD) == MasterKeys(id_of(OLD), {id_of(OLD): OLD})
    assert (id_of(OLD), fingerprint(OLD)) == (f"k-{sha256(OLD).hexdigest()[:8]}", sha256(OLD).hexdigest()[:16])


def test_what_is_written_is_read_again() -> None:
    assert read_keys(written(TWO)) == TWO


def test_a_key_joins_without_sealing_and_seals_once_it_is_used() -> None:
    both = joined(MasterKeys("old", {"old": OLD}), {"new": NEW})
    assert both == TWO
    assert sealing_by(both, "new") == MasterKeys("new", TWO.keys)


def test_joining_what_is_there_already_changes_nothing() -> None:
    assert joined(TWO, {"old": OLD}) == TWO


def test_an_id_never_names_two_keys() -> None:
    with pytest.raises(NoMasterKeys, match="'old' names another key there"):
        joined(TWO, {"old": NEW})


def test_a_key_that_is_not_there_cannot_seal() -> None:
    with pytest.raises(NoMasterKeys, match="there is no master key 'lost' in it; there are old, new"):
        sealing_by(TWO, "lost")


FAULTY = {
    "no JSON": f'{{"current":"a","keys":{{"a":"{OLD.hex()}"',
    "not UTF-8": b'{"current":"a","keys":{"a":"' + NEW + b'"}}',
    "a key in the place of its id": json.dumps({"current": OLD.hex(), "keys": {OLD.hex(): "a"}}),
    "a key of 31 bytes": json.dumps({"current": "a", "keys": {"a": OLD.hex()[2:]}}),
    "a key that is not hexadecimal": json.dumps({"current": "a", "keys": {"a": f"{OLD.hex()[:-1]}x"}}),
    "keys in a list": json.dumps({"current": "a", "keys": [OLD.hex()]}),
    "another current key": json.dumps({"current": "b", "keys": {"a": OLD.hex()}}),
    "a number": json.dumps({"current": "a", "keys": {"a": 17}}),
}


@pytest.mark.parametrize("faulty", FAULTY.values(), ids=FAULTY)
def test_what_is_wrong_with_a_file_is_said_without_its_keys(faulty: str | bytes) -> None:
    data = faulty if isinstance(faulty, bytes) else faulty.encode()
    with pytest.raises(NoMasterKeys) as said:
        read_keys(data)
    told = f"{said.value!r} {said.value} {said.value.__cause__}"
    assert said.value.__suppress_context__
    for part in (OLD.hex()[2:10], OLD.hex()[-10:-2], NEW.decode("latin-1")):
        assert part not in told


def test_a_file_does_not_print_itself() -> None:
    assert repr(KeyFile(current="old", keys={"old": OLD.hex()})) == "KeyFile(current='old', ids=['old'])"
