"""Each commit of the log is told to one replica of a service: for what leaves the log and need not be repeated."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Final

from contracts.data import Sha256
from services.aggregate.chain import Chained, State
from services.bus.follower import Follower
from services.bus.log import Following, Log, Stored
from services.bus.replica import Replica

REMEMBERED_MAX: Final = 4096
"""So many commits that another replica was picked for, or that are not folded yet, are remembered."""
type Tell[S: State, C: Chained] = Callable[[Replica[S, C], C, Sha256], None]


class Picked[S: State, C: Chained]:
    """Tells `tell` of a commit, with its SHA-256, once NATS has picked this replica for it and the fold has passed it.

    What is not part of the log is never told.
    """

    def __init__(self, follower: Follower[S, C], log: Log, queue: str, tell: Tell[S, C]) -> None:
        self._follower = follower
        self._log = log
        self._queue = queue
        self._tell = tell
        self._picked: OrderedDict[int, None] = OrderedDict()
        self._folded: OrderedDict[int, tuple[Replica[S, C], C, Sha256]] = OrderedDict()
        self._followings: list[Following] = []

    async def start(self) -> None:
        """Tells from now on."""
        self._follower.watchers.append(self._on_folded)
        for room in self._follower.rooms:
            self._followings.append(await self._log.follow(room, self._on_picked, queue=self._queue))

    async def stop(self) -> None:
        """Tells no more."""
        for following in self._followings:
            await following.stop()
        self._follower.watchers.remove(self._on_folded)

    def _on_picked(self, stored: Stored) -> None:
        folded = self._folded.pop(stored.sequence, None)
        if folded is not None:
            self._tell(*folded)
        else:
            _remember(self._picked, stored.sequence, None)

    def _on_folded(self, replica: Replica[S, C], commit: C, stored: Stored) -> None:
        if stored.sequence in self._picked:
            del self._picked[stored.sequence]
            self._tell(replica, commit, replica.state.head)
        else:
            _remember(self._folded, stored.sequence, (replica, commit, replica.state.head))


def _remember[T](memory: OrderedDict[int, T], sequence: int, value: T) -> None:
    memory[sequence] = value
    if len(memory) > REMEMBERED_MAX:
        memory.popitem(last=False)
