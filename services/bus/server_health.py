"""How the servers are, as they say themselves: whether each has found everything that lies on its disk."""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from services.bus.accounts import SERVER_HEALTH
from services.bus.mailbox import Mailbox, NoAnswer, NobodyThere, NotSent

logger: Final = structlog.get_logger(__name__)

ANSWER_S: Final = 2.0
WELL_S: Final = 10.0
"""So long servers may take to be well: those of a cluster find one another first."""
AGAIN_S: Final = 0.5


class _Health(msgspec.Struct):
    status: str = ""
    error: str = ""


class _Server(msgspec.Struct):
    name: str = ""


class _Answer(msgspec.Struct):
    server: _Server
    data: _Health


async def unwell(client: Client, servers: int) -> Sequence[str]:
    """A sentence for each of so many servers that is not well, once they had time to be; for the deploy role.

    Those that do not answer say nothing: who has no right to ask learns nothing.
    """
    mailbox = await Mailbox.open(client)
    until = asyncio.get_running_loop().time() + WELL_S
    try:
        while True:
            ails = await _asked(mailbox, servers)
            if not ails or asyncio.get_running_loop().time() > until:
                return ails
            await asyncio.sleep(AGAIN_S)
    finally:
        await mailbox.close()


async def _asked(mailbox: Mailbox, servers: int) -> Sequence[str]:
    answers: list[_Answer] = []

    def is_last(message: Msg) -> bool:
        answers.append(msgspec.json.decode(message.data, type=_Answer))
        return len(answers) >= servers

    try:
        await mailbox.ask_all(SERVER_HEALTH, b"", ANSWER_S, is_last)
    except (NobodyThere, NotSent) as error:
        logger.warning("health_not_known", reason=str(error))
    except NoAnswer:
        pass  # fewer servers than streams want: those that are there have answered
    return [
        f"{each.server.name} says {each.data.error or each.data.status}" for each in answers if each.data.status != "ok"
    ]
