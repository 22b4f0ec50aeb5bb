"""Which players' credentials are revoked: a file beside the doorman's own, which it reads anew whenever it changes."""

from pathlib import Path
from typing import Final, Self

import msgspec

from contracts.data import Id

NAME: Final = "revoked.json"

type Stamp = tuple[int, int, int]
"""By what a file is known to be another one, or altered."""


class Revoked(msgspec.Struct, frozen=True):
    """For each player the second (since 1970) up to which credentials were issued that let nobody in any more."""

    players: dict[Id, int] = {}

    @classmethod
    def read(cls, path: Path) -> Self:
        """What the file says; where there is none, nobody is revoked. Raises OSError, or `NoList`."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except FileNotFoundError:
            return cls()
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise NoList(f"{path} cannot be read: {error}; put it back from the house's backup") from error

    def written(self) -> bytes:
        """The file."""
        return msgspec.json.format(msgspec.json.encode(self))


class NoList(ValueError):
    """What is in the place of the list cannot be read; the message says why."""


class Watched:
    """What the file says now. Where it is gone or cannot be read, what it said before holds, and `fault` says why."""

    def __init__(self, path: Path) -> None:
        """Reads the file; where there is none, nobody was ever revoked. Raises `NoList` for one that cannot be read."""
        self._path = path
        self._seen: Stamp | None = None
        self._found = Revoked()
        self._fault: str | None = None
        if (fault := self._look()) is not None:
            raise NoList(fault)

    @property
    def players(self) -> dict[Id, int]:
        """For each player up to when credentials are revoked."""
        self._fault = self._look()
        return self._found.players

    @property
    def fault(self) -> str | None:
        """What was wrong with the file when it was last looked at."""
        return self._fault

    def _look(self) -> str | None:
        """Reads the file where it is another one than before; what keeps it from that."""
        try:
            stamp = _stamp(self._path)
            if stamp != self._seen:
                self._found = msgspec.json.decode(self._path.read_bytes(), type=Revoked)
                self._seen = stamp
        except FileNotFoundError:
            return None if self._seen is None else f"{self._path} is gone; what it said before holds"
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            before = "" if self._seen is None else "; what it said before holds"
            return f"{self._path} cannot be read: {error}{before}"
        return None


def _stamp(path: Path) -> Stamp:
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns
