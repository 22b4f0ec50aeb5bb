"""What mutation starts from: golden logs, recorded hands, fault cases, rule vectors, and the commands of the logs."""

import json
from functools import cache
from pathlib import Path
from typing import Final

from contracts.codec import decode_commit, encode
from contracts.outcomes import Accepted, Allowed, Rejected
from contracts.queries import CardsQuery, KeyQuery, LogQuery, TableQuery
from services.bus.reading import Message
from tests.golden.logs import logs, messages_of

RULES: Final = Path(__file__).parent.parent / "rules"


@cache
def golden() -> tuple[tuple[Message, ...], ...]:
    """The messages of each golden log."""
    return tuple(tuple(messages_of(log)) for log in logs())


@cache
def commits() -> tuple[bytes, ...]:
    """The first hundred commits of each golden log."""
    return tuple(data for log in golden() for _, data in log[:100])


@cache
def commands() -> tuple[bytes, ...]:
    """The commands that those commits answer."""
    causes = (decode_commit(data).cause for data in commits())
    return tuple(dict.fromkeys(encode(cause.command) for cause in causes if cause is not None))


@cache
def outcomes() -> tuple[bytes, ...]:
    """Answers to commands."""
    allowed = Allowed(minimum=1, maximum=100, chip=5, seats=(1, 2), hand=3, versions=(1,), actors=("lobby",))
    refused = Rejected(code="above_maximum", message="No.", id="c1", allowed=allowed, n=7, head="a" * 64)
    return encode(Accepted(id="c1", n=3, head="0" * 64)), encode(refused)


@cache
def queries() -> tuple[bytes, ...]:
    """The bodies of queries."""
    return tuple(
        map(encode, (LogQuery(start=3, limit=10), LogQuery(hand=2), KeyQuery(hand=1), TableQuery(), CardsQuery()))
    )


@cache
def cases() -> tuple[bytes, ...]:
    """Files for `croupier check` with one case each: recorded hands, fault cases and rule vectors."""
    hands = (line for path in (*RULES.glob("recorded/*.jsonl"), RULES / "faults.jsonl") for line in _lines(path))
    vectors = json.loads((RULES / "vectors.json").read_bytes())
    alone = (json.dumps({**vectors, "vectors": [one]}).encode() for one in vectors["vectors"])
    return (*alone, *hands)


def _lines(path: Path) -> list[bytes]:
    return [line for line in path.read_bytes().splitlines() if line]
