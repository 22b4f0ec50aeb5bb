"""Own cards: what the dealer sends to a player, and to nobody else (R88)."""

from msgspec.structs import replace

from contracts.cards import SeatCards
from contracts.queries import OwnCards
from services.dealer.cards import own_cards
from tests.dealer.hands import dealt, folds, sealed, started


def test_a_player_sees_the_own_cards_once_the_deal_is_in_the_log() -> None:
    decks = sealed()
    table = started()
    decks.shuffle(table)
    before = own_cards(table, 3, decks.deck(dealt(table, decks)[0]))
    assert before == OwnCards(room="main", table="T1", player="P3", hand=17, n=2)
    table, _ = dealt(table, decks)
    deck = decks.deck(table)
    assert own_cards(table, 3, deck) == OwnCards(
        room="main", table="T1", player="P3", hand=17, n=3, cards=SeatCards(seat=3, cards=(deck.at(1), deck.at(4)))
    )


def test_a_player_who_folded_still_sees_the_own_cards() -> None:
    decks = sealed()
    table, _ = dealt(started(), decks)
    assert own_cards(folds(table, 3), 3, decks.deck(table)).cards == own_cards(table, 3, decks.deck(table)).cards


def test_a_player_who_was_not_dealt_in_sees_no_cards() -> None:
    decks = sealed()
    table, _ = dealt(started(), decks)
    table.seats[9] = replace(table.seats[3], seat=9, player="P9")
    assert own_cards(table, 9, decks.deck(table)).cards is None


def test_who_takes_over_a_seat_does_not_see_the_cards_of_who_sat_there() -> None:
    decks = sealed()
    table, _ = dealt(started(), decks)
    table.seats[3] = replace(table.seats[3], player="P9")
    assert own_cards(table, 3, decks.deck(table)) == OwnCards(room="main", table="T1", player="P9", hand=17, n=3)


def test_after_the_hand_nobody_sees_cards_of_it() -> None:
    decks = sealed()
    table, _ = dealt(started(), decks)
    deck = decks.deck(table)
    table.hand = None
    assert own_cards(table, 3, deck).cards is None
