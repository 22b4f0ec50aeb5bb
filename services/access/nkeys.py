"""NKeys, as NATS writes them: Ed25519 keys in base32, whose first letter says whose they are, and whose end checks it.

A seed begins with S and is secret; a public key begins with U (a user), A (an account) or X (who can be written to).
"""

import base64
import binascii
from functools import lru_cache
from typing import Final, Literal

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

type Kind = Literal["user", "account", "curve"]

SECRET_BYTES: Final = 32
KEPT_MAX: Final = 16
"""So many keys are kept worked out: a doorman signs by one thousands of times."""
_SEED: Final = 18 << 3
_PREFIXES: Final[dict[Kind, int]] = {"user": 20 << 3, "account": 0, "curve": 23 << 3}
_CHECK_BYTES: Final = 2


class NoKey(ValueError):
    """What should be an NKey of some kind is none; the message never shows it."""


def seed_of(kind: Kind, secret: bytes) -> str:
    """The seed with these 32 random bytes."""
    prefix = _PREFIXES[kind]
    return _written(bytes((_SEED | prefix >> 5, (prefix & 31) << 3)) + secret)


def secret_of(kind: Kind, seed: str) -> bytes:
    """The random bytes of a seed. Raises `NoKey`."""
    raw = _read(seed)
    prefix = _PREFIXES[kind]
    if raw[:2] != bytes((_SEED | prefix >> 5, (prefix & 31) << 3)) or len(raw) != 2 + SECRET_BYTES:
        raise NoKey(f"that is no seed of a key for {_an(kind)}")
    return raw[2:]


def written(kind: Kind, public: bytes) -> str:
    """A public key's 32 bytes as NATS writes them."""
    return _written(bytes((_PREFIXES[kind],)) + public)


def raw_of(kind: Kind, public: str) -> bytes:
    """The 32 bytes of a public key. Raises `NoKey`."""
    raw = _read(public)
    if raw[:1] != bytes((_PREFIXES[kind],)) or len(raw) != 1 + SECRET_BYTES:
        raise NoKey(f"that is no public key of {_an(kind)}")
    return raw[1:]


@lru_cache(KEPT_MAX)
def public_of(kind: Literal["user", "account"], seed: str) -> str:
    """The public key to a seed. Raises `NoKey`."""
    return written(kind, _private(kind, seed).public_key().public_bytes_raw())


def sign(kind: Literal["user", "account"], seed: str, text: bytes) -> bytes:
    """Signs a text. Raises `NoKey`."""
    return _private(kind, seed).sign(text)


def has_signed(kind: Literal["user", "account"], public: str, text: bytes, signature: bytes) -> bool:
    """Whether the owner of a public key signed exactly this text. Raises `NoKey`."""
    try:
        Ed25519PublicKey.from_public_bytes(raw_of(kind, public)).verify(signature, text)
    except InvalidSignature:
        return False
    return True


@lru_cache(KEPT_MAX)
def _private(kind: Literal["user", "account"], seed: str) -> Ed25519PrivateKey:
    return Ed25519PrivateKey.from_private_bytes(secret_of(kind, seed))


def _written(raw: bytes) -> str:
    return base64.b32encode(raw + _check(raw)).rstrip(b"=").decode()


def _read(text: str) -> bytes:
    try:
        raw = base64.b32decode(text + "=" * (-len(text) % 8))
    except (binascii.Error, ValueError):
        raise NoKey("that is no NKey: it is not base32") from None
    if raw[-_CHECK_BYTES:] != _check(raw[:-_CHECK_BYTES]):
        raise NoKey("that is no NKey, or not all of it: its check does not fit")
    return raw[:-_CHECK_BYTES]


def _check(raw: bytes) -> bytes:
    return binascii.crc_hqx(raw, 0).to_bytes(_CHECK_BYTES, "little")


def _an(kind: Kind) -> str:
    return "an account" if kind == "account" else f"a {kind}"
