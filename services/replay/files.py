"""Exported logs: JSON lines, each the very bytes of one commit, so that an export can be checked and restored.

There is no header and nothing but commits. The subject of a commit follows from what it says: its room is the
reader's to know, the rest is its table, its service and the type of its last event.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from contracts.data import Id
from contracts.subjects import guarded
from services.bus.outline import outline_of
from services.bus.reading import Message, Unreadable
from services.bus.server import PAYLOAD_BYTES_MAX

LINE_BYTES_MAX: Final = PAYLOAD_BYTES_MAX
"""No server takes a longer message: a longer line is no commit, and is not read to its end."""


def subject_of(room: Id, data: bytes) -> str:
    """Where a commit with these bytes is stored; empty for what is no commit."""
    outline = outline_of(data)
    if outline is None or not outline.events:
        return ""
    try:
        return guarded(room, outline.table, outline.by, outline.events[-1].type).subject
    except ValueError:
        return ""


def messages(room: Id, path: Path) -> Iterator[Message]:
    """The messages of a table's exported log, line by line. Raises `OSError`, `Unreadable`."""
    for data in lines(path):
        yield subject_of(room, data), data


def lines(path: Path) -> Iterator[bytes]:
    """The commits of any exported log, as bytes. Raises `OSError`.

    Raises `Unreadable` for lines that a copy has changed, or put in: every commit's hash would be another; and for one
    that is longer than any commit.
    """
    with path.open("rb") as file:
        for number, line in enumerate(iter(lambda: file.readline(LINE_BYTES_MAX + 1), b""), 1):
            data = line.removesuffix(b"\n")
            if len(data) > LINE_BYTES_MAX:
                raise Unreadable(
                    f"{path}: line {number} is longer than any commit, which has {LINE_BYTES_MAX} bytes at most"
                )
            if data.endswith(b"\r"):
                raise Unreadable(f"{path}: line {number} ends with CR and LF: those of an export end with LF alone")
            if not data:
                raise Unreadable(f"{path}: line {number} is blank: each line of an export is a commit")
            yield data


def first_line(path: Path) -> bytes:
    """The first commit of any exported log, as bytes, none for an empty file. Raises `OSError`, `Unreadable`."""
    return next(lines(path), b"")


def table_of(path: Path) -> Id:
    """The table that an exported log is of, as its first line says. Raises `OSError`, `Unreadable`."""
    outline = outline_of(first_line(path))
    if outline is None:
        raise Unreadable(f"{path}: the first line is no commit")
    return outline.table
