"""The cards of a log, checked against what was published before they were dealt, and derived again where keys allow."""

from collections.abc import Iterator, Mapping

from contracts.cards import DECK, DealtCard
from contracts.commit import Commit
from contracts.data import Id
from contracts.events import AnyEvent
from contracts.events.dealer import BoardDealt, DeckShuffled, HandsRevealed
from contracts.hashes import card_hash, is_published
from contracts.queries import HandKey
from services.aggregate.table import Table
from services.dealer.deck import CARDS, Deck
from services.dealer.vault import CannotOpen, DeckDiffers, HandName, open_hand
from services.replay.differences import Difference

type HandKeys = Mapping[int, HandKey]
"""Hand keys by hand number."""


def laid_open(event: AnyEvent) -> Iterator[tuple[str, DealtCard]]:
    """The cards that an event lays open, each with its field."""
    match event:
        case BoardDealt():
            yield from ((f"cards[{index}]", card) for index, card in enumerate(event.cards))
        case HandsRevealed():
            for number, hand in enumerate(event.hands):
                yield from ((f"hands[{number}].cards[{index}]", card) for index, card in enumerate(hand.cards))


def unpublished(table: Table, event: AnyEvent) -> Iterator[Difference]:
    """The cards of an event whose hashes were not published for their positions before the deal (R31)."""
    hand = table.hand
    if hand is None or not isinstance(event, BoardDealt | HandsRevealed):
        return
    hashes = hand.deck.hashes if hand.deck is not None else ()
    for field, card in laid_open(event):
        if not is_published(hashes, table.id, hand.number, card):
            found = card_hash(table.id, hand.number, card.position, card.card, card.salt)
            published = hashes[card.position] if card.position < len(hashes) else ""
            yield Difference(f"{field} ({card.card} at position {card.position}): hash", found, published)


def not_a_deck(event: AnyEvent) -> Iterator[Difference]:
    """A published deck is 52 hashes, no two the same."""
    if isinstance(event, DeckShuffled) and not len(event.hashes) == len(set(event.hashes)) == CARDS:
        found = f"{len(event.hashes)} hashes, {len(set(event.hashes))} different"
        yield Difference("hashes", found, f"{CARDS} different ones")


def opened(table: Id, number: int, rules: int, shuffled: DeckShuffled, keys: HandKeys) -> Deck | None:
    """The whole deck of a hand, where its key is at hand. Raises `CannotOpen`, `DeckDiffers`."""
    key = keys.get(number)
    if key is None:
        return None
    if key.table != table:
        raise CannotOpen(f"the key of hand {number} is one of table {key.table}")
    try:
        secret = bytes.fromhex(key.key)
    except ValueError as error:
        raise CannotOpen(f"the key of hand {number} is not hexadecimal") from error
    try:
        return open_hand(secret, HandName(table, number, rules), shuffled)
    except CannotOpen as error:
        raise CannotOpen(f"{error}; it may be the key that is wrong, and not the log") from error


def deck_as_recorded(commit: Commit) -> Deck:
    """A deck that agrees with the cards that a commit lays open; the places of all others are of no account.

    Raises `ValueError` where they cannot be of one deck.
    """
    known = {card.position: card for event in commit.events for _, card in laid_open(event)}
    dealt = {card.card for card in known.values()}
    cards, salts = [card for card in DECK if card not in dealt], [""] * CARDS
    for place in sorted(known):
        cards.insert(place, known[place].card)
        salts[place] = known[place].salt
    return Deck(tuple(cards), tuple(salts))


__all__ = [
    "CannotOpen",
    "DeckDiffers",
    "HandKeys",
    "deck_as_recorded",
    "laid_open",
    "not_a_deck",
    "opened",
    "unpublished",
]
