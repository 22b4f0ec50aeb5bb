"""The order of the deck and the salts of its cards, both from one seed of 256 bits (R31, R129).

A pure function of the seed, and never to be changed: old hands are derived again from their seeds. Two streams are
drawn from the seed, each ChaCha20 with a zero nonce and counter under a key of its own, HKDF-Expand-SHA256(seed, info):
`croupier-shuffle-v1` orders the cards, `croupier-salts-v1` gives their salts. A salt laid open tells nothing of either.
"""

import hmac
from collections.abc import Iterator
from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

from contracts.cards import DECK, Card
from contracts.data import Hex

SEED_BYTES: Final = 32
SALT_BYTES: Final = 16
"""Enough that nobody finds the card behind a hash by trying 52 cards with every salt."""

_SHUFFLE: Final = b"croupier-shuffle-v1"
_SALTS: Final = b"croupier-salts-v1"
_BYTE_VALUES: Final = 256
_CHUNK_BYTES: Final = 128
_FAIR: Final = tuple((size, _BYTE_VALUES - _BYTE_VALUES % size) for size in range(len(DECK), 1, -1))
"""How many cards are left to choose from, and the byte values, up from 0, by which each is equally likely.

The highest values, which would favour the low numbers, are passed over.
"""


def shuffled_cards(seed: bytes) -> tuple[Card, ...]:
    """The 52 cards, top card first: Fisher-Yates from the last place down, every order equally likely.

    Raises ValueError for a seed that is not of 32 bytes.
    """
    cards = list(DECK)
    stream = _stream_bytes(seed)
    for size, limit in _FAIR:
        drawn = next(stream)
        while drawn >= limit:
            drawn = next(stream)
        chosen = drawn % size
        cards[size - 1], cards[chosen] = cards[chosen], cards[size - 1]
    return tuple(cards)


def salts(seed: bytes) -> tuple[Hex, ...]:
    """The salt of each place in the deck, top card first. Raises ValueError for a seed that is not of 32 bytes."""
    drawn = _cipher(seed, _SALTS).update(bytes(len(DECK) * SALT_BYTES)).hex()
    width = 2 * SALT_BYTES
    return tuple(drawn[start : start + width] for start in range(0, len(drawn), width))


def _stream_bytes(seed: bytes) -> Iterator[int]:
    """The bytes of the shuffle's stream, without end."""
    cipher = _cipher(seed, _SHUFFLE)
    while True:
        yield from cipher.update(bytes(_CHUNK_BYTES))


def _cipher(seed: bytes, purpose: bytes) -> CipherContext:
    if len(seed) != SEED_BYTES:
        raise ValueError(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")
    key = hmac.digest(seed, purpose + b"\x01", "sha256")  # the first and only block of HKDF-Expand
    return Cipher(ChaCha20(key, bytes(16)), mode=None).encryptor()
