"""How many commands wait at a desk: so many at most of one player, at one table, and in all."""

from typing import Final

from contracts.subjects import CommandSubject
from services.bus.pace import Pace
from services.bus.shares import Shares

WAITING_MAX: Final = 256
"""So many commands wait at one table; the next is `busy` at once."""
PLAYER_WAITING_MAX: Final = 4
"""So many of one player at one table: who floods is `busy`, and the others at the table are served."""
PROCESS_WAITING_MAX: Final = 4096
"""So many at all tables of a process."""

WHIMS_BURST: Final = 60
WHIMS_PER_S: Final = 1.0
"""So often, at once and a second, a sender changes something at a table at will: what is accepted stays in the log."""


type Sender = tuple[str, str, str]
"""Who sends where: room, table, and kind and name."""


class Waiting:
    """How many of them there are, by who sent them where."""

    def __init__(self) -> None:
        self._shares: Shares[Sender] = Shares(PROCESS_WAITING_MAX, PLAYER_WAITING_MAX)
        self._whims: Pace[Sender] = Pace(WHIMS_BURST, WHIMS_PER_S)

    @property
    def count(self) -> int:
        """How many wait in all."""
        return self._shares.count

    def is_full(self, address: CommandSubject, at_table: int) -> bool:
        """Whether there is no room for one more from there, where `at_table` wait at that table."""
        return at_table >= WAITING_MAX or self._shares.is_full(_player(address))

    def bears(self, address: CommandSubject, now: float) -> bool:
        """Whether one more whim from there is borne at the loop time `now`; it is counted."""
        return self._whims.allows(_sender(address), now)

    def comes(self, address: CommandSubject) -> None:
        """One more waits."""
        self._shares.comes(_player(address))

    def leaves(self, address: CommandSubject) -> None:
        """One waits no more."""
        self._shares.leaves(_player(address))


def _player(address: CommandSubject) -> Sender | None:
    return _sender(address) if address.kind == "player" else None


def _sender(address: CommandSubject) -> Sender:
    return address.room, address.table, f"{address.kind}.{address.name}"
