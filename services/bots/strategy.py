"""What a bot does at its turn: random, legal and varied, by its temper."""

from random import Random
from typing import Final, Literal

import msgspec

from contracts.commands import Act
from contracts.data import Chips
from contracts.events.state import Turn

type Choice = Literal["fold", "check", "call", "bet", "raise", "all_in"]


class Temper(msgspec.Struct, frozen=True):
    """How often, in a hundred, a bot folds to a bet, raises or bets, and puts all its chips in."""

    folds: int
    raises: int
    shoves: int


TEMPERS: Final = (Temper(35, 15, 1), Temper(20, 25, 2), Temper(50, 10, 1), Temper(10, 30, 4), Temper(25, 20, 2))


def decide(turn: Turn, number: int, hand: int, temper: Temper, random: Random, command: str) -> Act:
    """One of the actions that the turn allows, as a command named `command`."""
    action, to = _choose(turn, temper, random)
    return Act(id=command, hand=hand, turn=number, action=action, to=to)


def _choose(turn: Turn, temper: Temper, random: Random) -> tuple[Choice, Chips | None]:
    drawn = random.randrange(100)
    if drawn < temper.shoves:
        return "all_in", None
    if turn.wager is not None and drawn < temper.shoves + temper.raises:
        return turn.wager, _amount(turn, random)
    if turn.check:
        return "check", None
    folds = random.randrange(100) < temper.folds
    return ("fold" if folds or turn.call is None else "call"), None


def _amount(turn: Turn, random: Random) -> Chips:
    """Mostly small, sometimes anything up to the maximum."""
    low, high = turn.minimum or 0, turn.maximum or 0
    reach = high if random.randrange(8) == 0 else min(high, low * 3)
    return random.randint(low, max(low, reach))
