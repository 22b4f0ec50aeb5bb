"""Who a client is, and how it proves that to a server: a password, an NKey seed, or a `.creds` file; and TLS."""

import base64
import re
import ssl
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Self

import msgspec
from nats.aio.client import RawCredentials

from contracts.data import Id
from contracts.subjects import ActorKind, is_id

CREDS: Final = ".creds"
"""How the name of a file ends that holds a signed credential and the seed of its owner."""

_SEED: Final = re.compile(r"-----BEGIN USER NKEY SEED-----\s+SU\S+\s+-+END USER NKEY SEED-+")
_JWT: Final = re.compile(r"-----BEGIN NATS USER JWT-----\s+(\S+)\s+-+END NATS USER JWT-+")


class Claims(msgspec.Struct):
    """What a signed credential says of its owner; `exp` in seconds since 1970, 0: it lasts for ever."""

    name: str = ""
    exp: float = 0


class _Letter(msgspec.Struct):
    """A file `credentials.json`: where the server is, and what proves which user."""

    url: str = ""
    passwords: dict[str, str] = msgspec.field(default_factory=dict)
    seeds: dict[str, str] = msgspec.field(default_factory=dict)
    ca: str | None = None

    def __repr__(self) -> str:
        """Without what nobody else may know."""
        return f"_Letter(url={self.url!r}, users={sorted({*self.passwords, *self.seeds})}, ca={self.ca!r})"


class Identity(msgspec.Struct, frozen=True, kw_only=True):
    """Who connects as `kind` and `name`; `user` is the server's name for who does, where it is another one.

    One of `password`, `seed` and `creds` proves it, or none on a server without users. `creds` is the path of a file
    that is read at every connection, so that a newer one may take its place, or the text of one. With `tls` nothing is
    said in clear. `inbox`: where answers arrive, if it is another place than usual.
    """

    kind: ActorKind
    name: Id
    user: str | None = None
    password: str | None = None
    seed: str | None = None
    creds: Path | str | None = None
    tls: ssl.SSLContext | None = None
    inbox: str | None = None

    def __post_init__(self) -> None:
        """Raises ValueError for a name that no subject can hold, two proofs, and a text that is no credential."""
        if not is_id(self.name):
            raise ValueError(f"{self.name!r} is not a name of letters, digits, - and _, 40 at most")
        if sum(proof is not None for proof in (self.password, self.seed, self.creds)) > 1:
            raise ValueError("one of password, seed and creds proves who a client is, not two")
        if isinstance(self.creds, str):
            self.check()

    def check(self) -> None:
        """Looks whether a credential can prove it. Raises OSError for its file, ValueError for what cannot."""
        if self.creds is None:
            return
        text = self.creds if isinstance(self.creds, str) else self.creds.read_text(encoding="utf-8")
        whose = claims_in(jwt_in(text)).name
        if _SEED.search(text) is None:
            raise ValueError("there is no USER NKEY SEED beside the NATS USER JWT, and without it nobody is let in")
        if self.kind == "player" and whose != self.name:
            raise ValueError(f"the credential is that of {whose}, and lets nobody in as {self.name}")

    def __repr__(self) -> str:
        """Without what nobody else may know."""
        return f"Identity(kind={self.kind!r}, name={self.name!r}, user={self.user!r})"

    @property
    def inbox_prefix(self) -> str:
        """Where answers arrive: nobody else may listen there."""
        return self.inbox or f"_INBOX.{self.user or self.name}"

    @classmethod
    def of_file(cls, path: Path, kind: ActorKind, name: Id, user: str | None = None) -> tuple[str, Self]:
        """The server's address, "" where the file does not say it, and the identity, of `credentials.json` or `.creds`.

        Raises OSError for a file that cannot be read, and ValueError for one that does not hold what proves the user.
        """
        if not path.exists():
            raise FileNotFoundError(f"there is no file of credentials {path}")
        if path.suffix == CREDS:
            identity = cls(kind=kind, name=name, creds=path)
            identity.check()  # before anybody connects with it
            return "", identity
        try:
            letter = msgspec.json.decode(path.read_bytes(), type=_Letter)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} does not hold credentials: {error}") from None
        known, tls = user or name, None
        if known not in letter.seeds and known not in letter.passwords:
            raise ValueError(f"{path} has neither seed nor password for the user {known!r}")
        if letter.ca is not None:
            tls = ssl.create_default_context(cafile=path.parent / letter.ca)
        seed = letter.seeds.get(known)
        password = letter.passwords.get(known) if seed is None else None
        return letter.url, cls(kind=kind, name=name, user=user, password=password, seed=seed, tls=tls)

    def options(self) -> dict[str, Any]:
        """The options by which nats-py proves it."""
        options: dict[str, Any] = {"inbox_prefix": self.inbox_prefix}
        if self.tls is not None:
            # Who stands between cannot ask for a password in clear: nothing is said before the handshake.
            options |= {"tls": self.tls, "tls_handshake_first": True}
        if self.password is not None:
            options |= {"user": self.user or self.name, "password": self.password}
        if self.seed is not None:
            options["nkeys_seed_str"] = self.seed
        if self.creds is not None:
            # The server gives what checks credentials no more of a JWT than what comes as a token too.
            creds = self.creds if isinstance(self.creds, Path) else RawCredentials(self.creds)
            options |= {"user_credentials": creds, "token": self._token}
        return options

    def has_expired(self) -> bool:
        """Whether the credential says of itself that its time is over."""
        if self.creds is None:
            return False
        try:
            claims = claims_in(self._token())
        except (OSError, ValueError):
            return False  # what is wrong with it the server says
        return 0 < claims.exp <= datetime.now(UTC).timestamp()

    def _token(self) -> str:
        assert self.creds is not None
        return jwt_in(self.creds if isinstance(self.creds, str) else self.creds.read_text(encoding="utf-8"))


def jwt_in(text: str) -> str:
    """The signed credential in the text of a `.creds` file. Raises ValueError where there is none."""
    found = _JWT.search(text)
    if found is None:
        raise ValueError("there is no NATS USER JWT in the credential; a file of one is given as a Path")
    return found.group(1)


def claims_in(jwt: str) -> Claims:
    """What a signed credential says, which is not checked here. Raises ValueError for what is none."""
    _, _, rest = jwt.partition(".")
    payload, _, _ = rest.partition(".")
    try:
        return msgspec.json.decode(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)), type=Claims)
    except ValueError as error:  # neither base64 nor JSON, or not of the kind that is wanted
        raise ValueError(f"no signed credential: {error}") from None
