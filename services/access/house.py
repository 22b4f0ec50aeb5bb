"""A house's folder: the keys of all its services, of its server and of its issuer, made once.

Each service is given its own folder and no other; `issuer` and `ca` stay with the operator, for who has them makes
players' credentials and servers. What exists is never written over; what is missing is added.
"""

import re
import secrets
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from services.access import callout, certificates, nkeys, revocation
from services.access.callout import Callout
from services.access.certificates import Pair
from services.access.folder import OPEN, Kept, make, put
from services.access.guests import EMPTY
from services.access.sealing import Sealer
from services.access.server_files import nkey_variable
from services.bus.accounts import SERVICES
from services.bus.address import address
from services.bus.credentials import Credentials

PORT: Final = 4222
CREDENTIALS: Final = "credentials.json"
CA: Final = "ca.pem"
GUESTS: Final = ("operators.conf", "lobbies.conf")
_KEY: Final = re.compile(r"^(\w+): (\w+)$", re.MULTILINE)


class NoHouse(ValueError):
    """A folder is no house, or not whole; the message says what is missing."""


def no_house(folder: Path) -> NoHouse:
    """What is said of a folder that is none."""
    return NoHouse(f"{folder} is no house: `croupier credentials house` makes one")


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
        is not here has been taken to where it is needed, and is not made again. Raises OSError, ValueError for no
        address, `NoKey`, `NoHouse` or `NoCertificate`.
        """
        certificates.names(hosts)  # before anything is written
        where = address(url or f"tls://{_bracketed(hosts[0])}:{PORT}")
        make(self.folder)
        kept = Kept()
        known = self.keys()
        self._certify(kept, hosts)
        for user in SERVICES:
            self._service(kept, user, where, known)
        self._callout(kept, known)
        kept.file(self.nats / "store.key", f'key: "{secrets.token_urlsafe(32)}"\n'.encode)
        for guests in GUESTS:
            kept.file(self.nats / guests, EMPTY.encode, OPEN)
        if known != self.keys():
            put(self.keys_file, written(known), OPEN)
            kept.made.append(self.keys_file)
        return kept.made

    def absent(self) -> list[Path]:
        """What servers know the key to, and is not here."""
        known = self.keys()
        own = [self.credentials_file(user) for user in SERVICES if nkey_variable(user) in known]
        return [path for path in (*own, self.callout_file) if not path.exists()]

    @property
    def revoked_file(self) -> Path:
        """Whose credentials are revoked; the doormen read it."""
        return self.folder / "doorman" / revocation.NAME

    @property
    def revoked_copy(self) -> Path:
        """The same list once more, kept with the issuer's seed: from it a lost one is written again."""
        return self.issuer_file.with_name(revocation.NAME)

    @property
    def issued_file(self) -> Path:
        """For whom credentials were made here: a name in each line, and again for each credential."""
        return self.issuer_file.with_name("issued.txt")

    @property
    def callout_file(self) -> Path:
        """What doormen answer with."""
        return self.folder / "doorman" / callout.NAME

    @property
    def keys_file(self) -> Path:
        """The public keys that servers know."""
        return self.nats / "keys.conf"

    def credentials_file(self, user: str) -> Path:
        """What a service comes in with."""
        return self.folder / user / CREDENTIALS

    def url(self) -> str:
        """Where clients are told to go: where its services go. Raises `NoHouse`."""
        for user in SERVICES:
            if self.credentials_file(user).exists():
                return Credentials.read(self.credentials_file(user)).url
        raise NoHouse(f"{self.folder} holds the credentials of no service, so the servers' address is not known")

    def keys(self) -> dict[str, str]:
        """The public keys that servers know, by their names in `accounts.conf`; none where there is no house yet."""
        return dict(_KEY.findall(self.keys_file.read_text())) if self.keys_file.is_file() else {}

    def known(self) -> dict[str, str]:
        """The same of a house that there must be. Raises `NoHouse`."""
        found = self.keys()
        if not found:
            raise no_house(self.folder)
        return found

    def vouching(self) -> bytes:
        """The certificate of who vouches for the house's servers. Raises `NoHouse`."""
        try:
            return (self.nats / CA).read_bytes()
        except FileNotFoundError:
            raise NoHouse(f"{self.nats / CA} is not here: put it back, it is the same in every folder") from None

    def _certify(self, kept: Kept, hosts: Sequence[str]) -> None:
        if not self.certificate_file.exists():
            self.certify(hosts, kept)
        kept.file(self.nats / CA, (self.folder / "ca" / CA).read_bytes, OPEN)
        known = self.keys()
        for user in SERVICES:
            if (self.folder / user).exists() or nkey_variable(user) not in known:
                kept.file(self.folder / user / CA, self.vouching, OPEN)

    @property
    def certificate_file(self) -> Path:
        """What its servers show."""
        return self.nats / "server.pem"

    def certify(self, hosts: Sequence[str], kept: Kept) -> None:
        """Gives the servers a new certificate for these names. Raises `NoHouse` or `NoCertificate`."""
        certificate, key = certificates.server(self.authority(kept), hosts, datetime.now(UTC))
        put(self.nats / "server-key.pem", key)
        put(self.certificate_file, certificate, OPEN)
        kept.made.append(self.certificate_file)

    def authority(self, kept: Kept) -> Pair:
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
        path, name = self.credentials_file(user), nkey_variable(user)
        if name in known and not path.exists():
            return
        kept.file(path, lambda: identity(url, user))
        public = nkeys.public_of("user", Credentials.read(path).seeds[user])
        if known.setdefault(name, public) != public:
            raise NoHouse(f"{path} is not what {self.keys_file} knows as {name}")

    def _callout(self, kept: Kept, known: dict[str, str]) -> None:
        """Makes what doormen answer with, and whose credentials they accept."""
        path = self.callout_file
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


def identity(url: str, user: str, **others: str) -> bytes:
    """`credentials.json` with a new key of one user, and keys that others have."""
    fresh = Credentials(url=url, seeds={user: new_seed("user"), **others}, ca=CA)
    return msgspec.json.format(msgspec.json.encode(fresh))


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
