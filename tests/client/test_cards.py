"""R31, R33 to R36: who sees cards can tell whether they are those that were published before the deal."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from contracts.cards import DealtCard, SeatCards
from contracts.client.cards import faults_of_own, faults_of_picture, faults_of_view
from contracts.events.dealer import BoardDealt, DeckShuffled
from contracts.events.settlement import HandsShown, ShownHand
from contracts.queries import OwnCards, PublicTable
from contracts.views import PublicView
from services.dealer.deck import CARDS
from tests.client.watching import a_showdown
from tests.table.cash import cash
from tests.table.stories import name

GAME = a_showdown(cash(seats=4, act_ms=5_000))


def at(kind: type) -> tuple[PublicTable, PublicView]:
    """The last view with an event of some kind, and the picture after it."""
    view = next(view for view in reversed(GAME.views) if any(isinstance(event, kind) for event in view.events))
    return GAME.pictures[view.n - 1], view


def with_event[E](view: PublicView, kind: type[E], change: Callable[[E], E]) -> PublicView:
    """A view with one of its events changed."""
    return replace(view, events=tuple(change(each) if isinstance(each, kind) else each for each in view.events))


def other(card: DealtCard) -> DealtCard:
    """Another card in the place of one."""
    return replace(card, card="As" if card.card != "As" else "Kd")


def own_of(table: PublicTable) -> OwnCards:
    """What a player sees who shows later."""
    cards = GAME.views[-1].opened[0]
    return OwnCards(room="main", table="T1", player=name(cards.seat), hand=table.hand, n=table.n, cards=cards)


def test_nothing_is_wrong_with_the_cards_of_a_hand_as_it_is_dealt() -> None:
    for table, view in zip(GAME.pictures, GAME.views, strict=True):
        assert faults_of_view(table, view) == []
        assert faults_of_picture(table) == []
    table, _ = at(HandsShown)
    assert faults_of_own(table, own_of(table)) == []


def test_a_deck_is_52_hashes_that_differ() -> None:
    table, view = at(DeckShuffled)
    short = with_event(view, DeckShuffled, lambda deck: replace(deck, hashes=deck.hashes[:-1]))
    twice = with_event(view, DeckShuffled, lambda deck: replace(deck, hashes=(deck.hashes[0], *deck.hashes[:-1])))
    assert [len(faults_of_view(table, each)) for each in (short, twice)] == [1, 1]
    assert len(table.deck) == CARDS
    assert faults_of_picture(replace(table, deck=table.deck[:-1])) == [
        "51 hashes were published, 51 of them different, for 52 cards"
    ]


def test_cards_that_are_dealt_without_a_deck_that_was_published_are_told() -> None:
    table, view = at(DeckShuffled)
    bare = replace(view, events=tuple(each for each in view.events if not isinstance(each, DeckShuffled)))
    assert faults_of_view(replace(table, deck=()), bare) == ["cards are dealt of which no hashes were published"]


def test_a_board_card_that_was_not_published_is_told() -> None:
    table, view = at(BoardDealt)
    forged = with_event(view, BoardDealt, lambda board: replace(board, cards=tuple(map(other, board.cards))))
    (fault,) = faults_of_view(table, forged)
    assert "is not the card whose hash was published" in fault
    board = (*table.board[:-1], "As" if table.board[-1] != "As" else "Kd")
    assert any("not the card" in fault for fault in faults_of_picture(replace(table, board=board)))


def test_a_board_card_from_another_place_is_told_though_it_was_published() -> None:
    """R36: nothing is left to choose, not even for a dealer who knows the whole deck."""
    table, view = at(BoardDealt)
    ours = GAME.views[-1].opened[0].cards[0]
    forged = with_event(view, BoardDealt, lambda board: replace(board, cards=(ours,)))
    assert any("is from places" in fault for fault in faults_of_view(table, forged))
    unburnt = with_event(view, BoardDealt, lambda board: replace(board, burn=None))
    assert any("with None burnt" in fault for fault in faults_of_view(table, unburnt))


def test_a_picture_whose_board_lacks_salts_is_told() -> None:
    table, _ = at(BoardDealt)
    assert faults_of_picture(replace(table, board_salts=())) == [f"the board has {len(table.board)} cards and 0 salts"]


def aces(hand: ShownHand) -> ShownHand:
    return replace(hand, cards=("As", "Ah"))


def changed(cards: SeatCards, card: Callable[[DealtCard], DealtCard]) -> SeatCards:
    return replace(cards, cards=tuple(map(card, cards.cards)))


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda cards: changed(cards, other), "is not the card whose hash was published"),
        (lambda cards: changed(cards, lambda card: replace(card, salt="00" * 16)), "is not the card"),
        (lambda cards: changed(cards, lambda card: replace(card, position=51)), "by the rules from"),
        (lambda cards: replace(cards, cards=cards.cards[::-1]), "by the rules from"),
        (lambda cards: replace(cards, seat=4), "seat 4 has cards and was dealt none"),
    ],
)
def test_own_cards_and_shown_ones_that_are_not_those_of_the_seat_are_told(
    change: Callable[[SeatCards], SeatCards], fault: str
) -> None:
    table, view = at(HandsShown)
    own = own_of(table)
    assert own.cards is not None
    assert any(fault in said for said in faults_of_own(table, replace(own, cards=change(own.cards))))
    opened = tuple(map(change, view.opened))
    assert any(fault in said for said in faults_of_view(table, replace(view, opened=opened)))
    assert any(fault in said for said in faults_of_picture(replace(table, opened=opened)))


def test_a_hand_that_is_shown_without_what_proves_it_is_told() -> None:
    table, view = at(HandsShown)
    said = faults_of_view(table, replace(view, opened=()))
    assert said
    assert all("and lays open nothing" in fault for fault in said)
    lied = with_event(
        view,
        HandsShown,
        lambda shown: replace(shown, hands=tuple(map(aces, shown.hands))),
    )
    assert any("shows As Ah and lays open" in fault for fault in faults_of_view(table, lied))


def test_a_card_that_is_seen_at_two_places_is_told() -> None:
    """R31: a deck has each card once, whatever was published."""
    table, _ = at(HandsShown)
    assert any(
        "seen twice" in said for said in faults_of_picture(replace(table, board=(*table.board[:-1], table.board[0])))
    )


def test_nothing_can_be_said_of_a_hand_whose_deck_is_not_in_the_picture() -> None:
    """Between hands, and where a service of an older release answers."""
    table, view = at(BoardDealt)
    blind = replace(table, deck=())
    assert faults_of_picture(blind) == faults_of_view(blind, view) == faults_of_own(blind, own_of(blind)) == []
