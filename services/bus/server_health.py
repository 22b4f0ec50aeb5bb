"""How the servers are, as they say themselves: whether each has found everything that lies on its disk."""

import asyncio
from typing import Final, NamedTuple

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


_DETAILED: Final = b'{"details":true}'
"""Asked so, a server names every stream that it did not find again, and not only the first."""


class Ailment(NamedTuple):
    """What a server says of itself; `stream` is one that lies on its disk, and that it could not recover."""

    said: str
    stream: str = ""


class Health(NamedTuple):
    """What ails the servers, and how many of them did not say how they are."""

    ailments: tuple[Ailment, ...] = ()
    silent: int = 0


class _Fault(msgspec.Struct):
    type: str = ""
    stream: str = ""
    error: str = ""


class _Data(msgspec.Struct):
    status: str = ""
    error: str = ""
    errors: tuple[_Fault, ...] = ()


class _Server(msgspec.Struct):
    name: str = ""


class _Answer(msgspec.Struct):
    server: _Server
    data: _Data


async def health(client: Client, servers: int) -> Health:
    """How so many servers are, once they had time to be well; for the deploy role.

    Who has no right to ask learns nothing: then all of them are silent.
    """
    mailbox = await Mailbox.open(client)
    until = asyncio.get_running_loop().time() + WELL_S
    try:
        while True:
            found = await _asked(mailbox, servers)
            if not found.ailments or asyncio.get_running_loop().time() > until:
                return found
            await asyncio.sleep(AGAIN_S)
    finally:
        await mailbox.close()


async def _asked(mailbox: Mailbox, servers: int) -> Health:
    answers: list[_Answer] = []

    def is_last(message: Msg) -> bool:
        answers.append(msgspec.json.decode(message.data, type=_Answer))
        return len(answers) >= servers

    try:
        await mailbox.ask_all(SERVER_HEALTH, _DETAILED, ANSWER_S, is_last)
    except (NobodyThere, NotSent) as error:
        logger.warning("health_not_known", reason=str(error))
    except NoAnswer:
        pass  # fewer servers than streams want: those that are there have answered
    ill = [each for each in answers if each.data.status != "ok"]
    return Health(tuple(ailment for each in ill for ailment in _ailments(each)), servers - len(answers))


def _ailments(answer: _Answer) -> list[Ailment]:
    name, data = answer.server.name, answer.data
    return [
        Ailment(f"{name} says {fault.error}", fault.stream if fault.type == "STREAM" else "") for fault in data.errors
    ] or [Ailment(f"{name} says {data.error or data.status}")]
