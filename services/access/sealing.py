"""What a server and the doorman write to each other so that nobody between can read it: NATS' curve keys (`xkv1`)."""

from functools import lru_cache
from typing import Final

from nacl.exceptions import CryptoError
from nacl.public import Box, PrivateKey, PublicKey

from services.access.nkeys import raw_of, secret_of, written

_VERSION: Final = b"xkv1"
NONCE_BYTES: Final = 24
SERVERS_MAX: Final = 16
"""So many others are kept in mind."""


class CannotOpen(ValueError):
    """It was not sealed for this key, or not by whom it is said to be by."""


class Sealer:
    """One side, with its secret key. Raises `NoKey` where `seed` is none of a curve key."""

    def __init__(self, seed: str) -> None:
        self._own = PrivateKey(secret_of("curve", seed))
        self._box = lru_cache(SERVERS_MAX)(self._box_for)

    @property
    def public(self) -> str:
        """What others seal for."""
        return written("curve", bytes(self._own.public_key))

    def sealed(self, text: bytes, to: str, nonce: bytes) -> bytes:
        """A text that only the owner of the public key `to` can read; a nonce is used once. Raises `NoKey`."""
        return _VERSION + bytes(self._box(to).encrypt(text, nonce))

    def opened(self, sealed: bytes, by: str) -> bytes:
        """What the owner of the public key `by` sealed for us. Raises `CannotOpen` or `NoKey`."""
        if not sealed.startswith(_VERSION):
            raise CannotOpen("it is not sealed")
        try:
            return self._box(by).decrypt(sealed[len(_VERSION) :])
        except (CryptoError, ValueError):
            raise CannotOpen("it is not sealed for this key, or by another one than it says") from None

    def _box_for(self, other: str) -> Box:
        return Box(self._own, PublicKey(raw_of("curve", other)))
