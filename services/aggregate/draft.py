"""A decider's private copy of a table, on which it tries its events out one after the other."""

from contracts.data import Instant
from contracts.events import AnyEvent
from services.aggregate.evolve import evolve
from services.aggregate.table import Table


class Draft:
    """The commit in the making: `table` is the state after the events emitted so far; the original stays as it is."""

    def __init__(self, table: Table, at: Instant) -> None:
        """Starts from `table`; the events will belong to its next commit, decided at `at`."""
        self.table = table.copy()
        self.table.n += 1
        self.table.at = at if table.at is None else max(at, table.at)
        self.events: list[AnyEvent] = []

    def emit(self, event: AnyEvent) -> None:
        """Adds an event and folds it, so that the next one is decided on the state after it."""
        evolve(self.table, event)
        self.events.append(event)
