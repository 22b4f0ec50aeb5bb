"""What a doorman answers servers with: a file of its own, which nobody else may read."""

from pathlib import Path
from typing import Final, Self

import msgspec

from services.access.nkeys import NoKey, public_of, raw_of
from services.access.sealing import Sealer

NAME: Final = "callout.json"


class NoCallout(ValueError):
    """There is no such file, or something else is in it; the message says so."""


class Callout(msgspec.Struct, frozen=True):
    """The keys of a house's doormen. Who has them may let anybody into any account of the server."""

    seed: str
    """Signs the answers: the seed of an account."""
    xkey: str
    """Opens the questions and seals the answers: the seed of a curve key."""
    issuers: tuple[str, ...]
    """The public keys of who issues players' credentials, or did: what others signed lets nobody in."""

    def __repr__(self) -> str:
        """Without what nobody else may know."""
        return f"Callout(issuers={self.issuers!r})"

    @classmethod
    def read(cls, path: Path) -> Self:
        """Reads the file. Raises `NoCallout`."""
        try:
            found = msgspec.json.decode(path.read_bytes(), type=cls)
            _ = found.public, Sealer(found.xkey), [raw_of("account", issuer) for issuer in found.issuers]
        except FileNotFoundError:
            raise NoCallout(f"there is no file {path}: `croupier credentials house` makes it") from None
        except OSError as error:
            raise NoCallout(f"{path} cannot be read: {error.strerror}") from None
        except (msgspec.MsgspecError, UnicodeDecodeError, NoKey) as error:
            raise NoCallout(f"{path} does not hold a doorman's keys: {error}") from None
        return found

    @property
    def public(self) -> str:
        """Whose signature servers trust."""
        return public_of("account", self.seed)

    def written(self) -> bytes:
        """The file."""
        return msgspec.json.format(msgspec.json.encode(self))
