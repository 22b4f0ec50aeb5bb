"""Files of a house: private from the first byte, whole or not there, and never written over by accident."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

SECRET: Final = 0o600
OPEN: Final = 0o640
"""For what is no secret, but tells who there is."""
_FOLDER: Final = 0o700


def make(path: Path) -> None:
    """Makes a folder, and those above it, for this user alone. Raises OSError."""
    if not path.is_dir():
        make(path.parent)
        path.mkdir(mode=_FOLDER, exist_ok=True)


def put(path: Path, content: bytes, mode: int = SECRET) -> None:
    """Writes a file in one step: a reader finds the old or the new one. Raises OSError."""
    make(path.parent)
    new = path.with_name(f".{path.name}.{os.getpid()}")
    new.unlink(missing_ok=True)
    with os.fdopen(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:
        os.fchmod(file.fileno(), mode)  # whatever this user's mask is
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    new.replace(path)


def append(path: Path, line: bytes) -> None:
    """Adds a line to a file, which is made where there is none; two who do so at once lose nothing. Raises OSError."""
    make(path.parent)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, SECRET), "ab", buffering=0) as file:
        file.write(line)
        os.fsync(file.fileno())


class Kept:
    """Fills in what is missing in a folder, and remembers what that was."""

    def __init__(self) -> None:
        self.made: list[Path] = []

    def file(self, path: Path, content: Callable[[], bytes], mode: int = SECRET) -> bytes:
        """What stands in a file, which is written first where there is none. Raises OSError."""
        if not path.exists():
            put(path, content(), mode)
            self.made.append(path)
        return path.read_bytes()
