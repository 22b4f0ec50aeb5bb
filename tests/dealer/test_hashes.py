"""The hash of a card: an exact text that clients and auditors can compute by themselves."""

from hashlib import sha256

import pytest

from contracts.cards import DealtCard
from contracts.hashes import card_hash, is_published
from services.dealer.deck import Deck, deck_from
from services.dealer.decks import KnownDecks, KnownHand
from tests.dealer.hands import sealed, started

SALT = "00112233445566778899aabbccddeeff"


def test_a_card_hash_is_sha_256_of_the_documented_text() -> None:
    text = b"croupier-card-v1|T1|42|17|As|00112233445566778899aabbccddeeff"
    assert card_hash("T1", 42, 17, "As", SALT) == sha256(text).hexdigest()
    assert card_hash("T1", 42, 17, "As", SALT) == "02d362c7cba5600d4c98ed96203a4fe43cc1fc532543fbb67d9e8bb8eb43967b"


@pytest.mark.parametrize(
    "other",
    [
        ("T2", 42, DealtCard(position=17, card="As", salt=SALT)),
        ("T1", 43, DealtCard(position=17, card="As", salt=SALT)),
        ("T1", 42, DealtCard(position=18, card="As", salt=SALT)),
        ("T1", 42, DealtCard(position=17, card="Ah", salt=SALT)),
        ("T1", 42, DealtCard(position=17, card="As", salt=SALT[:-1] + "0")),
    ],
)
def test_another_table_hand_place_card_or_salt_is_not_what_was_published(other: tuple[str, int, DealtCard]) -> None:
    hashes = ("0" * 64,) * 17 + (card_hash("T1", 42, 17, "As", SALT),) + ("0" * 64,) * 34
    assert is_published(hashes, "T1", 42, DealtCard(position=17, card="As", salt=SALT))
    table, hand, dealt = other
    assert not is_published(hashes, table, hand, dealt)


def test_a_place_beyond_the_published_list_is_not_published() -> None:
    hashes = (card_hash("T1", 42, 0, "As", SALT),)
    assert is_published(hashes, "T1", 42, DealtCard(position=0, card="As", salt=SALT))
    assert not is_published(hashes, "T1", 42, DealtCard(position=1, card="As", salt=SALT))


def test_a_deck_publishes_the_hash_of_each_card_it_lays_open() -> None:
    deck = deck_from(bytes(32))
    hashes = deck.hashes("T1", 42)
    assert len(set(hashes)) == 52
    assert all(is_published(hashes, "T1", 42, deck.at(position)) for position in range(52))


def test_a_deck_is_every_card_once_with_a_salt_each() -> None:
    """R31."""
    deck = deck_from(bytes(32))
    for cards, salts in [
        ((deck.cards[1], *deck.cards[1:]), deck.salts),
        (deck.cards[:51], deck.salts),
        (deck.cards, deck.salts[:51]),
    ]:
        with pytest.raises(ValueError, match="each of the 52 cards once"):
            Deck(cards, salts)


def test_what_knows_cards_or_keys_does_not_print_them() -> None:
    table = started()
    decks = sealed()
    known = KnownDecks({17: KnownHand(decks.shuffle(table), deck_from(bytes(32)))})
    assert f"{deck_from(bytes(32))} {deck_from(bytes(32))!r}" == "Deck(...) Deck(...)"
    assert repr(decks).startswith("<services.dealer.decks.SealedDecks object at ")
    assert repr(known).startswith("<services.dealer.decks.KnownDecks object at ")
