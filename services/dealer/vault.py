"""Seeds under lock: how a hand's seed lies in the log, and by which keys it opens again (R129, DESIGN 5).

The hand key is HKDF-SHA256(master key, salt = the sealed seed's nonce, info = `croupier-hand-key-v1|<table>|<hand>|
<rules>`). The random nonce as salt makes it the key of one sealed seed and no other, also where a table's name and
hand number are used a second time. The seed is sealed with ChaCha20-Poly1305.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from contracts.data import Id, Sha256
from contracts.events.dealer import DeckShuffled, SealedSeed
from services.dealer.deck import Deck, deck_from

KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
SCRIPTED: Final[Id] = "scripted"
"""The key id of a deck that was arranged and not shuffled: there is no seed and no key."""

_KEY_DOMAIN: Final = "croupier-hand-key-v1"
_SEED_DOMAIN: Final = "croupier-seed-v1"
_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,40}")


class CannotOpen(Exception):
    """A sealed seed does not open: a wrong key, altered data, or a master key that is not there."""


class NoMasterKey(CannotOpen):
    """The master key by which a seed was sealed is not here; another dealer may have it."""


class DeckDiffers(Exception):
    """A sealed seed opened, but gives another deck than the one whose hashes were published with it."""


@dataclass(frozen=True, slots=True)
class HandName:
    """What tells a hand from all others: table, number, and the version of the rules it is played by."""

    table: Id
    hand: int
    rules: int

    def __str__(self) -> str:
        """`T1|17|1`; no part can contain the separator."""
        return f"{self.table}|{self.hand}|{self.rules}"


@dataclass(frozen=True, slots=True, repr=False)
class MasterKeys:
    """The dealer's master keys by id: `current` seals, and all of them open, for old ones live as long as the logs.

    Raises ValueError for a key that is not of 32 bytes, an id that cannot stand in the log, or no current key.
    """

    current: Id
    keys: Mapping[Id, bytes]

    def __post_init__(self) -> None:
        if self.current not in self.keys:
            raise ValueError(f"there is no master key {self.current!r}")
        for key_id, key in self.keys.items():
            if not _ID.fullmatch(key_id) or key_id == SCRIPTED:
                raise ValueError(f"{key_id!r} cannot name a master key")
            if len(key) != KEY_BYTES:
                raise ValueError(f"master key {key_id!r} has {len(key)} bytes, not {KEY_BYTES}")

    def __repr__(self) -> str:
        """Names keys and shows none."""
        return f"MasterKeys(current={self.current!r}, ids={sorted(self.keys)})"

    def hand_key(self, name: HandName, sealed: SealedSeed) -> bytes:
        """The key of one hand's sealed seed. Raises NoMasterKey where its master key is not there."""
        if sealed.key_id not in self.keys:
            raise NoMasterKey(f"there is no master key {sealed.key_id!r}")
        return _hand_key(self.keys[sealed.key_id], name, bytes.fromhex(sealed.nonce))


def seal(masters: MasterKeys, name: HandName, hashes: tuple[Sha256, ...], seed: bytes, nonce: bytes) -> SealedSeed:
    """Seals a hand's seed, together with the hashes of its cards, under the current master key.

    `nonce` is 12 bytes drawn anew for every seal. Raises ValueError for one of another length.
    """
    if len(nonce) != NONCE_BYTES:
        raise ValueError(f"a nonce has {NONCE_BYTES} bytes, not {len(nonce)}")
    key_id = masters.current
    key = _hand_key(masters.keys[key_id], name, nonce)
    ciphertext = ChaCha20Poly1305(key).encrypt(nonce, seed, _bound(name, key_id, hashes))
    return SealedSeed(key_id=key_id, nonce=nonce.hex(), ciphertext=ciphertext.hex())


def unseal(key: bytes, name: HandName, shuffled: DeckShuffled) -> bytes:
    """The seed of a hand, by its hand key.

    Raises CannotOpen where the key is not this hand's, or table, hand, rules, hashes, key id or seed were altered.
    """
    sealed = shuffled.seed
    try:
        return ChaCha20Poly1305(key).decrypt(
            bytes.fromhex(sealed.nonce),
            bytes.fromhex(sealed.ciphertext),
            _bound(name, sealed.key_id, shuffled.hashes),
        )
    except (InvalidTag, ValueError) as fault:
        raise CannotOpen(f"the sealed seed of hand {name} does not open with this key") from fault


def open_hand(key: bytes, name: HandName, shuffled: DeckShuffled) -> Deck:
    """The whole deck of a hand, folded cards and burns included, by its hand key.

    Raises CannotOpen as `unseal` does, and DeckDiffers where the seed gives another deck than the hashes published.
    """
    seed = unseal(key, name, shuffled)
    try:
        deck = deck_from(seed)
    except ValueError as fault:
        raise DeckDiffers(f"what was sealed for hand {name} is not a seed") from fault
    if deck.hashes(name.table, name.hand) != shuffled.hashes:
        raise DeckDiffers(f"the seed of hand {name} gives another deck than the one published")
    return deck


def _hand_key(master: bytes, name: HandName, nonce: bytes) -> bytes:
    return HKDF(SHA256(), KEY_BYTES, salt=nonce, info=f"{_KEY_DOMAIN}|{name}".encode()).derive(master)


def _bound(name: HandName, key_id: Id, hashes: tuple[Sha256, ...]) -> bytes:
    """The associated data: what the seal binds the seed to."""
    return "|".join((_SEED_DOMAIN, str(name), key_id, *hashes)).encode()
