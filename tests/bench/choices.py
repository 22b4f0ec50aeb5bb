"""The hands that every engine under test plays: six players, their stacks, and the choices of Croupier's own bots."""

from random import Random
from typing import Final

from contracts.commands import Act
from contracts.events.state import Turn
from services.bots.strategy import TEMPERS, decide

STACKS: Final = (
    (20_000,) * 6,
    (20_000, 4_000, 20_000, 12_000, 16_000, 8_000),
    (6_000, 6_000, 20_000, 2_000, 20_000, 10_000),
)
"""The stacks that six players begin a hand with, in chips: the big blind is 200."""
SMALL_BLIND: Final = 100
BIG_BLIND: Final = 200


def choose(turn: Turn, number: int, hand: int, random: Random) -> Act:
    """What the player whose turn it is does: random, legal, and by the temper of the seat."""
    return decide(turn, number, hand, TEMPERS[turn.seat % len(TEMPERS)], random, f"c{number}")
