"""Lines of a log in another order, and chained again: what anybody may do to a log, and what only a forger does."""

from collections.abc import Iterable

import msgspec

from contracts.codec import digest
from contracts.commit import GENESIS
from contracts.data import Sha256
from tests.fuzz.choices import Choices


def disorder[Line](lines: list[Line], at: int, kind: int, choices: Choices) -> None:
    """Kind 1 takes away the line there, or two; 2 doubles it; any other puts it in the place of another."""
    match kind:
        case 1:
            del lines[at : at + 1 + choices.below(2)]
        case 2:
            lines.insert(choices.below(len(lines) + 1), lines[at])
        case _:
            other = choices.below(len(lines))
            lines[at], lines[other] = lines[other], lines[at]


def chained(lines: Iterable[bytes], n: int = 0, head: Sha256 = GENESIS) -> list[bytes]:
    """Each line as the next commit after this one: its n and prev are what the chain asks for.

    What was not touched stays as it is, and so does what is no commit.
    """
    linked = []
    for number, line in enumerate(lines, n + 1):
        linked.append(_linked(line, number, head))
        head = digest(linked[-1])
    return linked


def _linked(data: bytes, n: int, prev: Sha256) -> bytes:
    try:
        commit = msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        return data
    if not isinstance(commit, dict) or (commit.get("n"), commit.get("prev")) == (n, prev):
        return data
    return msgspec.json.encode({**commit, "n": n, "prev": prev})
