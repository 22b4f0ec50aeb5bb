"""Somebody who follows a table's public views, as bots do, and asks for the whole picture when one did not come."""

import asyncio
from typing import Final, Protocol

from contracts.codec import decode
from contracts.queries import PublicTable
from contracts.views import PublicView
from services.aggregate.table import Table
from services.bots.client import RETRY_AGAIN_S
from services.bots.picture import Picture
from services.bots.table import SILENCE_S
from services.views.public import public_table
from tests.simulation.judge import Judge


class Asked(Protocol):
    """Who brings a question for a table's picture to the views service."""

    async def picture(self, table: str, wait_s: float) -> bytes | None:
        """The answer; None where none comes in time."""


class Spectator:
    """Sees a table through the bots' own `Picture`, which must be true of its commit whenever no view is missing."""

    def __init__(self, table: str, network: Asked, judge: Judge) -> None:
        self.table = table
        self.picture = Picture()
        self._network = network
        self._judge = judge
        self._changed = asyncio.Event()

    def show(self, data: bytes) -> None:
        """Takes a public view."""
        self.picture.show(decode(data, PublicView))
        self._compare()
        self._changed.set()

    async def watch(self) -> None:
        """Waits for views for ever; asks for the whole after a gap, or when none has come for some time."""
        while True:
            try:
                await asyncio.wait_for(self._changed.wait(), SILENCE_S)
            except TimeoutError:
                await self.ask()
            self._changed.clear()
            if self.picture.missed:
                await self.ask()

    async def ask(self) -> None:
        """Begins anew from the whole picture, if somebody answers."""
        data = await self._network.picture(self.table, RETRY_AGAIN_S)
        if data is not None:
            self.picture.restart(decode(data, PublicTable))
            self._compare()

    def _compare(self) -> None:
        seen, entries = self.picture, self._judge.entries.get(self.table, [])
        if seen.missed or seen.n == 0:
            return
        if seen.n > len(entries) or entries[seen.n - 1].head != seen.head:
            self._judge.says(f"a spectator sees commit {seen.n} of {self.table}, which is not in the log")
            return
        for name, value, true in differing(seen, entries[seen.n - 1].after):
            self._judge.says(f"a spectator sees {name} {value} at {self.table}/{seen.n} where the log has {true}")


SHOWN: Final = (
    *("hand", "playing", "turn", "number", "ends", "stacks", "players", "sitting_out"),
    *("disconnected", "protected", "banks", "reserved", "waiting"),
)


def differing(seen: Picture, table: Table) -> list[tuple[str, object, object]]:
    """What a picture shows otherwise than the table is: its name, as it is shown, as it is."""
    whole, true = public_table(table), Picture()
    assert whole is not None
    true.restart(whole)
    both = ((name, getattr(seen, name), getattr(true, name)) for name in SHOWN)
    return [(name, value, must) for name, value, must in both if value != must]
