"""Where requests come in: so many wait to be handled, and the next is told `busy` at once.

nats-py would let half a million requests wait, and answer each of them late. FastStream's subscribers stand behind the
gate: it takes what arrives in the reading loop itself, before any queue, and hands on in the order of arrival.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any, Final

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from contracts.codec import encode
from contracts.outcomes import Rejected
from services.bus.background import begun
from services.bus.placed import placed
from services.bus.shares import Shares
from services.bus.subscribed import Subscribed

logger: Final = structlog.get_logger(__name__)

REPLIES: Final = ("_R_.", "_INBOX.")
"""Where an answer may go: a reply subject is the asker's word, and must not be somebody else's subject."""
REQUESTS: Final = ("command.", "query.", "cashier.")
WAITING_MAX: Final = 256
"""So many requests wait in front of one service."""
PLAYER_WAITING_MAX: Final = 64
"""So many of one player: who floods is `busy`, and the others are served."""
TOLD_S: Final = 1.0
"""So often at most the log is told how many were turned away, or dropped."""
BUSY: Final = encode(Rejected(code="busy", message="Too much is asked at once; send the same again."))

type Handle = Callable[[Msg], Awaitable[Any]]


class Gate:
    """The gate of one service.

    `publish` sends an answer; while `stalled` says so, what arrives is dropped unanswered.
    """

    def __init__(self, publish: Callable[[str, bytes], None], stalled: Callable[[], bool]) -> None:
        self._publish = publish
        self._stalled = stalled
        self._waiting: deque[tuple[Msg, Handle]] = deque()
        self._shares: Shares[str] = Shares(WAITING_MAX, PLAYER_WAITING_MAX)
        self._handling: asyncio.Task[object] | None = None
        self._told_s: dict[str, float] = {}
        self.turned_away = 0
        self.dropped = 0

    @property
    def waiting(self) -> int:
        """How many requests have arrived and not been handled yet."""
        return len(self._waiting)

    def stand_before(self, client: Client) -> None:
        """Has the requests that are subscribed to with a callback on this connection, as FastStream does, come here."""
        plain = client.subscribe

        async def subscribe(
            subject: str,
            queue: str = "",
            cb: Handle | None = None,
            **options: Any,  # noqa: ANN401 - nats-py's own
        ) -> Subscription:
            if cb is None or not subject.startswith(REQUESTS):
                return await plain(subject, queue, cb, **options)
            subscribed = await Subscribed.to(client, subject, lambda message: self.take(message, cb), queue)
            return subscribed.subscription

        client.subscribe = subscribe  # type: ignore[method-assign, assignment]

    def take(self, message: Msg, handle: Handle) -> None:
        """Has a request handled soon, or tells it `busy`; drops it during a stall, or if it must not be answered."""
        if self._stalled():
            return
        if not message.reply.startswith(REPLIES):
            self._drop(message)
            return
        player = player_of(message.subject)
        if self._shares.is_full(player):
            self._turn_away(message)
            return
        self._shares.comes(player)
        self._waiting.append((message, handle))
        if self._handling is None or self._handling.done():
            self._handling = begun(self._handle(), "gate")

    async def _handle(self) -> None:
        while self._waiting:
            message, handle = self._waiting[0]
            try:
                await handle(message)
            except Exception:  # a fault in one request must not stop the others; it gets no answer
                logger.exception("request_failed", subject=message.subject, **placed(message.subject))
            finally:
                self._waiting.popleft()
                self._shares.leaves(player_of(message.subject))
        self._handling = None

    def _turn_away(self, message: Msg) -> None:
        self.turned_away += 1
        self._publish(message.reply, BUSY)
        self._tell(logger.warning, "requests_turned_away", message, in_all=self.turned_away)

    def _drop(self, message: Msg) -> None:
        self.dropped += 1
        self._tell(logger.warning, "request_dropped", message, reply=message.reply, in_all=self.dropped)

    def _tell(self, log: Callable[..., object], event: str, message: Msg, **facts: str | int) -> None:
        """Says so at most once a second: a flood must not become a flood of lines."""
        now = asyncio.get_running_loop().time()
        if now - self._told_s.get(event, -TOLD_S) >= TOLD_S:
            self._told_s[event] = now
            log(event, subject=message.subject, **placed(message.subject), **facts)


def player_of(subject: str) -> str | None:
    """The player who asks on a command's or query's subject; None for anybody else."""
    head, _, name = subject.rpartition(".")
    return name if head.endswith(".player") else None
