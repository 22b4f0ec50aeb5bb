"""Events that the dealer emits."""

from contracts.cards import DealtCard, Position, SeatCards, Street
from contracts.data import Data, Hex, Id, Seat, Sha256
from contracts.events.base import Event


class SealedSeed(Data, frozen=True):
    """The hand's seed, encrypted under the hand key that the master key `key_id` gives for this hand."""

    key_id: Id
    nonce: Hex
    ciphertext: Hex


class DeckShuffled(Event, tag="deck_shuffled", frozen=True):
    """The order of the deck is fixed (R31): the hash of each of the 52 cards, top card first, before any is dealt.

    A hash is SHA-256 over domain, table, hand, position, card and salt; see the README for its exact text.
    """

    hashes: tuple[Sha256, ...]
    seed: SealedSeed


class HoleCardsDealt(Event, tag="hole_cards_dealt", frozen=True):
    """Hole cards went out one at a time to `seats`, in this order, `cards_each` to a seat (R33); opens the turn."""

    seats: tuple[Seat, ...]
    cards_each: int


class BoardDealt(Event, tag="board_dealt", frozen=True):
    """Board cards of a street, and the position of the card burnt before them (R35, R36); opens the turn named."""

    street: Street
    cards: tuple[DealtCard, ...]
    burn: Position | None = None


class HandsRevealed(Event, tag="hands_revealed", frozen=True):
    """The hole cards of all contenders, for the settlement alone to see until they are shown (R88)."""

    hands: tuple[SeatCards, ...]


class HandKeyRevealed(Event, tag="hand_key_revealed", frozen=True):
    """An operator was given the key of a finished hand, with which all of its cards can be derived again."""

    hand: int
    to: Id


type DealerEvent = DeckShuffled | HoleCardsDealt | BoardDealt | HandsRevealed | HandKeyRevealed
