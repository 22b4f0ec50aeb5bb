"""The heads that a service publishes of its tables: by them a loss at a log's end is found out (DESIGN 1)."""

import asyncio
from collections.abc import Callable
from typing import Final

from contracts import subjects
from contracts.codec import encode
from contracts.commit import Head
from services.aggregate.chain import Chained, State
from services.bus.follower import Follower
from services.bus.log import Log

HEAD_S: Final = 1.0
"""So often at most a table's head is published while its hand is in progress."""

type Key = tuple[str, str]


class Vouching[S: State, C: Chained]:
    """What one service still has to publish. It may be later than its own last commit, and is never earlier."""

    def __init__(self, service: str, follower: Follower[S, C], publish: Callable[[str, bytes], None]) -> None:
        self._service = service
        self._follower = follower
        self._publish = publish
        self._published: dict[Key, float] = {}
        self._waiting: dict[Key, Head] = {}
        self._told: dict[Key, Head] = {}

    def note(self, key: Key, head: Head, *, at_once: bool) -> None:
        """Publishes the head of one's own commit: `at_once`, or when the last one is a second old."""
        self._waiting[key] = head
        if at_once or self._is_due(key):
            self._leave(key)

    def publish_due(self) -> None:
        """The last commit before a silence must be known too: a log that loses it would look whole.

        So must a commit that the log has lost already: else nobody misses it who did not see it.
        """
        for key, head in self._follower.lost.items():
            if self._told.get(key) != head:
                self._told[key] = self._waiting[key] = head
        for key in list(self._waiting):
            if self._is_due(key):
                self._leave(key)

    async def leave_all(self, log: Log) -> None:
        """Publishes what waits, and waits until it is kept, or cannot be."""
        waiting = {key: self._latest(key, head) for key, head in self._waiting.items()}
        self._waiting.clear()
        await asyncio.gather(*(log.leave_head(self._service, *key, encode(head)) for key, head in waiting.items()))

    def _is_due(self, key: Key) -> bool:
        return asyncio.get_running_loop().time() - self._published.get(key, -HEAD_S) >= HEAD_S

    def _leave(self, key: Key) -> None:
        self._published[key] = asyncio.get_running_loop().time()
        head = self._latest(key, self._waiting.pop(key))
        self._publish(subjects.heads(self._service, *key, self._follower.of.archive.roots), encode(head))

    def _latest(self, key: Key, own: Head) -> Head:
        """Another replica of the service may have published a later head by now, which must not be taken back."""
        held = self._follower.replica(*key).held
        return held if held is not None and held.n > own.n else own
