"""Somebody who follows a table's public views, as bots do, and asks for the whole picture when one did not come."""

import asyncio
from typing import Protocol

from contracts.client.patience import AGAIN_S, SILENCE_S
from contracts.client.sight import Sight
from contracts.codec import decode
from contracts.queries import PublicTable
from contracts.views import PublicView
from services.aggregate.table import Table
from services.views.public import public_table
from tests.simulation.judge import Judge


class Asked(Protocol):
    """Who brings a question for a table's picture to the views service."""

    async def picture(self, table: str, wait_s: float) -> bytes | None:
        """The answer; None where none comes in time."""


class Spectator:
    """Sees a table through the client's own `Sight`, whose picture must be true of its commit."""

    def __init__(self, table: str, network: Asked, judge: Judge) -> None:
        self.table = table
        self.sight = Sight()
        self._network = network
        self._judge = judge
        self._changed = asyncio.Event()

    def show(self, data: bytes) -> None:
        """Takes a public view."""
        self.sight.take(decode(data, PublicView))
        while self.sight.follow() is not None:
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
            if self.sight.missing:
                await self.ask()

    async def ask(self) -> None:
        """Begins anew from the whole picture, if somebody answers."""
        data = await self._network.picture(self.table, AGAIN_S)
        if data is not None:
            self.sight.restart(decode(data, PublicTable))
            self._compare()
            while self.sight.follow() is not None:
                self._compare()

    def _compare(self) -> None:
        seen, entries = self.sight.table, self._judge.entries.get(self.table, [])
        if seen is None:
            return
        if seen.n > len(entries) or entries[seen.n - 1].head != seen.head:
            self._judge.says(f"a spectator sees commit {seen.n} of {self.table}, which is not in the log")
            return
        for name, value, true in differing(seen, entries[seen.n - 1].after):
            self._judge.says(f"a spectator sees {name} {value} at {self.table}/{seen.n} where the log has {true}")


def differing(seen: PublicTable, table: Table) -> list[tuple[str, object, object]]:
    """What a picture shows otherwise than the table is: its name, as it is shown, as it is."""
    true = public_table(table)
    both = ((name, getattr(seen, name), getattr(true, name)) for name in PublicTable.__struct_fields__)
    return [(name, value, must) for name, value, must in both if value != must]
