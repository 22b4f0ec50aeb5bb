"""NATS' signed tokens (JWT, `ed25519-nkey`): what a player's credential says, and what the doorman answers a server."""

import base64
import binascii
import hashlib
from collections.abc import Collection
from typing import Any, Final, Literal

import msgspec

from services.access.nkeys import NoKey, has_signed, public_of, sign

_HEADER: Final = {"typ": "JWT", "alg": "ed25519-nkey"}
PARTS: Final = 3


class NoToken(ValueError):
    """What should be a token is none, or its signature is not by whom it must be; the message says which."""


class Header(msgspec.Struct, frozen=True):
    """How a token is signed."""

    typ: str
    alg: str


class Claims(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a token says; times in seconds since 1970. `nats` depends on what it is for."""

    sub: str
    """The public key of whom it is about."""
    iss: str = ""
    """The public key of who signed it."""
    aud: str = ""
    name: str = ""
    iat: int = 0
    nbf: int = 0
    """Not before; 0: at once."""
    exp: int = 0
    """Not from here on; 0: never ends."""
    jti: str = ""
    nats: dict[str, Any] = {}

    def __repr__(self) -> str:
        """Without `nats`, in which a server passes on what a client showed."""
        return f"Claims(sub={self.sub!r}, iss={self.iss!r}, name={self.name!r}, exp={self.exp!r})"


_header: msgspec.json.Decoder[Header] = msgspec.json.Decoder(Header)
_claims: msgspec.json.Decoder[Claims] = msgspec.json.Decoder(Claims)


def signed(claims: Claims, seed: str) -> str:
    """The token with these claims, signed with the seed of an account. Raises `NoKey`."""
    plain = msgspec.structs.replace(claims, iss=public_of("account", seed), jti="")
    name = base64.b32encode(hashlib.sha256(msgspec.json.encode(plain)).digest()).rstrip(b"=").decode()
    whole = msgspec.structs.replace(plain, jti=name)
    text = f"{_written(msgspec.json.encode(_HEADER))}.{_written(msgspec.json.encode(whole))}"
    return f"{text}.{_written(sign('account', seed, text.encode()))}"


def read(token: str, issuers: Collection[str]) -> Claims:
    """What a token says that one of these accounts signed; its times are not looked at. Raises `NoToken`."""
    claims = unproven(token)
    text, _, signature = token.rpartition(".")
    if claims.iss not in issuers or not _has_signed("account", claims.iss, text, signature):
        raise NoToken("it was not signed by an issuer of this house")
    return claims


def unproven(token: str) -> Claims:
    """What a token says, whoever made it. Raises `NoToken`."""
    parts = token.split(".")
    try:
        if len(parts) != PARTS or _header.decode(_read(parts[0])) != Header(**_HEADER):
            raise NoToken("it is no token of NATS")
        return _claims.decode(_read(parts[1]))
    except (msgspec.MsgspecError, UnicodeDecodeError):
        raise NoToken("it is no token of NATS") from None


def answers(nonce: str, signature: str, public: str) -> bool:
    """Whether the owner of a user's key signed a server's nonce: that the key is in the hands of who connects."""
    try:
        return _has_signed("user", public, nonce, signature)
    except NoKey:
        return False


def _has_signed(kind: Literal["user", "account"], public: str, text: str, signature: str) -> bool:
    try:
        return has_signed(kind, public, text.encode(), _read(signature))
    except NoToken:
        return False


def _written(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def _read(text: str) -> bytes:
    """What is written in either of the two alphabets that clients use. Raises `NoToken`."""
    try:
        plain = text.rstrip("=").replace("+", "-").replace("/", "_")
        return base64.b64decode(plain + "=" * (-len(plain) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise NoToken("it is not base64") from None
