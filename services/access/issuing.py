"""Players' credentials: how one is made, and how all that a player ever had come to an end."""

import time
from typing import Final

from contracts.data import Id
from services.access.creds import Creds
from services.access.folder import append, put
from services.access.house import House, NoHouse, new_seed, no_house
from services.access.nkeys import public_of
from services.access.revocation import Revoked
from services.access.tokens import Claims, signed

DAY_S: Final = 86_400
_CREDENTIAL: Final = {"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1}
"""What makes a token a credential, as NATS' own tools read it; the rights come from the doorman."""


def issue(house: House, player: Id, days: float) -> Creds:
    """A new credential of a player, which holds from now on for so many days. Raises `NoHouse`."""
    try:
        issuer = house.issuer_file.read_text().strip()
    except FileNotFoundError:
        raise NoHouse(f"{house.issuer_file} is not here: without it nobody can make a player's credential") from None
    now, seed = int(time.time()), new_seed("user")
    claims = Claims(
        sub=public_of("user", seed),
        name=player,
        iat=max(now, revoked(house).get(player, 0) + 1),
        exp=now + round(days * DAY_S),
        nats=_CREDENTIAL,
    )
    return Creds(signed(claims, issuer), seed)


def note(house: House, player: Id) -> None:
    """Notes that a credential was made for a player: it tells a name that somebody has from a mistyped one.

    It is no list of who may come in: whoever has the issuer's seed makes credentials without it. Raises OSError.
    """
    append(house.issued_file, f"{player}\n".encode())


def noted(house: House) -> set[Id]:
    """For whom a credential was noted. Raises OSError."""
    try:
        return set(house.issued_file.read_text(errors="replace").split())
    except FileNotFoundError:
        return set()


def revoke(house: House, player: Id) -> None:
    """From now on no credential that this player has had lets anybody in; a new one does.

    Raises OSError, and `NoHouse` for a folder in which nobody would read it.
    """
    if not house.revoked_file.parent.is_dir() and not house.keys():
        raise no_house(house.folder)
    listed = Revoked({**revoked(house), player: int(time.time())}).written()
    if house.issuer_file.parent.is_dir():
        put(house.revoked_copy, listed)
    put(house.revoked_file, listed)


def revoked(house: House) -> dict[Id, int]:
    """For each player up to when credentials are revoked, by the doormen's list or by the issuer's copy of it.

    Whoever was revoked stays revoked where one of the two is lost. Raises OSError, or `NoList`.
    """
    found: dict[Id, int] = {}
    for path in (house.revoked_file, house.revoked_copy):
        for player, until in Revoked.read(path).players.items():
            found[player] = max(until, found.get(player, until))
    return found
