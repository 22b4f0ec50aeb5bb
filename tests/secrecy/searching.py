"""Looks for secrets in what was written: as they are, and in every form in which they are usually written down."""

import base64
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

ENOUGH: Final = 16
"""So many characters at either end of a written secret are taken for the whole: a line may be cut."""
_HEX: Final = re.compile(rb"[0-9a-fA-F]{32,}")


class Found(NamedTuple):
    """Where a secret was found: what it is, in what form, and where; never the secret."""

    secret: str
    form: str
    place: str


def forms(secret: bytes) -> Iterator[tuple[str, bytes]]:
    """The ways to write down bytes."""
    yield "raw", secret
    yield "hexadecimal", secret.hex().encode()
    yield "HEXADECIMAL", secret.hex().upper().encode()
    yield "repr", repr(secret)[2:-1].encode()
    for shift in range(3):  # in the midst of something that is written in base64 as a whole
        written = base64.b64encode(bytes(shift) + secret)
        inner = written[(0, 2, 3)[shift] : (shift + len(secret)) // 3 * 4]
        yield f"base64 at {shift}", inner
        yield f"base64url at {shift}", inner.translate(bytes.maketrans(b"+/", b"-_"))


def needles(secret: bytes) -> Iterator[tuple[str, bytes]]:
    """What is looked for: either end of every form, and a raw secret as a whole."""
    for form, written in forms(secret):
        if form == "raw":
            yield form, written
        elif len(written) >= ENOUGH:
            yield f"the begin in {form}", written[:ENOUGH]
            yield f"the end in {form}", written[-ENOUGH:]


def search(secrets: Mapping[str, bytes], haystack: Mapping[str, bytes]) -> list[Found]:
    """Every secret that is found in a place, in any form."""
    wanted = [(name, form, needle) for name, secret in secrets.items() for form, needle in set(needles(secret))]
    return [Found(*each[:2], place) for place, text in haystack.items() for each in wanted if each[2] in text]


def search_many(secrets: Mapping[str, str], haystack: Mapping[str, bytes]) -> list[Found]:
    """The same for thousands of secrets in hexadecimal, which are found as such alone; by value, with their names."""
    found = []
    for place, text in haystack.items():
        for run in _HEX.findall(text):
            written = run.decode().lower()
            for start in range(len(written) - 31):
                name = secrets.get(written[start : start + 32])
                if name is not None:
                    found.append(Found(name, "hexadecimal", place))
    return found


def places(found: Iterable[Found]) -> dict[str, set[str]]:
    """Which secrets were found in each place."""
    by_place: dict[str, set[str]] = {}
    for each in found:
        by_place.setdefault(each.place, set()).add(each.secret)
    return by_place
