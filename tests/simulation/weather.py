"""What goes wrong for everybody alike: one chance, one server that may be away, one count of what happened."""

from collections import Counter
from contextvars import Context
from random import Random
from typing import Final

from tests.simulation.chance import exponential
from tests.simulation.faults import Faults

LATE: Final = 100
LATE_S_MAX: Final = 5.0


class Weather:
    """The `faults` that can happen now; `away`: the server answers nobody; `network`: where what is sent lives on."""

    def __init__(self, random: Random, faults: Faults) -> None:
        self.random = random
        self.faults = faults
        self.network = Context()
        self.away = False
        self.happened: Counter[str] = Counter()

    def happens(self, fault: str) -> bool:
        """Draws whether a fault happens now, unless it cannot, and counts how often it does."""
        chance: float = getattr(self.faults, fault)
        if chance <= 0 or self.random.random() >= chance:
            return False
        self.happened[fault] += 1
        return True

    def delay_s(self) -> float:
        """The time of one way."""
        delay_s = exponential(self.random, self.faults.delay_s)
        return min(delay_s * LATE, LATE_S_MAX) if self.happens("late") else delay_s
