"""A file for this user alone, made once: of several processes that start together, all get what the first wrote."""

import os
from collections.abc import Callable
from pathlib import Path


def read_or_make(path: Path, make: Callable[[], bytes]) -> bytes:
    """What stands in the file; where there is none, it is made whole, or not at all. Raises OSError."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = path.with_name(f"{path.name}.{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(make())
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(draft, path)
        except FileExistsError:
            pass
        finally:
            draft.unlink()
    return path.read_bytes()
