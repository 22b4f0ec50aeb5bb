"""The shuffle: the same for ever from the same seed, and fair over many seeds."""

from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from itertools import pairwise

import pytest
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand
from hypothesis import given
from hypothesis import strategies as st

from contracts.cards import DECK
from services.dealer.shuffle import salts, shuffled_cards

SEEDS = [sha256(f"shuffle {number}".encode()).digest() for number in range(5200)]
ORDERS = [shuffled_cards(seed) for seed in SEEDS]
SIGMAS = 5
"""How far a fair shuffle may stray: the seeds are fixed, so the outcome is the same at every run."""


def stray(counts: Iterable[int], expected: float) -> float:
    """Chi-square over the cells."""
    return sum((count - expected) ** 2 / expected for count in counts)


def test_a_seed_gives_the_same_deck_for_ever() -> None:
    """R129: decks of old hands are derived again from their seeds; these values may never change."""
    seed = bytes(range(32))
    cards = (
        "7s 3c Jd Jc 4d 6d 8c 4h Th 2d 9d 6c 5s 3h 6h 8h 2s Jh 3d 5d Tc Ts Kd 7h Kh 5h "
        "Ac As 2h 9h Td Kc Qs Js Ks Qd Qh 8d 9c 4s 3s 7d 7c 4c 6s Ah 2c Qc Ad 9s 8s 5c"
    )
    assert " ".join(shuffled_cards(seed)) == cards
    assert salts(seed)[0] == "f7a2b8211544d09daa6f152749ed3084"
    assert salts(seed)[51] == "4b999255bb5e56a729323cc66c75ae99"
    everything = "|".join((*shuffled_cards(seed), *salts(seed)))
    assert sha256(everything.encode()).hexdigest() == "524f79846a3dbeef71be2d5f3023434c37679a5902639d76b1d3d14a0d1aefde"


@pytest.mark.parametrize("seed", SEEDS[:20], ids=lambda seed: seed.hex()[:8])
def test_the_deck_follows_from_the_documented_streams(seed: bytes) -> None:
    """Written a second time, as an auditor would from the documentation of the shuffle."""

    def stream(info: bytes, length: int) -> bytes:
        key = HKDFExpand(SHA256(), 32, info).derive(seed)
        return Cipher(ChaCha20(key, bytes(16)), None).encryptor().update(bytes(length))

    draws, cards = list(stream(b"croupier-shuffle-v1", 1000)), list(DECK)
    for size in range(52, 1, -1):
        while draws[0] >= 256 // size * size:
            draws.pop(0)
        chosen = draws.pop(0) % size
        cards[size - 1], cards[chosen] = cards[chosen], cards[size - 1]
    drawn = stream(b"croupier-salts-v1", 52 * 16)
    assert shuffled_cards(seed) == tuple(cards)
    assert salts(seed) == tuple(drawn[16 * place : 16 * place + 16].hex() for place in range(52))


@given(seed=st.binary(min_size=32, max_size=32))
def test_a_shuffled_deck_has_every_card_once(seed: bytes) -> None:
    """R31."""
    assert sorted(shuffled_cards(seed)) == sorted(DECK)


def test_every_card_is_equally_likely_at_every_place() -> None:
    """R129: 5,200 decks, 100 expected in each of 52 x 52 cells, with 51 x 51 degrees of freedom."""
    cells = Counter((place, card) for order in ORDERS for place, card in enumerate(order))
    freedom = 51 * 51
    chi_square = stray((cells[place, card] for place in range(52) for card in DECK), 100)
    assert abs(chi_square - freedom) < SIGMAS * (2 * freedom) ** 0.5


def test_every_card_is_equally_likely_to_follow_every_other() -> None:
    """R129: 5,200 decks with 51 neighbours each, 100 expected of each of 52 x 51 pairs, all but independent."""
    pairs = Counter(pair for order in ORDERS for pair in pairwise(order))
    freedom = 52 * 51 - 1
    chi_square = stray((pairs[first, second] for first in DECK for second in DECK if first != second), 100)
    assert abs(chi_square - freedom) < SIGMAS * (2 * freedom) ** 0.5


def test_all_orders_of_three_cards_are_equally_likely() -> None:
    """R129: which of three cards comes first, second and last."""
    orders = Counter("".join(card[0] for card in order if card in {"Ac", "Kc", "Qc"}) for order in ORDERS)
    assert len(orders) == 6
    assert stray(orders.values(), 5200 / 6) < 5 + SIGMAS * (2 * 5) ** 0.5


def test_a_bit_of_the_seed_changes_the_whole_deck() -> None:
    seed, other = bytes(32), bytes(31) + b"\x01"
    same = sum(card == moved for card, moved in zip(shuffled_cards(seed), shuffled_cards(other), strict=True))
    assert same < 10
    assert not set(salts(seed)) & set(salts(other))


def test_every_card_has_a_salt_of_its_own() -> None:
    drawn = [salt for seed in SEEDS[:20] for salt in salts(seed)]
    assert len(set(drawn)) == 20 * 52
    assert {len(salt) for salt in drawn} == {32}


@pytest.mark.parametrize("length", [0, 16, 31, 33])
def test_a_seed_has_256_bits(length: int) -> None:
    """R129."""
    with pytest.raises(ValueError, match="a seed has 32 bytes"):
        shuffled_cards(bytes(length))
    with pytest.raises(ValueError, match="a seed has 32 bytes"):
        salts(bytes(length))
