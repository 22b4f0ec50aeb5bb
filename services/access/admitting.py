"""Operators and lobbies of a house: each has an NKey of its own, which the servers know."""

from pathlib import Path

from contracts.data import Id
from services.access.folder import OPEN, Kept, put
from services.access.guests import Guest, added, listed, removed
from services.access.house import CA, CREDENTIALS, House, NoHouse, identity
from services.access.nkeys import public_of
from services.bus.credentials import Credentials

_PLACES: dict[Guest, str] = {"operator": "operators", "lobby": "lobbies"}


def admit(house: House, kind: Guest, name: Id, *, reads_log: bool = False) -> list[Path]:
    """Makes what somebody comes in with, unless it is there; tells what it made.

    With `reads_log` the credentials also hold those of `replay`, by which logs are read. Raises `NoHouse` or OSError.
    """
    house.known()
    kept, place, rights = Kept(), house.folder / _PLACES[kind] / name, rights_file(house, kind)
    known = listed(rights.read_text())
    if name in known and not (place / CREDENTIALS).exists():
        raise NoHouse(f"{rights} knows {kind} {name} by a key that is not here: revoke {name} for a new one")
    others = {"replay": Credentials.read(house.credentials_file("replay")).seeds["replay"]} if reads_log else {}
    kept.file(place / CREDENTIALS, lambda: identity(house.url(), name, **others))
    kept.file(place / CA, house.vouching, OPEN)
    public = public_of("user", Credentials.read(place / CREDENTIALS).seeds[name])
    if known.get(name) != public:
        put(rights, added(rights.read_text(), kind, name, public).encode(), OPEN)
        kept.made.append(rights)
    return kept.made


def dismiss(house: House, kind: Guest, name: Id) -> None:
    """Has the servers forget somebody, whose old key never comes back. Raises `NoHouse` for whom they do not know."""
    rights = rights_file(house, kind)
    house.known()
    known = listed(rights.read_text())
    if name not in known:
        raise NoHouse(f"{rights} knows no {kind} {name}; it knows {', '.join(sorted(known)) or 'nobody'}")
    put(rights, removed(rights.read_text(), name).encode(), OPEN)
    (house.folder / _PLACES[kind] / name / CREDENTIALS).unlink(missing_ok=True)


def rights_file(house: House, kind: Guest) -> Path:
    """Where the servers read who is one, and what such a one may do."""
    return house.nats / f"{_PLACES[kind]}.conf"
