"""A player's own hole cards, as the dealer alone sends them (R88)."""

from contracts.cards import SeatCards
from contracts.data import Id, Seat
from contracts.dealing import hole_positions
from contracts.queries import OwnCards
from services.aggregate.table import Hand, Table
from services.dealer.deck import Deck


def own_cards(table: Table, seat: Seat, deck: Deck) -> OwnCards:
    """What the player on `seat` may see of `deck`, the deck of the table's hand: the own cards, folded ones too.

    `cards` is None where the player holds none: no hand, not dealt into it, or the deal is not in the log yet. Raises
    KeyError for an empty seat.
    """
    player = table.seats[seat].player
    return OwnCards(
        room=table.room,
        table=table.id,
        player=player,
        hand=table.hands,
        n=table.n,
        cards=_dealt_to(table.hand, seat, player, deck) if table.hand is not None else None,
    )


def _dealt_to(hand: Hand, seat: Seat, player: Id, deck: Deck) -> SeatCards | None:
    if hand.deal is None or seat not in hand.deal.seats or hand.players[seat].player != player:
        return None
    return deck.hand_of(seat, hole_positions(hand.deal.seats, hand.deal.cards_each)[seat])
