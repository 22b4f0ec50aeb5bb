"""Which players' credentials are revoked: a file beside the doorman's own, which it reads anew whenever it changes."""

from pathlib import Path
from typing import Final, Self

import msgspec

from contracts.data import Id

NAME: Final = "revoked.json"


class Revoked(msgspec.Struct, frozen=True):
    """For each player the second (since 1970) up to which credentials were issued that let nobody in any more."""

    players: dict[Id, int] = {}

    @classmethod
    def read(cls, path: Path) -> Self:
        """What the file says; where there is none, nobody is revoked. Raises OSError or `msgspec.MsgspecError`."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except FileNotFoundError:
            return cls()

    def written(self) -> bytes:
        """The file."""
        return msgspec.json.format(msgspec.json.encode(self))


class Watched:
    """What the file says now. Where it cannot be read, what it said before holds, and `fault` says why."""

    def __init__(self, path: Path) -> None:
        self.fault: str | None = None
        self._path = path
        self._seen: tuple[int, int] | None = None
        self._found = Revoked()

    @property
    def players(self) -> dict[Id, int]:
        """For each player up to when credentials are revoked."""
        seen = self._stamp()
        if seen != self._seen:
            try:
                self._found, self.fault = Revoked.read(self._path), None
            except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
                self.fault = f"{self._path} cannot be read, so what it said before holds: {error}"
            self._seen = seen
        return self._found.players

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = self._path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_ino
