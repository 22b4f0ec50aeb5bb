"""What a player's cards are worth at the showdown, both ways."""

from collections.abc import Sequence
from typing import NamedTuple

from contracts.cards import Card
from contracts.games import Variant
from services.settlement import high, low


class Worth(NamedTuple):
    """The ranks of a hand for high and for low: the lower the better, equal hands are equal.

    `low` is `low.NO_LOW` where no low qualifies, and in every game that has none (R97).
    """

    high: int
    low: int

    @property
    def has_low(self) -> bool:
        """Whether the hand has a low that counts."""
        return self.low != low.NO_LOW

    def high_words(self) -> str:
        """The high hand in words: `two pairs K-Q-8`."""
        return high.words(self.high)

    def low_words(self) -> str | None:
        """The low in words: `8-5-3-2-A`; None where there is none."""
        return low.words(self.low)


def worth(variant: Variant, hole: Sequence[Card], board: Sequence[Card]) -> Worth:
    """What hole cards are worth on a complete board (R89 to R97). Raises ValueError on any other number of cards."""
    ranked = high.rank(variant, hole, board)
    return Worth(ranked, low.rank(hole, board) if variant == "omaha8" else low.NO_LOW)
