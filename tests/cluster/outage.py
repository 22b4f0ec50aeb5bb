"""What a fault cost: the longest silences of the logs, as the servers' own times tell."""

from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

import msgspec

from tests.cluster.books import BooksOfPlay
from tests.cluster.witness import Record


class Outage(msgspec.Struct, frozen=True):
    """The longest time in which nothing was written: at all, at the table that waited longest, and in the ledger."""

    room_s: float
    table_s: float
    table: str
    ledger_s: float
    usual_s: float
    """The longest silence of any table before the fault,"""
    usual_ledger_s: float
    """and of the ledger."""

    def __str__(self) -> str:
        return (
            f"no commit at all for {self.room_s:.2f} s, none at {self.table} for {self.table_s:.2f} s, none in the "
            f"ledger for {self.ledger_s:.2f} s "
            f"(before the fault the longest were {self.usual_s:.2f} s and {self.usual_ledger_s:.2f} s)"
        )


def outage(found: Sequence[Record], books: BooksOfPlay, since: datetime, until: datetime) -> Outage:
    """What a fault that began at `since` cost until `until`."""
    everything = sorted(time for record in found for time in record.times)
    worst = max(found, key=lambda record: _silence_s(record.times, since, until))
    return Outage(
        room_s=_silence_s(everything, since, until),
        table_s=_silence_s(worst.times, since, until),
        table=worst.table,
        ledger_s=_silence_s(books.times, since, until),
        usual_s=max(_silence_s(record.times, everything[0], since) for record in found),
        usual_ledger_s=_silence_s(books.times, books.times[0], since),
    )


def _silence_s(times: Sequence[datetime], since: datetime, until: datetime) -> float:
    """The longest time between two neighbours of which the later one lies between two moments."""
    gaps = ((two - max(one, since)).total_seconds() for one, two in pairwise(times) if since < two <= until)
    return max(gaps, default=0.0)
