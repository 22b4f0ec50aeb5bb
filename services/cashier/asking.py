"""How the cashier tells the tables: each command again for as long as it is wanted, and more and more seldom.

Whoever wants a command says so every time it looks. Nobody waits for the answer: what a table has taken its log says.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Final, Protocol

import msgspec
import structlog

from contracts.codec import decode_outcome
from contracts.outcomes import Rejected
from services.bus.background import Background
from services.bus.mailbox import NoAnswer, NobodyThere, NotSent
from services.bus.placed import placed
from services.bus.tracing import carried

logger: Final = structlog.get_logger(__name__)

ANSWER_S: Final = 2.5
"""A table holds a command for up to two seconds."""
REST_S: Final = 0.2
REST_S_MAX: Final = 5.0
"""So long at most a command is not sent again, however often it was in vain."""
FORGOTTEN_S: Final = 30.0
"""A command that nobody wanted for so long is a new one."""
UNDER_WAY_MAX: Final = 512
"""So many are under way at the same time; the next is sent when somebody wants it again."""


class Answer(Protocol):
    """What comes back."""

    @property
    def data(self) -> bytes:
        """Its body."""


class Way(Protocol):
    """How a command gets to a table, and its answer back: `Mailbox`, or whatever stands for it."""

    async def ask(self, subject: str, data: bytes, timeout_s: float, headers: Mapping[str, str] | None, /) -> Answer:
        """The answer. Raises `NotSent`, `NobodyThere` or `NoAnswer`."""


@dataclass
class Asked:
    """A command that was sent: not again before the loop time `until`; after an answer it rests for `rest_s`."""

    until: float
    rest_s: float
    wanted: float


class Asking:
    """Sends commands by one way."""

    def __init__(self, way: Way) -> None:
        self._way = way
        self._asked: OrderedDict[tuple[str, bytes], Asked] = OrderedDict()
        self._background = Background(service="cashier")

    def ask(self, subject: str, body: bytes) -> None:
        """Sends a command, unless it is under way or was sent a short while ago; never raises, never waits."""
        now, key = asyncio.get_running_loop().time(), (subject, body)
        self._forget(now)
        asked = self._asked.setdefault(key, Asked(now, REST_S, now))
        asked.wanted = now
        self._asked.move_to_end(key)
        if now < asked.until or self._background.count >= UNDER_WAY_MAX:
            return
        asked.until = inf
        self._background.begin(self._send(subject, body, asked), "asking")

    async def stop(self) -> None:
        """Waits for no answer any more."""
        self._background.cancel()
        await self._background.finish(ANSWER_S)

    async def _send(self, subject: str, body: bytes, asked: Asked) -> None:
        try:
            outcome = decode_outcome((await self._way.ask(subject, body, ANSWER_S, carried())).data)
        except (NoAnswer, NobodyThere, NotSent, msgspec.MsgspecError):
            pass  # what is still wanted is sent again
        else:
            if isinstance(outcome, Rejected):
                facts = {**placed(subject), "code": outcome.code, "message": outcome.message}
                logger.info("table_declined", subject=subject, **facts)
        finally:
            asked.until = asyncio.get_running_loop().time() + asked.rest_s
            asked.rest_s = min(asked.rest_s * 2, REST_S_MAX)

    def _forget(self, now: float) -> None:
        while self._asked:
            oldest = next(iter(self._asked.values()))
            if oldest.until == inf or now - oldest.wanted < FORGOTTEN_S:
                return
            self._asked.popitem(last=False)
