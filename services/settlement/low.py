"""How lows of eight or better rank, and what they are called (R94 to R96).

A set of ranks is a mask of eight bits: the ace is bit 0, the eight bit 7. Five different ranks of eight or lower make a
low; of two lows the one with the smaller mask is better, because masks compare like the cards: the highest first.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import combinations
from typing import Final

from contracts.cards import DECK, Card

NO_LOW: Final = 1 << 8
"""The rank of a hand without a low: behind every low."""

_LOW_RANKS: Final = "A2345678"
_FIVE: Final = 5
_BIT: Final[dict[Card, int]] = {card: 1 << _LOW_RANKS.index(card[0]) if card[0] in _LOW_RANKS else 0 for card in DECK}


def rank(hole: Sequence[Card], board: Sequence[Card]) -> int:
    """The rank of the best low of exactly two hole cards and three board cards (R93); `NO_LOW` where there is none."""
    return _best(_mask(hole), _mask(board))


def rank_of_five(cards: Sequence[Card]) -> int:
    """The rank of five cards as they lie, on the same scale."""
    mask = _mask(cards)
    return mask if mask.bit_count() == _FIVE else NO_LOW


def words(ranked: int) -> str | None:
    """What a low of this rank is called, its ranks from the top: `8-5-3-2-A`; None for `NO_LOW`."""
    if ranked == NO_LOW:
        return None
    return "-".join(_LOW_RANKS[bit] for bit in range(7, -1, -1) if ranked >> bit & 1)


def _mask(cards: Iterable[Card]) -> int:
    mask = 0
    for card in cards:
        mask |= _BIT[card]
    return mask


@cache
def _best(hole: int, board: int) -> int:
    """The table of lows by the ranks of hole and board, filled as it is asked: never more than 256 times 256."""
    return min(
        (two | three for two in _subsets(hole, 2) for three in _subsets(board, 3) if not two & three), default=NO_LOW
    )


@cache
def _subsets(mask: int, size: int) -> tuple[int, ...]:
    bits = [1 << bit for bit in range(8) if mask >> bit & 1]
    return tuple(sum(chosen) for chosen in combinations(bits, size))
