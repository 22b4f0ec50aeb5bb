"""How high hands rank, and what they are called (R89 to R93, R98)."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final

from phevaluator.evaluator import evaluate_5cards, evaluate_7cards
from phevaluator.evaluator_omaha import evaluate_omaha_cards

from contracts.cards import BOARD_CARDS, DECK, RANKS, Card
from contracts.games import HOLE_CARDS, Variant

COMPLETE_BOARD: Final = sum(BOARD_CARDS.values())
"""A hand has a rank once so many board cards are there."""

_NUMBER: Final[dict[Card, int]] = {card: number for number, card in enumerate(DECK)}
"""The evaluator's name of a card: rank times four plus suit. It knows strings too, and takes several times longer."""


def rank(variant: Variant, hole: Sequence[Card], board: Sequence[Card]) -> int:
    """The rank of the best high hand: 1 (royal flush) to 7462, the lower the better; equal hands are equal.

    Hold'em: the best five of all seven cards (R92). Omaha: exactly two of four and three of five (R93). Raises
    ValueError where the board is not complete or the hole cards are not as many as the game deals.
    """
    if len(board) != COMPLETE_BOARD or len(hole) != HOLE_CARDS[variant]:
        raise ValueError(f"{variant} ranks no hand of {len(hole)} hole cards on a board of {len(board)}")
    cards = [_NUMBER[card] for card in (*board, *hole)]
    ranked: int = evaluate_7cards(*cards) if variant == "holdem" else evaluate_omaha_cards(*cards)
    return ranked


def rank_of_five(cards: Sequence[Card]) -> int:
    """The rank of five cards as they lie, on the same scale."""
    ranked: int = evaluate_5cards(*(_NUMBER[card] for card in cards))
    return ranked


def words(ranked: int) -> str:
    """What a hand of this rank is called: its category, then its ranks by weight: `pair K-A-9-7`, `straight 5`."""
    return _WORDS[ranked - 1]


def _all_words() -> Iterator[str]:
    """The names of all 7462 different hands, the best first."""
    high_first = RANKS[::-1]
    straights = [*(high_first[top : top + 5] for top in range(9)), "A5432"]
    tops = [straight[0] for straight in straights[:-1]] + ["5"]  # R91: in the wheel the ace is low
    unpaired = [five for five in map("".join, combinations(high_first, 5)) if five not in straights]
    yield "royal flush"
    yield from (f"straight flush {top}" for top in tops[1:])
    yield from (f"four of a kind {four}-{one}" for four in high_first for one in _without(four))
    yield from (f"full house {three}-{two}" for three in high_first for two in _without(three))
    yield from (f"flush {'-'.join(five)}" for five in unpaired)
    yield from (f"straight {top}" for top in tops)
    for three in high_first:
        yield from (f"three of a kind {three}-{'-'.join(two)}" for two in combinations(_without(three), 2))
    for high, low in combinations(high_first, 2):
        yield from (f"two pairs {high}-{low}-{one}" for one in _without(high + low))
    for pair in high_first:
        yield from (f"pair {pair}-{'-'.join(three)}" for three in combinations(_without(pair), 3))
    yield from (f"high card {'-'.join(five)}" for five in unpaired)


def _without(used: str) -> str:
    return "".join(each for each in reversed(RANKS) if each not in used)


_WORDS: Final = tuple(_all_words())
