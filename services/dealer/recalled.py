"""A player's own record of hands that are over, with the own hole cards: of folded ones the dealer alone knows."""

from collections.abc import Iterable

from contracts.cards import Card
from contracts.data import Id
from contracts.dealing import hole_positions
from contracts.records import RecordedHand
from services.aggregate.recorded import Recording
from services.dealer.vault import CannotOpen, DeckDiffers, HandName, MasterKeys, open_hand


def recorded_hands(table: Id, played: Iterable[Recording], masters: MasterKeys) -> tuple[RecordedHand, ...]:
    """The records of these hands, as far as they are over; without the cards of one that no key opens any more."""
    records = (each.hand(_own_cards(table, each, masters)) for each in played)
    return tuple(record for record in records if record is not None)


def _own_cards(table: Id, played: Recording, masters: MasterKeys) -> tuple[Card, ...]:
    """The cards that were dealt to the record's player; none where none were, or where they cannot be known."""
    if played.deck is None or played.deal is None or played.seat not in played.deal.seats or played.ended is None:
        return ()
    name = HandName(table, played.started.number, played.started.rules)
    try:
        deck = open_hand(masters.hand_key(name, played.deck.seed), name, played.deck)
    except (CannotOpen, DeckDiffers):
        return ()
    positions = hole_positions(played.deal.seats, played.deal.cards_each)[played.seat]
    return tuple(deck.cards[position] for position in positions)
