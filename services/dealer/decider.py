"""What the dealer owes: the deck and the hole cards, the board street by street, and the contenders' hands."""

from contracts.cards import Street
from contracts.data import Instant
from contracts.dealing import board_positions, hole_positions
from contracts.events import AnyEvent
from contracts.events.dealer import BoardDealt, HandsRevealed, HoleCardsDealt
from contracts.games import HOLE_CARDS, RULES_VERSION, TableConfig
from services.aggregate.debts import debt
from services.aggregate.table import Hand, Table
from services.dealer.decks import Decks


def owes(table: Table, at: Instant, decks: Decks) -> tuple[AnyEvent, ...]:
    """The events of the dealer's next commit; () where the dealer owes nothing at `at`.

    Also () for a hand whose rules this release does not know (DESIGN 2). Raises CannotOpen where the hand's sealed seed
    cannot be opened, DeckDiffers where it does not give the published deck.
    """
    owed, hand, config = debt(table), table.hand, table.config
    if owed is None or owed.service != "dealer" or hand is None or config is None:
        return ()
    if hand.rules > RULES_VERSION or not owed.is_due(at):
        return ()
    if owed.duty == "deal_hole_cards":
        return decks.shuffle(table), hole_cards_dealt(hand, config)
    if owed.street is not None:
        return (board_dealt(table, hand, config, owed.street, decks),)
    return (hands_revealed(table, hand, decks),)


def hole_cards_dealt(hand: Hand, config: TableConfig) -> HoleCardsDealt:
    """Cards go only to the players in the hand (R37), in dealing order: the button last, also heads-up (R33, R34)."""
    return HoleCardsDealt(seats=tuple(hand.players), cards_each=HOLE_CARDS[config.variant])


def board_dealt(table: Table, hand: Hand, config: TableConfig, street: Street, decks: Decks) -> BoardDealt:
    """The street's cards, laid open, after a burn if the table burns (R35, R36)."""
    deal = _dealt(hand)
    hole_cards = len(deal.seats) * deal.cards_each
    burn, positions = board_positions(street, hole_cards, burn=config.options.burn_cards)
    deck = decks.deck(table)
    return BoardDealt(street=street, cards=tuple(deck.at(position) for position in positions), burn=burn)


def hands_revealed(table: Table, hand: Hand, decks: Decks) -> HandsRevealed:
    """The hole cards of those who contest the pots, and of nobody else (R88), in the order of `contenders`."""
    deal = _dealt(hand)
    holes = hole_positions(deal.seats, deal.cards_each)
    contenders = hand.closed.contenders if hand.closed is not None else ()
    deck = decks.deck(table)
    return HandsRevealed(hands=tuple(deck.hand_of(seat, holes[seat]) for seat in contenders))


def _dealt(hand: Hand) -> HoleCardsDealt:
    if hand.deal is None:
        raise ValueError(f"hand {hand.number} has no hole cards yet")
    return hand.deal
