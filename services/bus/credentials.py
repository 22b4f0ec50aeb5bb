"""Where the server is and how each user proves to be one: `credentials.json`."""

import os
from pathlib import Path
from typing import Final, Self

import msgspec

PORT_MAX: Final = 65_535


class CredentialsUnreadable(ValueError):
    """What is in the place of a file of credentials is none; the message names the file."""


class Credentials(msgspec.Struct, frozen=True):
    """A server's address and a password for each user known here; a service needs to know only its own."""

    url: str
    passwords: dict[str, str]

    @property
    def port(self) -> int | None:
        """The port of the address, none where it names none."""
        text = self.url.rpartition(":")[2]
        return int(text) if text.isdecimal() and 0 < int(text) <= PORT_MAX else None

    @classmethod
    def read(cls, path: Path) -> Self:
        """Reads the file. Raises FileNotFoundError or `CredentialsUnreadable` with a sentence that names it."""
        try:
            return msgspec.json.decode(path.read_bytes(), type=cls)
        except FileNotFoundError:
            raise FileNotFoundError(f"there is no file of credentials {path}") from None
        except OSError as error:
            raise CredentialsUnreadable(f"{path} cannot be read: {error.strerror}") from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise CredentialsUnreadable(f"{path} does not hold credentials: {error}") from None

    def write(self, path: Path) -> None:
        """Writes the file for this user alone, in one step: a reader finds the old or the new one."""
        new = path.with_suffix(".new")
        new.unlink(missing_ok=True)
        with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(self)))
        new.replace(path)
