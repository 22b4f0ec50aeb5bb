"""Which aggregates owe something: some at once, others once a deadline is past (DESIGN 3)."""

from heapq import heappop, heappush
from itertools import count

from contracts.data import Instant
from services.aggregate.chain import Chained, State
from services.bus.replica import Replica

type Key = tuple[str, str]


def owed_since[S: State, C: Chained](replica: Replica[S, C], service: str) -> Instant | None:
    """Since when a service owes what the state says: its deadline, or the commit before it; None: it owes nothing."""
    owed, made = replica.debt, replica.state.at
    if owed is None or owed.service != service or made is None:
        return None
    return made if owed.due is None else max(owed.due, made)


class Owing[S: State, C: Chained]:
    """The replicas whose state says that one service owes something.

    A deadline lies in a heap until it is past, so that nobody looks at 10,000 tables of which each waits for a player.
    Of each table the heap holds the earliest deadline that was ever noted and is not past yet: what the table owes by
    then is looked at then.
    """

    def __init__(self, service: str) -> None:
        self._service = service
        self._now: dict[Key, Replica[S, C]] = {}
        self._later: list[tuple[Instant, int, Replica[S, C]]] = []
        self._waits: dict[Key, Instant] = {}
        self._numbers = count()

    def note(self, replica: Replica[S, C]) -> None:
        """Looks at a replica whose debt may have changed."""
        owed = replica.debt
        if owed is None or owed.service != self._service:
            self._now.pop(replica.key, None)
        elif owed.due is None:
            self._now[replica.key] = replica
        else:
            self._now.pop(replica.key, None)
            self._wait(replica, owed.due)

    def due(self, at: Instant) -> list[Replica[S, C]]:
        """Those that owe something at this moment."""
        while self._later and self._later[0][0] <= at:
            due, _, replica = heappop(self._later)
            if self._waits.get(replica.key) != due:
                continue  # an earlier deadline came after this one, and was looked at
            del self._waits[replica.key]
            owed = replica.debt
            if owed is None or owed.service != self._service:
                continue
            if owed.is_due(at):
                self._now[replica.key] = replica
            elif owed.due is not None:
                self._wait(replica, owed.due)
        return list(self._now.values())

    def _wait(self, replica: Replica[S, C], due: Instant) -> None:
        waits = self._waits.get(replica.key)
        if waits is None or due < waits:
            self._waits[replica.key] = due
            heappush(self._later, (due, next(self._numbers), replica))
