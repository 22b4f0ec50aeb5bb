"""Where the server is and how each user proves to be one: `credentials.json`."""

import os
import re
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from services.bus.address import PORT_MAX, address

_is_seed: Final = re.compile(r"SU[A-Z2-7]{56}").fullmatch


class CredentialsUnreadable(ValueError):
    """What is in the place of a file of credentials is none; the message names the file."""


class Credentials(msgspec.Struct, frozen=True, omit_defaults=True):
    """A server's address and what proves each user known here to be one; a service needs to know only its own."""

    url: str
    passwords: dict[str, str] = {}
    seeds: dict[str, str] = {}
    """The seed of each user's NKey: it signs what the server asks to have signed, and never leaves this machine."""
    ca: str | None = None
    """The certificate of who vouches for the server, beside this file: TLS is demanded, and the server's name checked.

    Without it a server that speaks TLS is judged by this machine's own certificates."""

    def __post_init__(self) -> None:
        """Raises ValueError for an address or a seed that is none; the message does not show the seed."""
        if self.url:  # a server of one's own has none until it listens
            address(self.url)
        if wrong := [user for user, seed in self.seeds.items() if not _is_seed(seed)]:
            raise ValueError(f"what should be the seed of {', '.join(wrong)} is none")

    def __repr__(self) -> str:
        """Without what nobody else may know."""
        users = sorted({*self.passwords, *self.seeds})
        return f"Credentials(url={self.url!r}, users={users}, ca={self.ca!r})"

    @property
    def users(self) -> tuple[str, ...]:
        """Whoever these credentials let in."""
        return tuple(dict.fromkeys((*self.seeds, *self.passwords)))

    def proof(self, user: str) -> Mapping[str, Any]:
        """What a connection is opened with as this user: the seed where there is one, else the password.

        Raises KeyError where there is neither.
        """
        if user in self.seeds:
            return {"nkeys_seed_str": self.seeds[user]}
        return {"user": user, "password": self.passwords[user]}

    def tls(self) -> Mapping[str, Any]:
        """How a connection is secured. Raises OSError or `CredentialsUnreadable` for what is no certificate.

        The handshake comes before anything is said: who stands between cannot ask for a signature in clear.
        """
        if self.ca is None:
            return {}
        try:
            context = ssl.create_default_context(cafile=self.ca)
        except FileNotFoundError:
            raise FileNotFoundError(f"there is no certificate {self.ca}") from None
        except ssl.SSLError as error:
            raise CredentialsUnreadable(f"{self.ca} holds no certificate: {error.reason}") from None
        return {"tls": context, "tls_handshake_first": True}

    @property
    def port(self) -> int | None:
        """The port of the address, none where it names none."""
        text = self.url.rpartition(":")[2]
        return int(text) if text.isdecimal() and 0 < int(text) <= PORT_MAX else None

    @classmethod
    def read(cls, path: Path) -> Self:
        """Reads the file; `ca` is a whole path then.

        Raises FileNotFoundError or `CredentialsUnreadable` with a sentence that names it.
        """
        try:
            found = msgspec.json.decode(path.read_bytes(), type=cls)
        except FileNotFoundError:
            raise FileNotFoundError(f"there is no file of credentials {path}") from None
        except OSError as error:
            raise CredentialsUnreadable(f"{path} cannot be read: {error.strerror}") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CredentialsUnreadable(f"{path} does not hold credentials: {error}") from None
        return found if found.ca is None else msgspec.structs.replace(found, ca=str(path.absolute().parent / found.ca))

    def write(self, path: Path) -> None:
        """Writes the file for this user alone, in one step: a reader finds the old or the new one."""
        new = path.with_suffix(".new")
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(self)))
        new.replace(path)
