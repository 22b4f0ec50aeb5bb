"""Who comes to a room with bots: each a client with a connection of its own, let in by what the house gave it."""

import asyncio
from collections.abc import Awaitable, Callable

from contracts.client import Client
from contracts.subjects import ActorKind
from services.bus.settings import Settings

type LetIn = Callable[[str], Awaitable[Client]]
"""Opens the connection of a player of some name."""


class People:
    """The players, each connected when it is first wanted; one may sit at several tables."""

    def __init__(self, let_in: LetIn) -> None:
        self._let_in = let_in
        self._clients: dict[str, asyncio.Future[Client]] = {}

    async def player(self, name: str) -> Client:
        """The client of a player."""
        known = self._clients.get(name)
        if known is None or (known.done() and _is_over(known)):
            self._clients[name] = asyncio.ensure_future(self._let_in(name))
        return await asyncio.shield(self._clients[name])

    @property
    def clients(self) -> list[Client]:
        """All who are connected."""
        return [each.result() for each in self._clients.values() if each.done() and not _failed(each)]

    async def close(self) -> None:
        """Ends all connections."""
        for connecting in self._clients.values():
            connecting.cancel()
        await asyncio.gather(*self._clients.values(), return_exceptions=True)
        for client in self.clients:
            await client.close()


def _failed(connecting: asyncio.Future[Client]) -> bool:
    return connecting.cancelled() or connecting.exception() is not None


def _is_over(connecting: asyncio.Future[Client]) -> bool:
    """Whether another connection is needed."""
    return _failed(connecting) or connecting.result().line.fault is not None


async def partner(settings: Settings, name: str, kind: type[Client] = Client) -> Client:
    """The lobby, or the operator, of a server on one machine."""
    as_kind: ActorKind = "operator" if name == "operator" else "lobby"
    return await kind.of_file(settings.credentials_file, as_kind, name, url=settings.nats_url)


def by_the_gateway(settings: Settings, kind: type[Client] = Client) -> LetIn:
    """Lets players in at a server on one machine, whose user `players` may play for each of them."""

    async def let_in(name: str) -> Client:
        return await kind.of_file(settings.credentials_file, "player", name, user="players", url=settings.nats_url)

    return let_in
