"""Lows of eight or better against PokerKit's evaluator and against their definition."""

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pokerkit import Hand, OmahaEightOrBetterLowHand

from contracts.cards import DECK, Card
from services.settlement import low
from services.settlement.ranking import worth

LOW_ORDER = "A23456789TJQK"
PLAYERS = 7

low_cards = [card for card in DECK if card[0] in "A23456789"]
"""Random cards of the whole deck seldom make a low; these often do, and often fail to."""


def by_definition(hole: list[Card], board: list[Card]) -> tuple[int, ...] | None:
    """The best low of two and three cards, its ranks from the top; straight from R93 to R95."""
    lows = []
    for two in combinations(hole, 2):
        for three in combinations(board, 3):
            ranks = sorted({LOW_ORDER.index(card[0]) + 1 for card in (*two, *three)}, reverse=True)
            if len(ranks) == 5 and ranks[0] <= 8:
                lows.append(tuple(ranks))
    return min(lows, default=None)


def named(ranks: tuple[int, ...] | None) -> str | None:
    return "-".join(LOW_ORDER[rank - 1] for rank in ranks) if ranks is not None else None


def dealt(deck: list[Card]) -> tuple[list[list[Card]], list[Card]]:
    return [deck[5 + 4 * player : 9 + 4 * player] for player in range(PLAYERS)], deck[:5]


@settings(max_examples=200)
@given(deck=st.permutations(low_cards))
def test_a_low_is_the_best_of_two_hole_cards_and_three_of_the_board(deck: list[Card]) -> None:
    """R93 to R96: 4,200 comparisons with the definition, and every hand's words."""
    holes, board = dealt(deck)
    ours = [low.rank(hole, board) for hole in holes]
    true = [by_definition(hole, board) for hole in holes]
    assert [low.words(rank) for rank in ours] == [named(ranks) for ranks in true]
    worst = (99,)
    for a, b in combinations(range(PLAYERS), 2):
        assert (ours[a] < ours[b]) == ((true[a] or worst) < (true[b] or worst))
        assert (ours[a] == ours[b]) == (true[a] == true[b])


@settings(max_examples=100)
@given(deck=st.permutations(low_cards))
def test_lows_compare_as_pokerkit_compares_them(deck: list[Card]) -> None:
    """R94 to R96: 2,100 comparisons; PokerKit's greater hand is the better low."""
    holes, board = dealt(deck)
    ours = [low.rank(hole, board) for hole in holes]
    theirs = [pokerkit_low(hole, board) for hole in holes]
    assert [rank == low.NO_LOW for rank in ours] == [hand is None for hand in theirs]
    for (rank_a, hand_a), (rank_b, hand_b) in combinations(zip(ours, theirs, strict=True), 2):
        if hand_a is not None and hand_b is not None:
            assert (rank_a < rank_b, rank_a == rank_b) == (hand_a > hand_b, hand_a == hand_b)


def pokerkit_low(hole: list[Card], board: list[Card]) -> Hand | None:
    try:
        return OmahaEightOrBetterLowHand.from_game("".join(hole), "".join(board))
    except ValueError:
        return None


@pytest.mark.parametrize(
    ("hole", "board", "name"),
    [
        ("Ah 3h Qs Qd", "2s 5h 8d Kc Kd", "8-5-3-2-A"),
        ("Ah 2h 3h 4h", "5s 9h Td Kc Kd", None),  # the board needs three different low ranks
        ("Ah Ad 3h 3d", "2s 5h 8d Kc Kd", "8-5-3-2-A"),  # of each pair one card counts
        ("Ah Ad Qh Qd", "2s 5h 8d 3c 4d", None),  # one low card in the hole is not two
        ("2h 2d 2c 7d", "2s 3h 4d 5c Kd", "7-5-4-3-2"),
    ],
)
def test_a_low_takes_exactly_two_and_three(hole: str, board: str, name: str | None) -> None:
    """R93, R94."""
    assert low.words(low.rank(hole.split(), board.split())) == name


def test_only_omaha_eight_or_better_has_a_low() -> None:
    """R97: the same cards have none at an Omaha table."""
    hole, board = ["Ah", "3h", "Qs", "Qd"], ["2s", "5h", "8d", "Kc", "Kd"]
    assert [worth(variant, hole, board).has_low for variant in ("omaha", "omaha8")] == [False, True]
