"""What a service is on the bus, told to the one loop that does its work."""

from collections.abc import Callable, Sequence

import msgspec

from contracts.commit import Cause, Commit
from contracts.data import Instant
from contracts.events import AnyEvent, Event
from services.aggregate.chain import Chained, State
from services.aggregate.table import Table
from services.bus.aggregates import Aggregate
from services.bus.replica import Replica

type Owes[S, E] = Callable[[S, Instant], tuple[E, ...]]
type Seen[S: State, C: Chained] = Callable[[Replica[S, C], C], None]


class Role[S: State, C: Chained, E: Event, K](msgspec.Struct, frozen=True):
    """At what a service works, the events it `owes` by its pure decider, and the facts it `answers`.

    `answers` name facts, `table.street_closed` and the like, after which the service may owe something. `appended` is
    told of each of its own commits once it is acknowledged: what leaves the log begins there. `owing` says whether a
    service owes something whose debts do not follow from this aggregate's own state alone; the sweep asks it then, and
    `causes` gives the `traceparent` headers of what they follow from.
    """

    of: Aggregate[S, C, E, K]
    service: str
    owes: Owes[S, E]
    answers: tuple[str, ...]
    appended: Seen[S, C] | None = None
    owing: Callable[[S, Instant], bool] | None = None
    causes: Callable[[S], Sequence[str]] | None = None


TableRole = Role[Table, Commit, AnyEvent, Cause]
