"""Pieces of the golden logs, altered: what a forger, a damaged disk or a later release may have left there."""

from collections.abc import Sequence
from functools import cache

import msgspec

from contracts.queries import HandKey
from services.aggregate.table import Table
from services.bus.aggregates import TABLES
from services.bus.reading import Message, Reading
from services.replay import files
from tests.fuzz import seeds
from tests.fuzz.chains import chained, disorder
from tests.fuzz.choices import Choices
from tests.fuzz.house import copied
from tests.fuzz.mutation import mutated
from tests.golden.logs import ROOM, logs, recorded_keys


class Piece(msgspec.Struct, frozen=True):
    """The table before some commits of a log, the messages that follow there, and the keys of its hands."""

    table: Table
    messages: Sequence[Message]
    keys: dict[int, HandKey]


@cache
def tables() -> tuple[tuple[Table, ...], ...]:
    """The table of each golden log before every one of its commits."""
    found = []
    for log, messages in zip(logs(), seeds.golden(), strict=True):
        reading, after = Reading(TABLES, Table(room=ROOM, id=files.table_of(log))), []
        for message in messages:
            after.append(copied(reading.state))
            reading.take(message)
        found.append(tuple(after))
    return tuple(found)


@cache
def keys() -> tuple[dict[int, HandKey], ...]:
    """The hand keys of each golden log."""
    return tuple(recorded_keys(log) for log in logs())


def piece(choices: Choices, most: int) -> Piece:
    """Some commits of a log, at most so many."""
    number = choices.below(len(seeds.golden()))
    messages = seeds.golden()[number]
    start = choices.below(len(messages))
    found = messages[start : start + 1 + choices.below(most)]
    return Piece(copied(tables()[number][start]), found, keys()[number])


def altered(found: Piece, choices: Choices) -> list[Message]:
    """The messages with faults in some of them, in half of the cases chained again as a forger would."""
    messages = list(found.messages)
    for _ in range(choices.below(2) + 1):
        at = choices.below(len(messages))
        subject, data = messages[at]
        match choices.below(8):
            case 1 | 2 | 3 as kind:
                disorder(messages, at, kind, choices)
            case _:
                data = mutated(data, choices, choices.one_of(seeds.commits()))
                subject = subject if choices.below(4) == 1 else files.subject_of(ROOM, data)
                messages[at] = subject, data
        if not messages:
            break
    return _chained(found.table, messages) if choices.below(2) else messages


def _chained(table: Table, messages: list[Message]) -> list[Message]:
    lines = chained((data for _, data in messages), table.n, table.head)
    return [(subject, line) for (subject, _), line in zip(messages, lines, strict=True)]
