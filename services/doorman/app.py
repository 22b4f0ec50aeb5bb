"""The doorman service: servers ask it about everybody whom they do not know, and it lets players in.

The server drops whoever it has no answer about in time, so nothing is answered late, and nothing twice.
"""

import asyncio
import contextlib
import os
from collections.abc import AsyncIterator, Mapping
from itertools import batched
from secrets import token_bytes
from typing import Final

import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.data import Id
from services.access import callout, revocation
from services.access.callout import Callout, NoCallout
from services.access.nkeys import NoKey
from services.access.revocation import Watched
from services.access.sealing import NONCE_BYTES, CannotOpen, Sealer
from services.bus.application import Service
from services.bus.attendant import Attendant
from services.bus.faults import CannotServe
from services.bus.process import Process
from services.bus.settings import Settings
from services.doorman.answer import answer
from services.doorman.disconnecting import newly, send_away
from services.doorman.grant import Grant, grant
from services.doorman.question import NoQuestion, asked

logger: Final = structlog.get_logger(__name__)

QUESTIONS: Final = "$SYS.REQ.USER.AUTH"
"""Where servers ask, in the doorman's account alone."""
REPLIES: Final = "$SYS._INBOX."
"""Where servers wait for answers."""
WATCH_S: Final = 1.0
"""How often the doorman looks who is revoked, though nobody comes."""
AT_ONCE_MAX: Final = 16
"""So many players are sent away at the same time."""
BY: Final = "Nats-Server-Xkey"
"""The header with the key of the server that sealed a question."""


class Doorman:
    """Answers servers."""

    def __init__(self, service: Service, keys: Callout, revoked: Watched) -> None:
        self._service = service
        self._keys = keys
        self._sealer = Sealer(keys.xkey)
        self._revoked = revoked

    async def take(self, message: Msg) -> None:
        """Answers one question; what no server asked is not answered."""
        by = (message.headers or {}).get(BY, "")
        try:
            question = asked(self._sealer.opened(message.data, by).decode())
        except (CannotOpen, NoKey, NoQuestion, UnicodeDecodeError) as fault:
            self._service.process.seldom.say(logger.error, "question_not_understood", reason=str(fault))
            return
        if not message.reply.startswith(REPLIES):
            logger.error("question_not_answered", reply=message.reply)
            return
        at = self._service.process.clock.now()
        found = grant(question, self._keys.issuers, self._revoked.players, at)
        sealed = self._sealer.sealed(answer(question, found, self._keys.seed, at), by, token_bytes(NONCE_BYTES))
        self._service.publish(message.reply, sealed)
        self._service.measures.entered("" if isinstance(found, Grant) else found.fault)
        if isinstance(found, Grant):
            logger.info("player_let_in", player=found.player, until=found.until.isoformat())
        else:
            facts = {"fault": found.fault, "player": found.player, "host": question.client_info.host}
            self._service.process.seldom.say(logger.info, "player_refused", reason=found.message, **facts)
        await asyncio.sleep(0)  # thousands may come back at once: probes are answered between them

    async def watch(self, client: Client) -> None:
        """Sends away whoever is revoked, as long as it runs."""
        before: Mapping[Id, int] | None = None
        while True:
            now = dict(self._revoked.players)
            try:
                for some in batched(newly(before, now), AT_ONCE_MAX):
                    await asyncio.gather(*(send_away(client, player, until) for player, until in some))
                before = now
            except (nats.errors.Error, OSError) as error:
                self._service.process.seldom.say(logger.warning, "players_not_sent_away", reason=str(error))
            await asyncio.sleep(WATCH_S)

    def doubts(self) -> dict[str, str]:
        """What an operator has to mend, though players come in."""
        return {} if self._revoked.fault is None else {"doorman.revoked": self._revoked.fault}


def build(process: Process) -> Service:
    """The service, ready to run in `process`."""
    service = Attendant("doorman", process)

    @contextlib.asynccontextmanager
    async def attending() -> AsyncIterator[None]:
        beside = process.settings.credentials_file
        try:
            keys = Callout.read(beside.with_name(callout.NAME))
        except NoCallout as fault:
            raise CannotServe(str(fault)) from None
        doorman = Doorman(service, keys, Watched(beside.with_name(revocation.NAME)))
        process.doubts.append(doorman.doubts)
        assert service.client is not None
        questions = await service.client.subscribe(QUESTIONS, queue=service.user, cb=doorman.take)
        watching = asyncio.create_task(doorman.watch(service.client), name="revoked")
        yield
        watching.cancel()
        await asyncio.wait((watching,))
        await questions.unsubscribe()

    service.during(attending)
    return service


app = build(Process(Settings.from_environment(os.environ))).app
