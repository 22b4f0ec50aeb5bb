"""A search that finds nothing proves something only if it would have found it."""

import base64
import hashlib
import json

import pytest

from tests.secrecy.searching import Found, search, search_many

SECRET = bytes(range(7, 39))

WRITTEN = {
    "as it is": SECRET,
    "in hexadecimal": SECRET.hex().encode(),
    "in capitals": SECRET.hex().upper().encode(),
    "by repr": repr({"key": SECRET}).encode(),
    "in JSON, in base64": json.dumps({"key": base64.b64encode(SECRET).decode()}).encode(),
    "in base64 for addresses": base64.urlsafe_b64encode(SECRET),
    "cut off": SECRET.hex()[:20].encode(),
    "its end": b"..." + SECRET.hex()[-18:].encode(),
    **{f"in the midst of base64 at {at}": base64.b64encode(bytes(at) + SECRET + b"tail") for at in range(6)},
}


@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_a_secret_is_found_however_it_is_written(written: bytes) -> None:
    found = search({"the key": SECRET, "another": bytes(32)}, {"a log": b'{"event":"x","at":"' + written + b'"}'})
    assert {(each.secret, each.place) for each in found} == {("the key", "a log")}


def test_nothing_is_found_where_nothing_is() -> None:
    assert search({"the key": SECRET}, {"a log": json.dumps({"head": "ab" * 32, "n": 17}).encode()}) == []


def test_many_secrets_are_found_by_value() -> None:
    salts = [hashlib.sha256(bytes([number])).hexdigest()[:32] for number in range(200)]
    text = f'{{"hash":"{"f" * 64}","salt":"{salts[47].upper()}","long":"ab{salts[17]}cd"}}'.encode()
    named = {salt: f"salt {number}" for number, salt in enumerate(salts)}
    assert search_many(named, {"a view": text, "another": b"f" * 64}) == [
        Found("salt 47", "hexadecimal", "a view"),
        Found("salt 17", "hexadecimal", "a view"),
    ]
