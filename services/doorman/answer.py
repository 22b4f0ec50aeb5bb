"""What a doorman answers a server: a user of the players' account with rights and an end, or that nobody comes in."""

from collections.abc import Mapping
from typing import Any, Final

from contracts.data import Instant
from services.access.tokens import Claims, signed
from services.bus.accounts import GUESTS, permissions
from services.doorman.grant import Grant, Refusal
from services.doorman.question import Question

VERSION: Final = 2
UNLIMITED: Final = -1
"""Limits of single users are not kept by a server without NATS' operators: those of the account and the server are."""


def answer(question: Question, found: Grant | Refusal, seed: str, at: Instant) -> bytes:
    """The answer, signed with the seed that the server trusts."""
    claims = _admission(question, found, seed, at) if isinstance(found, Grant) else {"error": found.fault}
    return _signed(question, question.server_id.id, {**claims, "type": "authorization_response"}, seed, at).encode()


def _admission(question: Question, found: Grant, seed: str, at: Instant) -> Mapping[str, Any]:
    rights = permissions("player", found.player)
    user = {
        "pub": {"allow": rights["publish"]},
        "sub": {"allow": rights["subscribe"]},
        "subs": UNLIMITED,
        "data": UNLIMITED,
        "payload": UNLIMITED,
        "type": "user",
    }
    return {"jwt": _signed(question, GUESTS["player"], user, seed, at, found)}


def _signed(
    question: Question, audience: str, nats: Mapping[str, Any], seed: str, at: Instant, found: Grant | None = None
) -> str:
    claims = Claims(
        sub=question.user_nkey,
        aud=audience,
        name=found.player if found is not None else "",
        iat=int(at.timestamp()),
        exp=int(found.until.timestamp()) if found is not None else 0,
        nats={**nats, "version": VERSION},
    )
    return signed(claims, seed)
