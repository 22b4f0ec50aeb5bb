"""What the dealer owes, from the shuffle to the contenders' hands."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from contracts.cards import Card, DealtCard
from contracts.data import Seat
from contracts.events.dealer import BoardDealt, DeckShuffled, HandsRevealed, HoleCardsDealt
from contracts.games import HOLE_CARDS, RULES_VERSION, Options, Variant
from contracts.hashes import is_published
from services.aggregate.table import Table
from services.dealer import decider
from services.dealer.decks import KnownDecks, KnownHand, OpenedDecks
from services.dealer.scripted import Script, ScriptedDecks
from services.dealer.vault import CannotOpen, HandName, open_hand
from tests.dealer.hands import (
    MASTERS,
    NOON,
    closes_betting,
    closes_street,
    commit,
    dealt,
    folds,
    sealed,
    started,
    to_showdown,
)

STORY = ScriptedDecks({17: Script(hole={1: ("Ah", "Ad"), 3: ("Kh", "Kd")}, board=("2c", "3c", "4c", "5d", "6d"))})


def names(cards: tuple[DealtCard, ...]) -> tuple[Card, ...]:
    return tuple(card.card for card in cards)


def test_a_hand_begins_with_the_shuffle_and_the_deal_in_one_commit() -> None:
    """R31, R33, R37: 52 hashes lie in the log before a card goes out, the button is dealt last."""
    shuffled, deal = decider.owes(started(order=(2, 3, 1)), NOON, sealed())
    assert isinstance(shuffled, DeckShuffled)
    assert len(set(shuffled.hashes)) == 52
    assert shuffled.seed.key_id == "2026"
    assert deal == HoleCardsDealt(seats=(2, 3, 1), cards_each=2)


@pytest.mark.parametrize(("variant", "cards"), [("holdem", 2), ("omaha", 4), ("omaha8", 4)])
def test_each_game_has_its_number_of_hole_cards(variant: Variant, cards: int) -> None:
    """R32."""
    _, deal = decider.owes(started(variant), NOON, sealed())
    assert deal == HoleCardsDealt(seats=(2, 3, 1), cards_each=cards)


def test_the_board_comes_street_by_street_after_a_burn_each() -> None:
    """R35, R36 (D01): six hole cards, so the burns are places 6, 10 and 12."""
    _, _, boards, _ = to_showdown(started(), STORY)
    assert [(board.street, board.burn, names(board.cards)) for board in boards] == [
        ("flop", 6, ("2c", "3c", "4c")),
        ("turn", 10, ("5d",)),
        ("river", 12, ("6d",)),
    ]
    assert [card.position for board in boards for card in board.cards] == [7, 8, 9, 11, 13]


def test_a_table_without_burns_deals_the_board_without() -> None:
    """R35 (D03)."""
    _, _, boards, _ = to_showdown(started(options=Options(burn_cards=False)), STORY)
    assert [board.burn for board in boards] == [None, None, None]
    assert [card.position for board in boards for card in board.cards] == [6, 7, 8, 9, 10]


def test_only_contenders_hands_are_revealed() -> None:
    """R88: seat 2 folded, its cards never enter the log."""
    table, _ = dealt(started(), STORY)
    table = folds(table, 2)
    for _ in range(3):
        table, _ = dealt(closes_street(table), STORY)
    _, (revealed,) = dealt(closes_betting(table, (3, 1)), STORY)
    assert isinstance(revealed, HandsRevealed)
    assert [(hand.seat, names(hand.cards)) for hand in revealed.hands] == [(3, ("Kh", "Kd")), (1, ("Ah", "Ad"))]
    assert [[card.position for card in hand.cards] for hand in revealed.hands] == [[1, 4], [2, 5]]


def test_an_all_in_before_the_flop_is_run_out_before_the_reveal() -> None:
    """R85 at `at_showdown`: the board first, one street a commit."""
    table, _ = dealt(started(), STORY)
    table, said = closes_betting(table, (3, 1)), []
    for _ in range(4):
        table, (event,) = dealt(table, STORY)
        said.append(event.street if isinstance(event, BoardDealt) else type(event).__name__)
    assert said == ["flop", "turn", "river", "HandsRevealed"]
    assert decider.owes(table, NOON, STORY) == ()


def test_hands_that_are_tabled_are_revealed_before_the_board() -> None:
    """R85 at `before_board`: the reveal first; then the settlement shows, and the dealer owes nothing meanwhile."""
    table, _ = dealt(started(), STORY)
    table, (event,) = dealt(closes_betting(table, (3, 1), tabled=True), STORY)
    assert isinstance(event, HandsRevealed)
    assert decider.owes(table, NOON, STORY) == ()


def test_a_hand_that_all_but_one_folded_ends_without_cards() -> None:
    """R79."""
    table, _ = dealt(started(), STORY)
    table = closes_betting(folds(folds(table, 2), 3), (1,))
    assert decider.owes(table, NOON, STORY) == ()


def test_the_dealer_owes_nothing_while_a_player_is_to_act_or_no_hand_is_on() -> None:
    table, _ = dealt(started(), STORY)
    assert decider.owes(table, NOON, STORY) == ()
    assert decider.owes(Table(room="main", id="T1"), NOON, STORY) == ()


def test_a_hand_of_newer_rules_is_left_alone() -> None:
    """DESIGN 2: a service that does not know a hand's rules does not act on it."""
    assert decider.owes(started(rules=RULES_VERSION + 1), NOON, sealed()) == ()


@given(
    seats=st.lists(st.integers(1, 10), min_size=2, max_size=10, unique=True),
    variant=st.sampled_from(["holdem", "omaha", "omaha8"]),
    burn=st.booleans(),
    byte=st.integers(0, 255),
)
def test_every_card_laid_open_was_published_and_none_comes_twice(
    seats: list[Seat],
    variant: Variant,
    burn: bool,  # noqa: FBT001
    byte: int,
) -> None:
    """R31, R145: for every table, game and deck."""
    table = started(variant, order=seats, options=Options(burn_cards=burn))
    _, shuffled, boards, revealed = to_showdown(table, sealed(byte))
    cards = [card for board in boards for card in board.cards]
    cards += [card for hand in revealed.hands for card in hand.cards]
    assert all(is_published(shuffled.hashes, "T1", 17, card) for card in cards)
    assert len({card.card for card in cards}) == len({card.position for card in cards}) == len(cards)
    assert len(cards) == 5 + len(seats) * HOLE_CARDS[variant]


def test_another_replica_goes_on_with_the_same_deck() -> None:
    """What the log holds is enough: another process, with other entropy, deals the same cards."""
    table, _ = dealt(started(), sealed(7))
    table = closes_street(table)
    assert decider.owes(table, NOON, sealed(8)) == decider.owes(table, NOON, sealed(7))


def test_a_shuffle_that_lost_the_append_is_forgotten() -> None:
    """Two replicas shuffle, one is in the log: the other deals from that one, not from the deck it kept."""
    table, ours = started(), OpenedDecks()
    decider.owes(table, NOON, sealed(8, ours))
    table, _ = dealt(table, sealed(7))
    table = closes_street(table)
    (board,) = decider.owes(table, NOON, sealed(9, ours))
    assert (board,) == decider.owes(table, NOON, sealed(7))


def test_a_process_opens_a_hand_only_once() -> None:
    """With the deck kept open the sealed seed is not looked at again."""
    opened = OpenedDecks()
    table, _ = dealt(started(), sealed(7, opened))
    assert table.hand is not None
    assert table.hand.deck is not None
    assert opened.get(table, table.hand.deck) is sealed(1, opened).deck(table)


def test_a_seed_that_was_tampered_with_stops_the_dealer() -> None:
    """No card is dealt from a deck that nobody can vouch for."""
    table = started()
    shuffled, deal = decider.owes(table, NOON, sealed())
    assert isinstance(shuffled, DeckShuffled)
    forged = replace(shuffled, seed=replace(shuffled.seed, ciphertext="00" * 48))
    table = closes_street(commit(table, forged, deal))
    with pytest.raises(CannotOpen):
        decider.owes(table, NOON, sealed())


def test_a_recorded_hand_is_dealt_again_by_its_key() -> None:
    """DESIGN 6: with the hand key all that the dealer said is derived again."""
    _, shuffled, boards, revealed = to_showdown(started(), sealed())
    name = HandName("T1", 17, 1)
    deck = open_hand(MASTERS.hand_key(name, shuffled.seed), name, shuffled)
    again = to_showdown(started(), KnownDecks({17: KnownHand(shuffled, deck)}))[1:]
    assert again == (shuffled, boards, revealed)
