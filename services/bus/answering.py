"""How queries are answered: so many at the same time, and so many of one who asks; the next is `busy` at once."""

from collections.abc import Awaitable, Callable
from typing import Final

import msgspec
import structlog

from contracts.codec import encode
from contracts.outcomes import Rejected
from contracts.plain import in_words
from contracts.subjects import ActorKind, QuerySubject, Question, read_query
from services.bus import misnamed
from services.bus.background import Background
from services.bus.log import Refused, Unavailable
from services.bus.measures import Measures
from services.bus.shares import Shares

logger: Final = structlog.get_logger(__name__)

ANSWERING_MAX: Final = 256
"""So many queries are answered by one service at the same time."""
SENDER_ANSWERING_MAX: Final = 16
"""So many of one who asks, player or not: who floods is `busy`, and the others are answered."""
FINISH_S: Final = 5.0

type Answer = Callable[[QuerySubject, bytes], Awaitable[msgspec.Struct]]
"""Gives the answer to a query. Raises `msgspec.MsgspecError` for a body that it cannot read."""
type Sender = tuple[ActorKind, str]
"""Who asks: kind and name."""


class Answering:
    """The answers of one service that are under way. `publish` sends one, `measures` is told of each."""

    def __init__(self, service: str, publish: Callable[[str, bytes], None], measures: Measures) -> None:
        self._service = service
        self._publish = publish
        self._measures = measures
        self._background = Background(service=service)
        self.shares: Shares[Sender] = Shares(ANSWERING_MAX, SENDER_ANSWERING_MAX)

    def take(self, what: Question, answer: Answer, subject: str, reply: str, body: bytes) -> None:
        """Has a query answered. An answer that waits for nothing is out when this returns, and takes up no share."""
        asked = read_query(subject)
        if asked is None:
            misnamed.answer(self._publish, subject, reply)
        elif self.shares.is_full(sender_of(asked)):
            self._say(what, reply, Rejected(code="busy", message="Too much is asked at once; ask again."))
        else:
            self._background.begin(self._answer(what, answer, asked, reply, body), "query", at_once=True)

    async def finish(self) -> None:
        """Returns when what is under way is answered, or takes too long."""
        await self._background.finish(FINISH_S)

    async def _answer(self, what: Question, answer: Answer, asked: QuerySubject, reply: str, body: bytes) -> None:
        with self.shares.taken(sender_of(asked)):
            try:
                found = await answer(asked, body)
            except msgspec.MsgspecError as error:
                found = Rejected(code="malformed", message=f"The query cannot be read: {in_words(str(error))}.")
            except (Unavailable, Refused) as error:
                found = Rejected(code="busy", message=f"The log cannot be used now: {error}. Ask again.")
            except Exception:
                logger.exception("query_failed", service=self._service, query=what, room=asked.room, table=asked.table)
                return  # without an answer; the next one may have one
            self._say(what, reply, found)

    def _say(self, what: Question, reply: str, answer: msgspec.Struct) -> None:
        self._measures.asked(what, answer)
        self._publish(reply, encode(answer))


def sender_of(asked: QuerySubject) -> Sender:
    """Who asks."""
    return asked.kind, asked.name
