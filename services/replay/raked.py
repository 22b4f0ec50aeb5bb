"""What the house took: sums of `rake_taken` without the hands that were voided, by day, table, player or schedule.

The amounts come from these two events alone (R114). A hand's rake counts once it is taken, and not any more when the
hand is voided: rake is final when the hand has ended. Currencies, and real and play money, are never added up (R5).
"""

from collections.abc import Callable, Iterator
from datetime import date
from typing import Final, Literal

import msgspec

from contracts.cards import SeatAmount
from contracts.commit import Commit
from contracts.data import Chips, Data, Id, Seat
from contracts.events.rake import RakeTaken
from contracts.events.table import HandVoided
from contracts.games import Money
from services.aggregate.table import Table

type By = Literal["day", "table", "player", "schedule"]

NOBODY: Final = "(nobody)"
"""In a player's place: rake that was counted to no player."""
NO_SCHEDULE: Final = "(none)"
"""In a schedule's place: hands that were not raked by any."""


class Line(Data, frozen=True):
    """The rake of one day, table, player or schedule in one currency: so many hands, with so much in their pots.

    For a player `hands` and `pots` are of the hands that the player was dealt into; `rake` is what was counted to the
    player of it (R115).
    """

    group: str
    money: Money
    currency: str
    hands: int
    pots: Chips
    rake: Chips


class Total(Data, frozen=True, omit_defaults=False):
    """All that was taken in one currency.

    `voided` hands are in none of the other figures; `returned` is the rake that had been taken of them. `unfinished` is
    what was taken of hands that have not ended yet.
    """

    money: Money
    currency: str
    hands: int = 0
    pots: Chips = 0
    rake: Chips = 0
    voided: int = 0
    returned: Chips = 0
    unfinished: Chips = 0


class Report(Data, frozen=True):
    """Sums by one of the four, and in total."""

    by: By
    lines: tuple[Line, ...]
    totals: tuple[Total, ...]


class _Taken(msgspec.Struct, frozen=True):
    """A hand that was raked, and may still be voided."""

    hand: int
    day: date
    event: RakeTaken
    players: dict[Seat, Id]


class _Sums(msgspec.Struct):
    hands: int = 0
    pots: int = 0
    rake: int = 0


class Raked:
    """Adds up the logs of a room's tables, one after another, each from a statement on."""

    def __init__(self, by: By, first: date | None = None, last: date | None = None) -> None:
        """Sums by `by`, of the days from `first` to `last` (UTC), both included; None: no bound."""
        self._by: By = by
        self._first, self._last = first or date.min, last or date.max
        self._groups: dict[tuple[str, Money, str], _Sums] = {}
        self._totals: dict[tuple[Money, str], Total] = {}
        self._taken: _Taken | None = None

    def take(self, table: Table, commit: Commit) -> None:
        """Adds a commit; `table` is as it was before it."""
        for event in commit.events:
            match event:
                case RakeTaken() if table.hand is not None:
                    self._settle(table)
                    players = {seat: player.player for seat, player in table.hand.players.items()}
                    self._taken = _Taken(table.hand.number, commit.at.date(), event, players)
                case HandVoided():
                    self._void(table, event, commit.at.date())
                case _:
                    pass

    def end(self, table: Table) -> None:
        """The log of a table ends here, as it was folded."""
        taken = self._taken
        if taken is not None and table.hand is not None and table.hand.number == taken.hand:
            self._add(table, taken.day, unfinished=taken.event.total)
        self._settle(table)

    def report(self) -> Report:
        """The sums of all logs that have ended."""
        lines = [
            Line(group=group, money=money, currency=currency, hands=sums.hands, pots=sums.pots, rake=sums.rake)
            for (group, money, currency), sums in sorted(self._groups.items())
        ]
        return Report(by=self._by, lines=tuple(lines), totals=tuple(self._totals[key] for key in sorted(self._totals)))

    def _void(self, table: Table, event: HandVoided, day: date) -> None:
        taken = self._taken
        returned = 0
        if taken is not None and taken.hand == event.number:
            self._taken, returned = None, taken.event.total
        self._add(table, day, voided=1, returned=returned)

    def _settle(self, table: Table) -> None:
        """The hand that was raked last can be voided no more."""
        taken, self._taken = self._taken, None
        if taken is None or not self._first <= taken.day <= self._last:
            return
        self._add(table, taken.day, hands=1, pots=taken.event.base, rake=taken.event.total)
        money, currency = _currency(table)
        for group, rake in _GROUPS[self._by](table, taken):
            sums = self._groups.setdefault((group, money, currency), _Sums())
            sums.hands, sums.pots, sums.rake = sums.hands + 1, sums.pots + taken.event.base, sums.rake + rake

    def _add(self, table: Table, day: date, **amounts: int) -> None:
        if not self._first <= day <= self._last:
            return
        key = _currency(table)
        total = self._totals.get(key, Total(money=key[0], currency=key[1]))
        more = {name: getattr(total, name) + amount for name, amount in amounts.items()}
        self._totals[key] = msgspec.structs.replace(total, **more)


def _currency(table: Table) -> tuple[Money, str]:
    assert table.config is not None  # there was a hand
    return table.config.money, table.config.currency


def _by_player(_: Table, taken: _Taken) -> Iterator[tuple[str, Chips]]:
    counted = {part.seat: part.amount for part in taken.event.attribution}
    for seat, player in taken.players.items():
        yield player, counted.get(seat, 0)
    rest = taken.event.total - _sum(taken.event.attribution)
    if rest:
        yield NOBODY, rest


def _sum(parts: tuple[SeatAmount, ...]) -> Chips:
    return sum(part.amount for part in parts)


def _by_schedule(_: Table, taken: _Taken) -> Iterator[tuple[str, Chips]]:
    event = taken.event
    yield NO_SCHEDULE if event.schedule is None else f"{event.schedule} v{event.version}", event.total


def _by_table(table: Table, taken: _Taken) -> Iterator[tuple[str, Chips]]:
    yield table.id, taken.event.total


def _by_day(_: Table, taken: _Taken) -> Iterator[tuple[str, Chips]]:
    yield taken.day.isoformat(), taken.event.total


_GROUPS: Final[dict[By, Callable[[Table, _Taken], Iterator[tuple[str, Chips]]]]] = {
    "day": _by_day,
    "table": _by_table,
    "player": _by_player,
    "schedule": _by_schedule,
}
