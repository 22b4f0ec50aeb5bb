"""How many commands wait at a desk: so many at most of one player, at one table, and in all."""

from collections import Counter
from typing import Final

from contracts.subjects import CommandSubject
from services.bus.pace import Pace

WAITING_MAX: Final = 256
"""So many commands wait at one table; the next is `busy` at once."""
PLAYER_WAITING_MAX: Final = 4
"""So many of one player at one table: who floods is `busy`, and the others at the table are served."""
PROCESS_WAITING_MAX: Final = 4096
"""So many at all tables of a process."""

WHIMS_BURST: Final = 60
WHIMS_PER_S: Final = 1.0
"""So often, at once and a second, a sender changes something at a table at will: what is accepted stays in the log."""


class Waiting:
    """`count` of them, by who sent them where."""

    def __init__(self) -> None:
        self.count = 0
        self._of: Counter[tuple[str, str, str]] = Counter()
        self._whims: Pace[tuple[str, str, str]] = Pace(WHIMS_BURST, WHIMS_PER_S)

    def is_full(self, address: CommandSubject, at_table: int) -> bool:
        """Whether there is no room for one more from there, where `at_table` wait at that table."""
        return (
            self.count >= PROCESS_WAITING_MAX
            or at_table >= WAITING_MAX
            or (address.kind == "player" and self._of[_sender(address)] >= PLAYER_WAITING_MAX)
        )

    def bears(self, address: CommandSubject, now: float) -> bool:
        """Whether one more whim from there is borne at the loop time `now`; it is counted."""
        return self._whims.allows(_sender(address), now)

    def comes(self, address: CommandSubject) -> None:
        """One more waits."""
        self.count += 1
        self._of[_sender(address)] += 1

    def leaves(self, address: CommandSubject) -> None:
        """One waits no more."""
        sender = _sender(address)
        self.count -= 1
        self._of[sender] -= 1
        if not self._of[sender]:
            del self._of[sender]


def _sender(address: CommandSubject) -> tuple[str, str, str]:
    return address.room, address.table, f"{address.kind}.{address.name}"
