"""Which lines of an exported log are verified: all, or those of one hand. The file is read through, and not held."""

from pathlib import Path
from typing import NamedTuple

from contracts.codec import digest
from services.aggregate.table import Table
from services.bus.outline import Outline, outline_of
from services.command_line.refusals import CannotRead
from services.replay import files
from services.replay.verification import Heads


class Part(NamedTuple):
    """The lines from index `first` to before `end`, and the table before them; `to_the_end` of the file, or not."""

    start: Table
    first: int = 0
    end: int | None = None
    to_the_end: bool = True


def part_of(path: Path, empty: Table, hand: int | None, heads: Heads) -> Part:
    """Where the part to verify begins and ends. Raises `CannotRead`, `OSError`, `Unreadable`.

    A file that holds a part of a log begins where it says, if one hand is asked for or the head before it is given.
    """
    if hand is not None:
        return _hand(path, empty, hand)
    first = outline_of(files.first_line(path))
    if first is not None and heads.get(first.n - 1) == first.prev:
        return Part(Table(room=empty.room, id=empty.id, n=first.n - 1, head=first.prev))
    return Part(empty)


def _hand(path: Path, empty: Table, hand: int) -> Part:
    before, opening = b"", None
    first = last = index = 0
    for index, data in enumerate(files.lines(path)):
        outline = outline_of(data)
        if outline is not None and outline.hand == hand:
            if opening is None:
                opening, first = outline, index
            last = index
        elif opening is None:
            before = data
    if opening is None:
        raise CannotRead(f"the file has no hand {hand} of table {empty.id}")
    return Part(_before(empty, opening, before), first, last + 1, to_the_end=last == index)


def _before(empty: Table, opening: Outline, line: bytes) -> Table:
    """The table after the line before a hand, or as the hand says where there is none."""
    return Table(room=empty.room, id=empty.id, n=opening.n - 1, head=digest(line) if line else opening.prev)
