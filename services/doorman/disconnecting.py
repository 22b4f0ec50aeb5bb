"""How players are sent away, who are revoked or too many: the doorman asks every server who is connected."""

import asyncio
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Final, NamedTuple

import msgspec
import structlog
from nats.aio.client import Client

from contracts.data import Id
from services.bus.accounts import CONNECTIONS, DISCONNECT, GUESTS

logger: Final = structlog.get_logger(__name__)

ANSWERS_S: Final = 1.0
"""So long servers have to answer."""


class Asking(msgspec.Struct, frozen=True):
    """A question to all servers: which connections there are of one player."""

    user: Id
    acc: str = GUESTS["player"]
    auth: bool = True


class Connection(msgspec.Struct, frozen=True):
    """One connection at a server."""

    cid: int
    start: datetime


class Open(NamedTuple):
    """The same, with the server's id."""

    server: str
    cid: int
    start: datetime


class Connections(msgspec.Struct, frozen=True):
    """Those that a server has."""

    server_id: str
    connections: list[Connection] = []


class Told(msgspec.Struct, frozen=True):
    """A server's answer."""

    data: Connections


class Ended(msgspec.Struct, frozen=True):
    """Which connection a server is to end."""

    cid: int


_told: msgspec.json.Decoder[Told] = msgspec.json.Decoder(Told)


def newly(before: Mapping[Id, int] | None, now: Mapping[Id, int]) -> Iterator[tuple[Id, int | None]]:
    """Who was revoked since `before`, and of which connections: those from up to a second, or all of them (None).

    Who was revoked before this doorman came (`before` is none) may have come in since with a new credential.
    """
    for player, second in now.items():
        if before is None:
            yield player, second
        elif second > before.get(player, -1):
            yield player, None


async def send_away(client: Client, player: Id, until: int | None) -> None:
    """Ends a player's connections, at every server; those only that began up to a second, if one is given."""
    for each in await connections_of(client, player):
        if until is None or each.start <= datetime.fromtimestamp(until + 1, UTC):
            await _end(client, player, each)


async def keep_to(client: Client, player: Id, most: int) -> None:
    """Leaves a player so many connections at all servers, the newest: nobody takes the room of the others."""
    found = sorted(await connections_of(client, player), key=lambda each: each.start)
    for each in found[: max(0, len(found) - most)]:
        await _end(client, player, each)


async def connections_of(client: Client, player: Id) -> list[Open]:
    """A player's connections, at whichever servers answer in time."""
    inbox, found = client.new_inbox(), list[Open]()
    answers = await client.subscribe(inbox)
    await client.publish(CONNECTIONS, msgspec.json.encode(Asking(player)), reply=inbox)
    try:
        async with asyncio.timeout(ANSWERS_S):
            async for answer in answers.messages:
                told = _told.decode(answer.data).data
                found += [Open(told.server_id, each.cid, each.start) for each in told.connections]
    except TimeoutError:
        pass
    except msgspec.MsgspecError as fault:
        logger.error("connections_not_told", player=player, reason=str(fault))  # noqa: TRY400 - the reason is all
    finally:
        await answers.unsubscribe()
    return found


async def _end(client: Client, player: Id, which: Open) -> None:
    nobody = client.new_inbox()  # a server does nothing where there is nowhere to answer
    await client.publish(f"{DISCONNECT}.{which.server}", msgspec.json.encode(Ended(which.cid)), reply=nobody)
    logger.info("player_sent_away", player=player, server=which.server, connection=which.cid)
