"""How bots come into a room that others run: their lobby, and each player with a credential of its own."""

from pathlib import Path
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from contracts.client import Client, Identity
from services.access.house import House
from services.access.issuing import issue
from services.bots.people import LetIn
from services.bus.credentials import Credentials

DAYS: Final = 7.0
"""So long a bot's credential holds; it gets another when it is not let in any more."""
GATEWAY: Final = "players"
"""The user of a server on one machine who may play for every player."""
LOBBY: Final = "lobby"


class NoEntry(ValueError):
    """What is given does not let bots in; the message says what is missing."""


class Entry(NamedTuple):
    """Where the room is, who the lobby is, how players come in, and who they are: None for any number of them."""

    url: str
    lobby: Identity
    let_in: LetIn
    names: tuple[str, ...] | None = None


def by_the_house(folder: Path, lobby: str, url: str | None = None) -> Entry:
    """With a lobby's folder and the issuer's seed of a house. Raises OSError and ValueError."""
    known, identity = _lobby(folder / "lobbies" / lobby / "credentials.json", lobby)
    house, where = House(folder), url or known

    async def let_in(name: str) -> Client:
        creds = issue(house, name, DAYS).written()
        return await Client.be(where, Identity(kind="player", name=name, creds=creds, tls=identity.tls))

    return Entry(where, identity, let_in)


def by_files(credentials: Path, players: Path, url: str | None = None) -> Entry:
    """With a lobby's credentials, and a folder of players' `NAME.creds`. Raises OSError and ValueError."""
    known, identity = _lobby(credentials, _only_user(credentials))
    files, where = {file.stem: file for file in sorted(players.glob("*.creds"))}, url or known
    if not files:
        raise NoEntry(f"there is no .creds file in {players}")

    async def let_in(name: str) -> Client:
        _, player = Identity.of_file(files[name], "player", name)
        return await Client.be(where, replace(player, tls=identity.tls))

    return Entry(where, identity, let_in, tuple(files))


def on_one_machine(credentials: Path, url: str | None = None) -> Entry:
    """With the credentials of a server on one machine, whose gateway plays for all. Raises OSError and ValueError."""
    known, identity = _lobby(credentials, LOBBY)
    where = url or known

    async def let_in(name: str) -> Client:
        _, player = Identity.of_file(credentials, "player", name, GATEWAY)
        return await Client.be(where, player)

    return Entry(where, identity, let_in)


def has_gateway(credentials: Path) -> bool:
    """Whether a file holds the gateway's password. Raises OSError and ValueError."""
    return GATEWAY in _read(credentials).users


def _lobby(credentials: Path, name: str) -> tuple[str, Identity]:
    return Identity.of_file(credentials, "lobby", name)


def _only_user(credentials: Path) -> str:
    users = _read(credentials).users
    if len(users) != 1:
        raise NoEntry(f"{credentials} is to hold one lobby's credentials, and holds those of {', '.join(users)}")
    return users[0]


def _read(credentials: Path) -> Credentials:
    try:
        return Credentials.read(credentials)
    except msgspec.MsgspecError as error:
        raise NoEntry(f"{credentials} does not hold credentials: {error}") from error
