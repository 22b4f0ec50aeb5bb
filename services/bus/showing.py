"""What people are shown of a log: sent by one replica at once, and by another where that one did not (DESIGN 3).

Such messages are stored nowhere, and whoever was to send one may be gone before it did. So every replica of a service
notes what is due to be shown as it folds it, listens to what is shown, and shows what it has not heard in time. Who
watches gets the messages of one `key` in the order of their n; one may come twice.
"""

from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from itertools import islice
from random import Random
from typing import Final

import msgspec

from contracts.data import Milliseconds
from services.bus.tracing import UNTRACED, Carried, Tracer

REPEAT_S: Final = 0.3
"""What was not heard for so long, a random part more and a few times what it took of late, is shown by another."""
TRIES_MAX: Final = 4
"""A message that was sent so often and never heard of is let go: nobody can hear it, or this replica cannot."""
LATE_MAX: Final = 128
"""So many are repeated at one look: what is new goes first."""
HEARD_MAX: Final = 65_536
"""Of so many keys it is remembered what was shown last."""
DUE_MAX: Final = 100_000
"""So many messages wait to be heard of; the oldest is let go."""
PUBLISH: Final = "publish"
"""What the span of sending a message is called."""

type Sent = tuple[str, bytes]
"""A subject and a body."""
type View = Callable[[], Sent | None]
"""Makes the message; None where there is nothing to show any more."""


class Due(msgspec.Struct, eq=False):
    """A message that has not been heard: `late` from when on anybody sends it, `since` when it was sent or noted.

    `trace` is the header of the commit that it shows; without one the message carries none.
    """

    n: int
    view: View
    late: float
    since: float
    standing: bool
    trace: str = ""
    mine: bool = False
    sent: int = 0


class Showing[K: Hashable]:
    """What one replica knows of what is shown; times are seconds of the loop's clock."""

    def __init__(self, send: Callable[[str, bytes], None], random: Random, tracer: Tracer = UNTRACED) -> None:
        self.repeated = 0
        """How many messages of another were sent, or sent again."""
        self.unheard = 0
        """How many were let go that were sent again and again, and never heard of."""
        self._send = send
        self._random = random
        self._tracer = tracer
        self._due: OrderedDict[K, deque[Due]] = OrderedDict()
        self._count = 0
        self._heard: OrderedDict[K, int] = OrderedDict()
        self._takes_s = 0.0

    @property
    def waiting(self) -> int:
        """How many messages have not been heard yet."""
        return self._count

    @property
    def takes_ms(self) -> Milliseconds:
        """How long it took of late until a message that was sent was heard."""
        return round(self._takes_s * 1000)

    def due(self, key: K, n: int, view: View, now: float, *, standing: bool = False, trace: str = "") -> None:
        """Notes that message `n` is to be shown by somebody. One that is `standing` is void when a later one is due."""
        if n <= self._heard.get(key, -1):
            return
        queue = self._due.setdefault(key, deque())
        self._count += 1
        queue.append(Due(n, view, now + self._patience(), now, standing, trace))
        for old in [each for each in queue if each.standing and each is not queue[-1]]:
            self._drop(key, old)
        if self._count > DUE_MAX:
            oldest = next(iter(self._due))
            self._drop(oldest, self._due[oldest][0])

    def show(self, key: K, n: int, now: float) -> None:
        """Sends message `n`, as soon as those before it are shown."""
        for each in self._due.get(key, ()):
            if each.n == n:
                each.mine = True
        self._advance(key, now)

    def heard(self, key: K, n: int, now: float) -> None:
        """Notes that message `n` was shown, by whomever, and so all before it."""
        self._heard[key] = max(n, self._heard.get(key, -1))
        self._heard.move_to_end(key)
        if len(self._heard) > HEARD_MAX:
            self._heard.popitem(last=False)
        for each in [each for each in self._due.get(key, ()) if each.n <= n]:
            if each.sent == 1 and each.n == n:
                self._takes_s += (now - each.since - self._takes_s) / 8
            self._drop(key, each)
        self._advance(key, now)

    def forget(self, key: K) -> None:
        """Begins anew with a key: its log is not what it was."""
        self._heard.pop(key, None)
        self._count -= len(self._due.pop(key, ()))

    def look(self, now: float) -> None:
        """Sends what is late, a bounded number at a time."""
        for key, each in list(islice(self._late(now), LATE_MAX)):
            if each.late > now or each not in self._due.get(key, ()):
                continue  # sent, or void, since one before it was
            if each.sent >= TRIES_MAX:
                self.unheard += 1
                self._drop(key, each)
            else:
                self.repeated += 1
                self._show(key, each, now)
            self._advance(key, now)

    def _late(self, now: float) -> Iterator[tuple[K, Due]]:
        """What is late, but nothing before whose turn it is."""
        for key, queue in self._due.items():
            for each in queue:
                if each.late <= now:
                    yield key, each
                elif not each.sent:
                    break

    def _advance(self, key: K, now: float) -> None:
        """Sends what is this replica's own, up to the first that is another's and not heard yet."""
        for each in list(self._due.get(key, ())):
            if not each.sent:
                if not each.mine:
                    return
                self._show(key, each, now)

    def _show(self, key: K, due: Due, now: float) -> None:
        due.sent, due.since, due.late = due.sent + 1, now, now + self._patience()
        message = due.view()
        if message is None:
            self._drop(key, due)
        else:
            with self._tracer.span(PUBLISH, of=(due.trace,), kind="told") if due.trace else Carried(""):
                self._send(*message)

    def _patience(self) -> float:
        return REPEAT_S * (1 + self._random.random()) + 4 * self._takes_s

    def _drop(self, key: K, due: Due) -> None:
        queue = self._due[key]
        queue.remove(due)
        self._count -= 1
        if not queue:
            del self._due[key]
