"""Whether a player comes in, with which rights and until when: from the credential and the time alone.

A credential is a token that the house's issuer signed. It names the player and the player's own key, and it always
ends. Who shows it must also have signed the server's nonce with that key: a token read elsewhere opens nothing.
"""

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

from contracts.data import Id, Instant
from contracts.subjects import is_id
from services.access.tokens import Claims, NoToken, answers, read
from services.doorman.question import Question

type Fault = Literal["no_credential", "bad_credential", "not_proven", "not_yet", "expired", "revoked"]

CREDENTIAL: Final = "user"
"""What kind of token a credential is."""


class Grant(NamedTuple):
    """A player comes in, until a time: then the server ends the connection."""

    player: Id
    until: Instant


class Refusal(NamedTuple):
    """A player stays out; `player` is whom the credential names, if it is by the house."""

    fault: Fault
    message: str
    player: Id | None = None


def grant(question: Question, issuers: Collection[str], revoked: Mapping[Id, int], at: Instant) -> Grant | Refusal:
    """Lets a player in, or says why not.

    `issuers` are the public keys of who issues credentials; of a player in `revoked` those are refused that were
    issued at that second (since 1970) or before.
    """
    token = question.connect_opts.auth_token
    if not token:
        return Refusal("no_credential", "no credential was shown: a client sends the token beside the signature")
    try:
        claims = read(token, issuers)
    except NoToken as fault:
        return Refusal("bad_credential", f"the credential is not good: {fault}")
    if claims.nats.get("type") != CREDENTIAL or not is_id(claims.name) or not claims.exp:
        return Refusal("bad_credential", "the credential is not good: it has no player's name, or no end")
    nonce = question.client_info.nonce
    if not nonce or not answers(nonce, question.connect_opts.sig, claims.sub):
        return Refusal("not_proven", "who showed the credential did not sign with its key", claims.name)
    return _in_time(claims, revoked, at)


def _in_time(claims: Claims, revoked: Mapping[Id, int], at: Instant) -> Grant | Refusal:
    until = datetime.fromtimestamp(claims.exp, UTC)
    if at >= until:
        return Refusal("expired", f"the credential ended at {until.isoformat()}", claims.name)
    if at < datetime.fromtimestamp(claims.nbf, UTC):
        return Refusal("not_yet", "the credential does not hold yet", claims.name)
    if claims.iat <= revoked.get(claims.name, -1):
        return Refusal("revoked", "the credential was revoked", claims.name)
    return Grant(claims.name, until)
