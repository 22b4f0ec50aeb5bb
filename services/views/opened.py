"""The hands that were laid open, kept until the view of their commit is sent: the fold may be further by then."""

from collections import OrderedDict
from typing import Final

from contracts.cards import SeatCards
from contracts.commit import Commit
from services.bus.log import Stored
from services.bus.replica import TableReplica
from services.views.public import opened_by

REMEMBERED_MAX: Final = 1024
"""So many commits that lay hands open are remembered: another replica may be the one that shows them."""


class Opened:
    """What the last commits laid open; `note` is told of each commit as it is folded."""

    def __init__(self) -> None:
        self._hands: OrderedDict[tuple[str, str, int], tuple[SeatCards, ...]] = OrderedDict()

    def note(self, replica: TableReplica, commit: Commit, _: Stored) -> None:
        """Remembers the hands that a commit lays open, if any."""
        hands = opened_by(replica.state, commit)
        if hands:
            self._hands[*replica.key, commit.n] = hands
            if len(self._hands) > REMEMBERED_MAX:
                self._hands.popitem(last=False)

    def by(self, replica: TableReplica, commit: Commit) -> tuple[SeatCards, ...]:
        """The hands that this commit laid open."""
        return self._hands.get((*replica.key, commit.n), ())
