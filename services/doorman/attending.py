"""The doorman at work: answers servers, sends away who is revoked, and leaves nobody more than a share of the room.

The server drops whoever it has no answer about in time, so nothing is answered late, and nothing twice.
"""

import asyncio
from collections.abc import Mapping
from itertools import batched
from secrets import token_bytes
from typing import Final

import nats.errors
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.data import Id
from services.access.callout import Callout
from services.access.nkeys import NoKey
from services.access.revocation import Watched
from services.access.sealing import NONCE_BYTES, CannotOpen, Sealer
from services.bus.application import Service
from services.bus.background import begun, going_on
from services.doorman.answer import answer
from services.doorman.disconnecting import keep_to, newly, send_away
from services.doorman.grant import Grant, grant
from services.doorman.question import NoQuestion, asked

logger: Final = structlog.get_logger(__name__)

REPLIES: Final = "$SYS._INBOX."
"""Where servers wait for answers."""
COUNT_S: Final = 0.25
"""So long after an answer the server has let the player in; who comes often meanwhile is counted once."""
WATCH_S: Final = 1.0
"""How often the doorman looks who is revoked, though nobody comes."""
PLAYERS_CONNECTIONS_MAX: Final = 16
"""So many connections has one player; of more the oldest end, for the room is for all."""
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
        self._counting: dict[Id, asyncio.Task[object]] = {}
        self._again: set[Id] = set()
        self._told: str | None = None

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
        found = grant(question, self._keys.issuers, self._revocations(), at)
        sealed = self._sealer.sealed(answer(question, found, self._keys.seed, at), by, token_bytes(NONCE_BYTES))
        self._service.publish(message.reply, sealed)
        self._service.measures.entered("" if isinstance(found, Grant) else found.fault)
        if isinstance(found, Grant):
            self._count(found.player)
            logger.info("player_let_in", player=found.player, until=found.until.isoformat())
        else:
            facts = {"fault": found.fault, "player": found.player, "host": question.client_info.host}
            self._service.process.seldom.say(logger.info, "player_refused", reason=found.message, **facts)
        await asyncio.sleep(0)  # thousands may come back at once: probes are answered between them

    def _revocations(self) -> Mapping[Id, int]:
        """Up to when whose credentials are revoked; why that is not known any better is told once."""
        players, fault = self._revoked.players, self._revoked.fault
        if fault is not None and fault != self._told:
            logger.error("revoked_doubtful", reason=fault)
        self._told = fault
        return players

    def _count(self, player: Id) -> None:
        """Sees to it that a player has not too many connections; when very many come at once, only some are counted."""
        if player in self._counting:
            self._again.add(player)
        elif len(self._counting) < AT_ONCE_MAX:
            self._counting[player] = begun(self._keep_to_share(player), "count", service=self._service.user)

    async def _keep_to_share(self, player: Id) -> None:
        client = self._service.client
        assert client is not None  # a question came over it
        try:
            self._again.add(player)
            while player in self._again:
                await asyncio.sleep(COUNT_S)
                self._again.discard(player)
                await keep_to(client, player, PLAYERS_CONNECTIONS_MAX)
        except (nats.errors.Error, OSError) as error:
            self._service.process.seldom.say(logger.warning, "players_not_sent_away", reason=str(error))
        finally:
            del self._counting[player]

    async def watch(self, client: Client) -> None:
        """Sends away whoever is revoked, as long as it runs."""
        before: Mapping[Id, int] | None = None
        while True:
            with going_on("revoked", service=self._service.user):
                before = await self._sent_away(client, before)
            await asyncio.sleep(WATCH_S)

    async def _sent_away(self, client: Client, before: Mapping[Id, int] | None) -> Mapping[Id, int] | None:
        """Sends away whoever was revoked since `before`; what is known now, where all of them were."""
        now = self._revocations()
        try:
            for some in batched(newly(before, now), AT_ONCE_MAX):
                await asyncio.gather(*(send_away(client, player, until) for player, until in some))
        except (nats.errors.Error, OSError) as error:
            self._service.process.seldom.say(logger.warning, "players_not_sent_away", reason=str(error))
            return before
        return now

    async def leave(self, watching: asyncio.Task[object]) -> None:
        """Ends what it does beside answering."""
        tasks = (watching, *self._counting.values())
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)

    def doubts(self) -> dict[str, str]:
        """What an operator has to mend, though players come in."""
        return {} if self._revoked.fault is None else {"doorman.revoked": self._revoked.fault}
