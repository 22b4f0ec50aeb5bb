"""Questions and answers: the same bytes again until there is an answer, which only its own question can have."""

import asyncio
import secrets
from collections.abc import Callable
from itertools import count
from typing import Any, Final, Self

import msgspec
from nats.aio.msg import Msg

from contracts.client.errors import Unanswered
from contracts.client.heard import Heard
from contracts.client.line import Away, Line
from contracts.client.patience import AGAIN_S, FIRST_AGAIN_S

NO_RESPONDERS: Final = "503"
TOKEN_BYTES: Final = 12
"""So many random bytes name an inbox: nobody else can have anything sent there."""

type Read[Answer] = Callable[[bytes], Answer | None]
"""Reads an answer; None for the answer to another question. Raises `msgspec.MsgspecError` for what is none."""


class Asked[Answer]:
    """A question that waits for its answer."""

    def __init__(self, read: Read[Answer]) -> None:
        self.answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self.nobody = False
        """Whether the server said that nobody listens, when it was sent last."""
        self._read = read

    def take(self, message: Msg) -> bool:
        """Takes what came in; False for what is no answer to it."""
        if (message.headers or {}).get("Status") == NO_RESPONDERS:
            self.nobody = True
            return True
        try:
            answer = self._read(message.data)
        except msgspec.MsgspecError:
            return False
        if answer is not None and not self.answer.done():
            self.answer.set_result(answer)
        return answer is not None

    def fail(self, error: Exception) -> None:
        """There will be no answer."""
        if not self.answer.done():
            self.answer.set_exception(error)


class Post:
    """Asks on one line. Made by `open`.

    `again` counts how often something was sent another time, `dropped` what came in and answered nothing that was
    asked, `answers_s` is how long the last answers took.
    """

    def __init__(self, line: Line) -> None:
        self.again = 0
        self.dropped = 0
        self._line = line
        self._inbox = f"{line.identity.inbox_prefix}.{secrets.token_hex(TOKEN_BYTES)}"
        self._tokens = count()
        self._asked: dict[str, Asked[Any]] = {}
        self._heard: Heard | None = None

    @classmethod
    async def open(cls, line: Line) -> Self:
        """Listens for answers. Raises `Denied`, and the line's fault."""
        post = cls(line)
        post._heard = await line.listen(f"{post._inbox}.*", post._arrived, post._fail)
        return post

    async def ask[Answer](
        self, subject: str, body: bytes, read: Read[Answer], within_s: float, final: Callable[[Answer], bool]
    ) -> Answer:
        """The first answer that is `final`; what is not is asked again, as is what is not answered.

        Raises `Denied`, `Unanswered`, `Unsendable`, and the line's fault.
        """
        clock, token = asyncio.get_running_loop(), str(next(self._tokens))
        until, wait_s = clock.time() + within_s, FIRST_AGAIN_S
        asked: Asked[Answer] = Asked(read)
        self._asked[token] = asked
        try:
            with self._line.told_of(subject, asked.fail):
                while True:
                    asked.nobody = False
                    sent_at = clock.time()
                    away = await self._send(subject, body, token)
                    await asyncio.wait((asked.answer,), timeout=min(wait_s, max(0.0, until - clock.time())))
                    if asked.answer.done():
                        answer = asked.answer.result()
                        if final(answer):
                            return answer
                        asked.answer = clock.create_future()
                    await asyncio.sleep(min(sent_at + wait_s, until) - clock.time())
                    if clock.time() >= until:
                        raise Unanswered(f"no answer on {subject} within {within_s:g} s: {_why(asked, away=away)}")
                    self.again += 1
                    wait_s = AGAIN_S
        finally:
            del self._asked[token]

    async def _send(self, subject: str, body: bytes, token: str) -> bool:
        """Sends it, if there is a connection; tells whether there was none."""
        try:
            await self._line.send(subject, body, f"{self._inbox}.{token}")
        except Away:
            return True
        return False

    def _arrived(self, message: Msg) -> None:
        asked = self._asked.get(message.subject.rpartition(".")[2])
        if asked is None:
            return  # too late: nobody waits any more
        if not asked.take(message):
            self.dropped += 1

    def _fail(self, error: Exception) -> None:
        for asked in list(self._asked.values()):
            asked.fail(error)


def _why(asked: Asked[Any], *, away: bool) -> str:
    if away:
        return "there is no connection"
    return "nobody answers there" if asked.nobody else "none came"
