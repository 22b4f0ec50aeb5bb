"""A house's folder: the keys of all its services, of its server and of its issuer, made once.

Each service is given its own folder and no other; `issuer` and `ca` stay with the operator, for who has them makes
players' credentials and servers. What exists is never written over; what is missing is added.
"""

import re
import secrets
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from contracts.data import Id
from services.access import callout, certificates, nkeys, revocation
from services.access.callout import Callout
from services.access.certificates import Pair
from services.access.creds import Creds
from services.access.folder import OPEN, Kept, make, put
from services.access.guests import EMPTY
from services.access.revocation import Revoked
from services.access.sealing import Sealer
from services.access.server_files import nkey_variable
from services.access.tokens import Claims, signed
from services.bus.accounts import SERVICES
from services.bus.credentials import Credentials

PORT: Final = 4222
CREDENTIALS: Final = "credentials.json"
CA: Final = "ca.pem"
GUESTS: Final = ("operators.conf", "lobbies.conf")
DAY_S: Final = 86_400
_A_PLAYERS: Final = {"type": "user", "version": 2, "subs": -1, "data": -1, "payload": -1}
"""What makes a token a credential, as NATS' own tools read it; a doorman gives the rights."""
_KEY: Final = re.compile(r"^(\w+): (\w+)$", re.MULTILINE)


class NoHouse(ValueError):
    """A folder is no house, or not whole; the message says what is missing."""


def new_seed(kind: nkeys.Kind) -> str:
    """A new key."""
    return nkeys.seed_of(kind, secrets.token_bytes(nkeys.SECRET_BYTES))


class House:
    """The folder of one house."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.nats = folder / "nats"

    @property
    def issuer_file(self) -> Path:
        """The seed that makes players' credentials."""
        return self.folder / "issuer" / "issuer.nk"

    def make(self, hosts: Sequence[str], url: str | None = None) -> list[Path]:
        """Fills in what is missing, for servers that are reached under these names; tells what it made.

        `url` is where clients are told to go: the first of the hosts where there is none. What `keys.conf` knows and
        is not here has been taken to where it is needed, and is not made again. Raises OSError, `NoKey`, `NoHouse` or
        `NoCertificate`.
        """
        make(self.folder)
        kept = Kept()
        known = self.keys()
        address = url or f"tls://{_bracketed(hosts[0])}:{PORT}"
        self._certify(kept, hosts)
        for user in SERVICES:
            self._service(kept, user, address, known)
        self._callout(kept, known)
        kept.file(self.nats / "store.key", f'key: "{secrets.token_urlsafe(32)}"\n'.encode)
        for guests in GUESTS:
            kept.file(self.nats / guests, EMPTY.encode, OPEN)
        if known != self.keys():
            put(self._keys_file, written(known), OPEN)
            kept.made.append(self._keys_file)
        return kept.made

    @property
    def revoked_file(self) -> Path:
        """Whose credentials are revoked; the doormen read it."""
        return self.folder / "doorman" / revocation.NAME

    @property
    def _keys_file(self) -> Path:
        return self.nats / "keys.conf"

    def keys(self) -> dict[str, str]:
        """The public keys that servers know, by their names in `accounts.conf`; none where there is no house yet."""
        if not self._keys_file.exists():
            return {}
        return dict(_KEY.findall(self._keys_file.read_text()))

    def issue(self, player: Id, days: float) -> Creds:
        """A new credential of a player, which holds from now on for so many days. Raises `NoHouse`."""
        try:
            issuer = self.issuer_file.read_text().strip()
        except FileNotFoundError:
            raise NoHouse(f"{self.issuer_file} is not here: without it nobody can make a player's credential") from None
        revoked = Revoked.read(self.revoked_file).players.get(player, 0)
        now, seed = int(time.time()), new_seed("user")
        claims = Claims(
            sub=nkeys.public_of("user", seed),
            name=player,
            iat=max(now, revoked + 1),
            exp=now + round(days * DAY_S),
            nats=_A_PLAYERS,
        )
        return Creds(signed(claims, issuer), seed)

    def _certify(self, kept: Kept, hosts: Sequence[str]) -> None:
        if not (self.nats / "server.pem").exists():
            certificate, key = certificates.server(self._authority(kept), hosts, datetime.now(UTC))
            put(self.nats / "server-key.pem", key)
            kept.file(self.nats / "server.pem", lambda: certificate, OPEN)
        for name in ("nats", *SERVICES):
            if name == "nats" or (self.folder / name).exists() or nkey_variable(name) not in self.keys():
                kept.file(self.folder / name / CA, (self.folder / "ca" / CA).read_bytes, OPEN)

    def _authority(self, kept: Kept) -> Pair:
        """Who vouches for servers; made where nobody does yet. Raises `NoHouse`."""
        public, secret = self.folder / "ca" / CA, self.folder / "ca" / "ca-key.pem"
        if not public.exists():
            made = certificates.authority(datetime.now(UTC))
            kept.file(secret, lambda: made.key)
            kept.file(public, lambda: made.certificate, OPEN)
        if not secret.exists():
            raise NoHouse(f"{secret} is not here: put it back to certify a server")
        return Pair(public.read_bytes(), secret.read_bytes())

    def _service(self, kept: Kept, user: str, url: str, known: dict[str, str]) -> None:
        """Makes the credentials of a service, and notes its public key. Raises `NoHouse`."""
        path, name = self.folder / user / CREDENTIALS, nkey_variable(user)
        if name in known and not path.exists():
            return
        fresh = Credentials(url=url, seeds={user: new_seed("user")}, ca=CA)
        kept.file(path, lambda: _json(fresh))
        public = nkeys.public_of("user", Credentials.read(path).seeds[user])
        if known.setdefault(name, public) != public:
            raise NoHouse(f"{path} is not what {self._keys_file} knows as {name}")

    def _callout(self, kept: Kept, known: dict[str, str]) -> None:
        """Makes what doormen answer with, and whose credentials they accept."""
        path = self.folder / "doorman" / callout.NAME
        if "CALLOUT_ISSUER" in known and not path.exists():
            return
        if not path.exists():
            issuer = kept.file(self.issuer_file, new_seed("account").encode).decode().strip()
            fresh = Callout(new_seed("account"), new_seed("curve"), (nkeys.public_of("account", issuer),))
            kept.file(path, fresh.written)
        found = Callout.read(path)
        known["CALLOUT_ISSUER"] = found.public
        known["CALLOUT_XKEY"] = Sealer(found.xkey).public


def written(keys: dict[str, str]) -> bytes:
    """`keys.conf`."""
    return "".join(f"{name}: {public}\n" for name, public in keys.items()).encode()


def _json(what: msgspec.Struct) -> bytes:
    return msgspec.json.format(msgspec.json.encode(what))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
