"""Which place in the shuffled deck belongs to which seat, burn and street (R33 to R36): nothing is left to choose."""

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from contracts.cards import BOARD_CARDS, STREETS, Position, Street
from contracts.data import Seat

BOARD_STREETS: Final[tuple[Street, ...]] = STREETS[1:]
"""The streets that deal board cards, in order."""


class BoardPositions(NamedTuple):
    """Where a street's cards lie in the deck, and the card burnt before them (None: the table burns none)."""

    burn: Position | None
    cards: tuple[Position, ...]


def hole_positions(seats: Sequence[Seat], cards_each: int) -> dict[Seat, tuple[Position, ...]]:
    """The places of each seat's hole cards: one card at a time to `seats`, which are in dealing order (R33, R34).

    Seats 2, 3, 1 with two cards each: {2: (0, 3), 3: (1, 4), 1: (2, 5)}.
    """
    players = len(seats)
    return {seat: tuple(first + players * lap for lap in range(cards_each)) for first, seat in enumerate(seats)}


@cache
def board_positions(street: Street, hole_cards: int, *, burn: bool) -> BoardPositions:
    """The places of a street's board cards, after `hole_cards` hole cards in all; one burn a street if any (R35, R36).

    Six hole cards and burns: the flop burns place 6 and lies at 7, 8, 9. Raises ValueError for a street without board
    cards.
    """
    if street not in BOARD_STREETS:
        raise ValueError(f"no board cards are dealt {street}")
    before = BOARD_STREETS[: BOARD_STREETS.index(street)]
    top = hole_cards + sum(BOARD_CARDS[earlier] + burn for earlier in before)
    first = top + burn
    return BoardPositions(top if burn else None, tuple(range(first, first + BOARD_CARDS[street])))
