"""High hands against PokerKit's evaluators and against their definition."""

from collections import Counter
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pokerkit import OmahaHoldemHand, StandardHighHand

from contracts.cards import DECK, RANKS, Card
from contracts.games import HOLE_CARDS, Variant
from services.settlement import high

ORACLE: dict[Variant, Any] = {"holdem": StandardHighHand, "omaha": OmahaHoldemHand, "omaha8": OmahaHoldemHand}
PLAYERS = 8
"""Eight hands on one board are 28 comparisons."""

shuffled = st.permutations(DECK)


def dealt(deck: list[Card], each: int) -> tuple[list[list[Card]], list[Card]]:
    """The hole cards of all players, and the board."""
    holes = [deck[5 + each * player : 5 + each * (player + 1)] for player in range(PLAYERS)]
    return holes, deck[:5]


def order(a: Any, b: Any) -> int:
    return int(a > b) - int(a < b)


@pytest.mark.parametrize("variant", HOLE_CARDS)
@settings(max_examples=80)
@given(deck=shuffled)
def test_hands_compare_as_pokerkit_compares_them(variant: Variant, deck: list[Card]) -> None:
    """R89 to R93, R98: 2,240 comparisons a game; the lower rank is the better hand."""
    holes, board = dealt(deck, HOLE_CARDS[variant])
    ours = [high.rank(variant, hole, board) for hole in holes]
    theirs = [ORACLE[variant].from_game("".join(hole), "".join(board)) for hole in holes]
    pairs = list(combinations(range(PLAYERS), 2))
    assert [order(ours[b], ours[a]) for a, b in pairs] == [order(theirs[a], theirs[b]) for a, b in pairs]


@given(deck=shuffled)
def test_the_best_omaha_hand_uses_two_hole_cards_and_three_of_the_board(deck: list[Card]) -> None:
    """R93: the best of all sixty such fives, each ranked as it lies."""
    holes, board = dealt(deck, 4)
    for hole in holes:
        fives = [(*two, *three) for two in combinations(hole, 2) for three in combinations(board, 3)]
        assert high.rank("omaha", hole, board) == min(map(high.rank_of_five, fives))


@given(cards=st.lists(st.sampled_from(DECK), min_size=5, max_size=5, unique=True))
def test_five_cards_are_called_what_they_are(cards: list[Card]) -> None:
    """R89 to R91: the category, then the ranks by weight."""
    assert high.words(high.rank_of_five(cards)) == called(cards)


@pytest.mark.parametrize(
    ("cards", "name"),
    [
        ("As Ks Qs Js Ts", "royal flush"),
        ("9s 8s 7s 6s 5s", "straight flush 9"),
        ("5d 4d 3d 2d Ad", "straight flush 5"),
        ("9s 9h 9d 9c As", "four of a kind 9-A"),
        ("Js Jh Jd 2c 2s", "full house J-2"),
        ("Ah Qh 9h 5h 2h", "flush A-Q-9-5-2"),
        ("As Kd Qc Jh Td", "straight A"),
        ("5s 4d 3c 2h Ad", "straight 5"),
        ("4s 4d 4c Kh 9d", "three of a kind 4-K-9"),
        ("8s 8d 4c 4h 9d", "two pairs 8-4-9"),
        ("As Ad Qc 9h 7d", "pair A-Q-9-7"),
        ("Ks As 2d 3c 4h", "high card A-K-4-3-2"),
    ],
)
def test_every_category_has_its_name(cards: str, name: str) -> None:
    """R89."""
    assert high.words(high.rank_of_five(cards.split())) == name


def test_there_are_7462_different_hands() -> None:
    """R90: every rank has a name of its own."""
    names = {high.words(rank) for rank in range(1, 7463)}
    assert len(names) == 7462


@pytest.mark.parametrize(
    ("variant", "hole", "board"),
    [
        ("holdem", "As Ad", "Ks Kd Kc Kh"),
        ("omaha", "As Ad", "Ks Kd Kc Kh 2s"),
        ("holdem", "As Ad Ac Ah", "Ks Kd Kc"),
        ("omaha8", "As Ad Ac Ah", "Ks Kd Kc"),
    ],
)
def test_only_a_whole_hand_has_a_rank(variant: Variant, hole: str, board: str) -> None:
    """R92, R93: a wrong number of cards is an error, never a rank."""
    with pytest.raises(ValueError, match="ranks no hand"):
        high.rank(variant, hole.split(), board.split())


def called(cards: list[Card]) -> str:
    """A hand's name, worked out from its cards alone."""
    counts = Counter(card[0] for card in cards)
    ranks = sorted(counts, key=lambda rank: (counts[rank], RANKS.index(rank)), reverse=True)
    shape = sorted(counts.values(), reverse=True)
    in_a_row = "".join(ranks) in "AKQJT98765432" or ranks == list("A5432")
    flush = len({card[1] for card in cards}) == 1
    if len(ranks) == 5 and in_a_row:
        top = ranks[1] if ranks == list("A5432") else ranks[0]
        return ("royal flush" if top == "A" else f"straight flush {top}") if flush else f"straight {top}"
    names = {
        (4, 1): "four of a kind",
        (3, 2): "full house",
        (3, 1, 1): "three of a kind",
        (2, 2, 1): "two pairs",
        (2, 1, 1, 1): "pair",
        (1, 1, 1, 1, 1): "flush" if flush else "high card",
    }
    return f"{names[tuple(shape)]} {'-'.join(ranks)}"
