"""Whether the cards that a reader sees are those whose hashes were published before the deal (R31, R33 to R36).

Each function tells what is wrong, one sentence a fault. Nothing can be said of a hand whose deck is not in the picture.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from contracts.cards import BOARD_CARDS, DealtCard, SeatCards
from contracts.data import Sha256
from contracts.dealing import BOARD_STREETS, board_positions, hole_positions
from contracts.events.dealer import BoardDealt, DeckShuffled, HoleCardsDealt
from contracts.events.settlement import HandsShown
from contracts.hashes import is_published
from contracts.queries import OwnCards, PublicTable
from contracts.views import PublicView

DECK_CARDS: Final = 52
BOARD_MAX: Final = sum(BOARD_CARDS.values())


def faults_of_view(table: PublicTable, view: PublicView) -> list[str]:
    """What is wrong with the cards of a view, after which the picture is `table`."""
    found: list[str] = []
    for event in view.events:
        match event:
            case DeckShuffled():
                found += _faults_of_deck(event.hashes)
            case HoleCardsDealt() if not table.deck:
                found.append("cards are dealt of which no hashes were published")
            case BoardDealt() if table.deck:
                found += _faults_of_street(table, event)
            case HandsShown():
                found += _faults_of_shown(event, view.opened)
            case _:
                pass
    if table.deck and view.opened:
        found += _faults_of_hands(table, view.opened)
    if table.deck and (view.opened or any(isinstance(event, BoardDealt) for event in view.events)):
        found += _doubles(table)
    return found


def faults_of_picture(table: PublicTable) -> list[str]:
    """What is wrong with the cards that a picture shows: its deck, its board, and the hands that were shown."""
    if not table.deck:
        return []
    if len(table.board) > BOARD_MAX or len(table.board) != len(table.board_salts):
        return [f"the board has {len(table.board)} cards and {len(table.board_salts)} salts"]
    faults = (_faults_of_deck(table.deck), _unpublished(table, board_of(table)), _faults_of_hands(table, table.opened))
    return [*(fault for each in faults for fault in each), *_doubles(table)]


def faults_of_own(table: PublicTable, own: OwnCards) -> list[str]:
    """What is wrong with a player's own cards of the hand that the picture shows."""
    if own.cards is None or not table.deck:
        return []
    return [*_faults_of_hands(table, (own.cards,)), *_doubles(table, own.cards)]


def board_of(table: PublicTable) -> list[DealtCard]:
    """The board's cards with the places that the rules give them, and their salts. ValueError: there are too few."""
    hole_cards, burn = len(table.dealt) * table.cards_each, table.config.options.burn_cards
    streets = [board_positions(street, hole_cards, burn=burn).cards for street in BOARD_STREETS]
    places = [place for street in streets for place in street][: len(table.board)]
    return [
        DealtCard(position=place, card=card, salt=salt)
        for place, card, salt in zip(places, table.board, table.board_salts, strict=True)
    ]


def _faults_of_deck(hashes: tuple[Sha256, ...]) -> Iterator[str]:
    if not len(hashes) == len(set(hashes)) == DECK_CARDS:
        yield f"{len(hashes)} hashes were published, {len(set(hashes))} of them different, for {DECK_CARDS} cards"


def _faults_of_street(table: PublicTable, dealt: BoardDealt) -> Iterator[str]:
    hole_cards, burn = len(table.dealt) * table.cards_each, table.config.options.burn_cards
    places = board_positions(dealt.street, hole_cards, burn=burn)
    found = tuple(card.position for card in dealt.cards)
    if (found, dealt.burn) != (places.cards, places.burn):
        yield (
            f"the {dealt.street} is from places {found} with {dealt.burn} burnt, "
            f"and by the rules from {places.cards} with {places.burn}"
        )
    yield from _unpublished(table, dealt.cards)


def _faults_of_hands(table: PublicTable, hands: Iterable[SeatCards]) -> Iterator[str]:
    places = hole_positions(table.dealt, table.cards_each)
    for hand in hands:
        found = tuple(card.position for card in hand.cards)
        if hand.seat not in places:
            yield f"seat {hand.seat} has cards and was dealt none"
            continue
        if found != places[hand.seat]:
            yield f"the cards of seat {hand.seat} are from places {found}, and by the rules from {places[hand.seat]}"
        yield from _unpublished(table, hand.cards)


def _faults_of_shown(event: HandsShown, opened: tuple[SeatCards, ...]) -> Iterator[str]:
    laid_open = {hand.seat: tuple(card.card for card in hand.cards) for hand in opened}
    for shown in event.hands:
        found = laid_open.get(shown.seat, ())
        if found != shown.cards:
            yield f"seat {shown.seat} shows {' '.join(shown.cards)} and lays open {' '.join(found) or 'nothing'}"


def _unpublished(table: PublicTable, cards: Iterable[DealtCard]) -> Iterator[str]:
    for card in cards:
        if not is_published(table.deck, table.table, table.hand, card):
            yield f"{card.card} at place {card.position} is not the card whose hash was published"


def _doubles(table: PublicTable, *own: SeatCards) -> Iterator[str]:
    """Cards that are seen at two places: of the board, in the hands that were shown, and one's own."""
    hands = {hand.seat: hand for hand in (*table.opened, *own)}
    seen = [*table.board, *(card.card for hand in hands.values() for card in hand.cards)]
    for card in sorted({card for card in seen if seen.count(card) > 1}):
        yield f"{card} is seen twice"
