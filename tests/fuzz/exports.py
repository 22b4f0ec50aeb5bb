"""Exports of a ledger and of its tables, altered: what a forger, a damaged disk or a careless copy may leave there."""

import contextlib
from collections.abc import Mapping
from functools import cache
from typing import Final

import msgspec

from contracts.codec import decode_commit
from contracts.commit import Commit
from services.aggregate.movements import moves_chips
from tests.accounting.evening import evening
from tests.fuzz.chains import chained, disorder
from tests.fuzz.choices import Choices
from tests.fuzz.mutation import mutated

LEDGER: Final = "ledger"
NEWLINES: Final = bytes.maketrans(b"\r\n", b"  ")

type Files = dict[str, list[bytes]]
"""The lines of each log by the file's name: `ledger`, and those of the tables."""


@cache
def originals() -> Mapping[str, tuple[bytes, ...]]:
    """The logs of an evening at two tables."""
    played = evening()
    return {LEDGER: tuple(played.books.lines), **{stand.id: tuple(stand.lines) for stand in played.stands}}


def altered(choices: Choices) -> Files:
    """The logs with faults in some lines, in half of the cases chained again as a forger would."""
    files = {name: list(lines) for name, lines in originals().items()}
    for _ in range(choices.one_of((1, 1, 2, 3))):
        name = choices.one_of((LEDGER, *files))
        if files[name]:
            _alter(files[name], choices)
    if choices.below(2):
        files = {name: chained(lines) for name, lines in files.items()}
    if choices.below(16) == 1:
        files.pop(choices.one_of(tuple(files)))
    return files


def _alter(lines: list[bytes], choices: Choices) -> None:
    at = choices.below(len(lines))
    match choices.below(12):
        case 1 | 2 | 3 as kind:
            disorder(lines, at, kind, choices)
        case 4:
            lines[at] = choices.one_of(originals()[choices.one_of(tuple(originals()))])
        case 5:
            del lines[at:]
        case _:
            other_line = choices.one_of(originals()[choices.one_of(tuple(originals()))])
            lines[at] = mutated(lines[at], choices, other_line).translate(NEWLINES)


def is_built_on(name: str, lines: list[bytes]) -> bool:
    """Whether a line that is no more as it was has another behind it: the chain itself must give it away.

    Of the last line nobody but whoever knows its head can say what it was.
    """
    before = originals()[name]
    first = next((at for at, line in enumerate(lines) if at >= len(before) or line != before[at]), len(lines))
    return first < len(lines) - 1


def commits_of(files: Files) -> dict[tuple[str, str, int], Commit]:
    """What the tables' files say of chips, as far as each line by itself can be read."""
    found: dict[tuple[str, str, int], Commit] = {}
    for name, lines in files.items():
        for line in lines if name != LEDGER else ():
            with contextlib.suppress(msgspec.MsgspecError):
                commit = decode_commit(line)
                if any(map(moves_chips, commit.events)):
                    found["main", commit.table, commit.n] = commit
    return found
