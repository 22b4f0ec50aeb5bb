"""A deck in its order with its salts: what the dealer alone knows of a hand."""

from dataclasses import dataclass
from typing import Final

from contracts.cards import DECK, Card, DealtCard, Position, SeatCards
from contracts.data import Hex, Id, Seat, Sha256
from contracts.hashes import card_hash
from services.dealer import shuffle

CARDS: Final = len(DECK)


@dataclass(frozen=True, slots=True, repr=False)
class Deck:
    """The 52 cards, top card first, and the salt of each place. Its `repr` shows none of them.

    Raises ValueError unless it is every card once, each with a salt (R31).
    """

    cards: tuple[Card, ...]
    salts: tuple[Hex, ...]

    def __post_init__(self) -> None:
        if len(self.cards) != CARDS or set(self.cards) != set(DECK) or len(self.salts) != CARDS:
            raise ValueError("a deck is each of the 52 cards once, with a salt for each")

    def __repr__(self) -> str:
        """Shows nothing: what is logged or printed by mistake gives no card away."""
        return "Deck(...)"

    def hashes(self, table: Id, hand: int) -> tuple[Sha256, ...]:
        """What is published before a card is dealt: the hash of each card, top card first."""
        return tuple(
            card_hash(table, hand, position, card, salt)
            for position, (card, salt) in enumerate(zip(self.cards, self.salts, strict=True))
        )

    def at(self, position: Position) -> DealtCard:
        """The card at a place, laid open."""
        return DealtCard(position=position, card=self.cards[position], salt=self.salts[position])

    def hand_of(self, seat: Seat, positions: tuple[Position, ...]) -> SeatCards:
        """A seat's hole cards, laid open, in the order in which they were dealt."""
        return SeatCards(seat=seat, cards=tuple(self.at(position) for position in positions))


def deck_from(seed: bytes) -> Deck:
    """The one deck that a seed gives. Raises ValueError for a seed that is not of 32 bytes."""
    return Deck(shuffle.shuffled_cards(seed), shuffle.salts(seed))
