"""Cards and the names of streets (R31, R32, R36)."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from contracts.data import END, Chips, Data, Hex, Seat

type Card = Annotated[
    str, Meta(pattern="^[2-9TJQKA][cdhs]" + END, description="Rank and suit: Td, the ten of diamonds")
]
type Street = Literal["preflop", "flop", "turn", "river"]
type Position = Annotated[int, Meta(ge=0, le=51, description="A place in the shuffled deck; 0 is the top card.")]

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
DECK: Final[tuple[Card, ...]] = tuple(rank + suit for rank in RANKS for suit in SUITS)
"""The 52 cards in their canonical order: the order from which a shuffle starts."""

STREETS: Final[tuple[Street, ...]] = ("preflop", "flop", "turn", "river")
BOARD_CARDS: Final[dict[Street, int]] = {"preflop": 0, "flop": 3, "turn": 1, "river": 1}
"""How many board cards each street deals (R36)."""


class DealtCard(Data, frozen=True):
    """A card laid open: with its salt anyone can recompute the hash that was published before the deal."""

    position: Position
    card: Card
    salt: Hex


class SeatCards(Data, frozen=True):
    """The hole cards of one seat, in the order in which they were dealt."""

    seat: Seat
    cards: tuple[DealtCard, ...]


class SeatAmount(Data, frozen=True):
    """An amount that belongs to a seat."""

    seat: Seat
    amount: Chips
