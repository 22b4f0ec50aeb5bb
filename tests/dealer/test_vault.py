"""Sealed seeds: they open with their hand's key, and with nothing else."""

import pytest
from msgspec.structs import replace

from contracts.events.dealer import DeckShuffled, SealedSeed
from services.dealer.deck import deck_from
from services.dealer.vault import (
    SCRIPTED,
    CannotOpen,
    DeckDiffers,
    HandName,
    MasterKeys,
    open_hand,
    seal,
    unseal,
)

NAME = HandName("T1", 17, 1)
SEED, NONCE = bytes(range(32)), bytes(range(12))
OLD, NEW = b"o" * 32, b"n" * 32
MASTERS = MasterKeys("2026", {"2025": OLD, "2026": NEW})


def shuffled(masters: MasterKeys = MASTERS, nonce: bytes = NONCE) -> DeckShuffled:
    hashes = deck_from(SEED).hashes("T1", 17)
    return DeckShuffled(hashes=hashes, seed=seal(masters, NAME, hashes, SEED, nonce))


def key_of(event: DeckShuffled) -> bytes:
    return MASTERS.hand_key(NAME, event.seed)


def test_a_hand_key_opens_the_whole_deck() -> None:
    event = shuffled()
    assert unseal(key_of(event), NAME, event) == SEED
    assert open_hand(key_of(event), NAME, event) == deck_from(SEED)


def test_a_seal_never_changes() -> None:
    """Old logs must open for ever: these values may never change."""
    event = shuffled()
    assert key_of(event).hex() == "1bb963bb6c41ff437caec0ed5ee5b778b265480c2ae26cb7b539f22d6648e1f4"
    assert event.seed == SealedSeed(
        key_id="2026",
        nonce="000102030405060708090a0b",
        ciphertext="ed58458ac64af6f2f7daf97cf27795515f70ffb2ec51bda54e2c91d8ceb605ec90efa58fb2c12b8acc9fd0b758b242f6",
    )


def test_a_hand_sealed_under_an_old_master_key_still_opens() -> None:
    event = shuffled(MasterKeys("2025", {"2025": OLD}))
    assert event.seed.key_id == "2025"
    assert open_hand(key_of(event), NAME, event) == deck_from(SEED)


def test_a_master_key_that_was_lost_is_named() -> None:
    with pytest.raises(CannotOpen, match="no master key '2026'"):
        MasterKeys("2025", {"2025": OLD}).hand_key(NAME, shuffled().seed)


@pytest.mark.parametrize("other", [HandName("T2", 17, 1), HandName("T1", 18, 1), HandName("T1", 17, 2)])
def test_another_hand_has_another_key(other: HandName) -> None:
    event = shuffled()
    assert MASTERS.hand_key(other, event.seed) != key_of(event)
    with pytest.raises(CannotOpen):
        unseal(MASTERS.hand_key(other, event.seed), NAME, event)


def test_the_same_hand_sealed_a_second_time_has_another_key() -> None:
    """A table's name may be used again: a key given out for the old hand opens nothing of the new one."""
    first, second = shuffled(), shuffled(nonce=bytes(12))
    assert key_of(first) != key_of(second)
    with pytest.raises(CannotOpen):
        unseal(key_of(first), NAME, second)


@pytest.mark.parametrize("name", [HandName("T2", 17, 1), HandName("T1", 18, 1), HandName("T1", 17, 2)])
def test_a_seal_moved_to_another_hand_does_not_open(name: HandName) -> None:
    event = shuffled()
    with pytest.raises(CannotOpen):
        unseal(key_of(event), name, event)


@pytest.mark.parametrize(
    "change",
    [
        {"key_id": "2025"},
        {"nonce": "01" * 12},
        {"nonce": "01"},
        {"nonce": ""},
        {"ciphertext": "00" * 48},
        {"ciphertext": ""},
    ],
)
def test_an_altered_seal_does_not_open(change: dict[str, str]) -> None:
    event = shuffled()
    altered = replace(event, seed=replace(event.seed, **change))
    with pytest.raises(CannotOpen):
        unseal(key_of(event), NAME, altered)


def test_a_seal_with_altered_hashes_does_not_open() -> None:
    event = shuffled()
    altered = replace(event, hashes=("0" * 64, *event.hashes[1:]))
    with pytest.raises(CannotOpen):
        unseal(key_of(event), NAME, altered)


def test_a_key_of_a_wrong_length_opens_nothing() -> None:
    event = shuffled()
    with pytest.raises(CannotOpen):
        unseal(key_of(event)[:31], NAME, event)


@pytest.mark.parametrize("seed", [bytes(32), b"not a seed"])
def test_a_seed_of_another_deck_than_the_published_one_is_found_out(seed: bytes) -> None:
    hashes = deck_from(SEED).hashes("T1", 17)
    event = DeckShuffled(hashes=hashes, seed=seal(MASTERS, NAME, hashes, seed, NONCE))
    with pytest.raises(DeckDiffers):
        open_hand(key_of(event), NAME, event)


def test_a_nonce_has_12_bytes() -> None:
    with pytest.raises(ValueError, match="a nonce has 12 bytes"):
        shuffled(nonce=bytes(11))


@pytest.mark.parametrize(
    ("current", "keys", "fault"),
    [
        ("2027", {"2026": NEW}, "no master key '2027'"),
        ("2026", {"2026": b"short"}, "has 5 bytes"),
        (SCRIPTED, {SCRIPTED: NEW}, "cannot name"),
        ("a|b", {"a|b": NEW}, "cannot name"),
        ("2026\n", {"2026\n": NEW}, "cannot name"),
    ],
)
def test_master_keys_that_cannot_serve_are_refused(current: str, keys: dict[str, bytes], fault: str) -> None:
    with pytest.raises(ValueError, match=fault):
        MasterKeys(current, keys)


def test_master_keys_do_not_print_themselves() -> None:
    assert repr(MASTERS) == "MasterKeys(current='2026', ids=['2025', '2026'])"
    assert f"{MASTERS}" == repr(MASTERS)
