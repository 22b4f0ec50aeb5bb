"""Reading a file of recorded hands, fault cases or rule vectors; what cannot be read is said with file and line."""

from pathlib import Path
from typing import Any, Final

import msgspec

from contracts.codec import decode_by
from services.conformance.recorded import Recorded
from services.conformance.vectors import Vector, vector

FILE_BYTES_MAX: Final = 50_000_000
"""Some tens of thousands of hands; a file is held in memory as a whole."""
VECTORS = "poker-rules-vectors/"
"""How the field `format` of a file of rule vectors begins."""

_recorded = msgspec.json.Decoder(Recorded)
_anything = msgspec.json.Decoder()


class Unreadable(Exception):
    """A file that cannot be read: the sentence names the file and, where there is one, the line."""


def cases(path: Path) -> list[Recorded] | list[Vector]:
    """Everything in a file, in its order. Raises `Unreadable`."""
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise Unreadable(f"{path}: cannot be read: {error.strerror or error}") from error
    if len(data) > FILE_BYTES_MAX:
        raise Unreadable(f"{path}: longer than {FILE_BYTES_MAX} bytes: split it")
    return cases_in(path, data)


def cases_in(path: Path, data: bytes) -> list[Recorded] | list[Vector]:
    """Everything in these bytes, which are those of the file `path`. Raises `Unreadable`."""
    whole = _whole(data)
    if isinstance(whole, dict) and str(whole.get("format", "")).startswith(VECTORS):
        return _vectors(path, data, whole)
    found = [_line(path, number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    if not found:
        raise Unreadable(f"{path}: there is no hand in it")
    return found


def _whole(data: bytes) -> Any:  # noqa: ANN401
    try:
        return decode_by(_anything, data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _line(path: Path, number: int, line: bytes) -> Recorded:
    where = f"{path}, line {number}"
    try:
        return decode_by(_recorded, line)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise Unreadable(f"{where}: not a recorded hand: {error}") from error


def _vectors(path: Path, data: bytes, whole: dict[str, Any]) -> list[Vector]:
    entries = whole.get("vectors")
    if not isinstance(entries, list):
        raise Unreadable(f"{path}, line 1: rule vectors without a list `vectors`")
    found = []
    for entry in entries:
        try:
            found.append(vector(entry))
        except msgspec.ValidationError as error:
            raise Unreadable(f"{path}, line {_line_of(data, entry)}: not a rule vector: {error}") from error
    return found


def _line_of(data: bytes, entry: object) -> int:
    """The line of a vector, found by its id; 1 where it has none."""
    name = entry.get("id") if isinstance(entry, dict) else None
    at = data.find(f'"id": "{name}"'.encode()) if isinstance(name, str) else -1
    return data.count(b"\n", 0, at) + 1 if at >= 0 else 1
