"""With how much a player may come to the table (R6, R8, R10)."""

from typing import Final, NamedTuple

from contracts.commit import Cause
from contracts.data import CHIPS_MAX, Chips, Instant
from contracts.games import TableConfig
from contracts.lasting import later
from contracts.outcomes import Allowed, Rejected
from services.aggregate.table import Table
from services.table.refusals import refuse

LAST_DEPARTURE_FROM_RULES: Final = 3
"""From these rules on a player comes back with what was taken away the last time; before them with the most of late."""


class Range(NamedTuple):
    """The least and the most; no maximum: None."""

    minimum: Chips
    maximum: Chips | None

    def holds(self, amount: Chips) -> bool:
        """Whether an amount lies in it."""
        return self.minimum <= amount and (self.maximum is None or amount <= self.maximum)

    def __str__(self) -> str:
        return f"at least {self.minimum}" if self.maximum is None else f"{self.minimum} to {self.maximum}"


def least_buy_in_guideline(lower_stake: Chips) -> Chips:
    """The least buy-in with which a new fixed-limit table is prefilled: ten times the lower stake (R6).

    $10/$20: $100.
    """
    return 10 * lower_stake


def room_for(table: Table) -> Chips:
    """How many chips more the table holds: all together, queued and asked for, must be an amount (R143)."""
    held = sum(record.stack + record.top_up + record.requested for record in table.seats.values())
    return CHIPS_MAX - held - sum(kept.buy_in for kept in table.reservations.values())


def overfull(table: Table, cause: Cause, amount: Chips) -> Rejected | None:
    """A refusal of chips with which those of the table together would be more than an amount can be."""
    room = room_for(table)
    if amount <= room:
        return None
    message = f"All chips of a table together are {CHIPS_MAX} at most: {room} more."
    return refuse(table, cause, "buy_in_out_of_range", message, Allowed(minimum=min(1, room), maximum=room))


def top_up_range(config: TableConfig, stack: Chips) -> Range:
    """What may be added to a stack between hands (R7); a player without chips needs the minimum (R8).

    Maximum 20000, stack 18000: 1 to 2000.
    """
    limits = config.buy_in
    room = None if limits.maximum is None else max(0, limits.maximum - stack)
    least = max(1, limits.minimum) if stack == 0 else 1
    return Range(least if room is None else min(least, room), room)


def buy_in_range(table: Table, config: TableConfig, player: str, at: Instant) -> Range:
    """What `player` may buy in for; who left not long ago comes back with no less than was taken away (R10).

    Minimum 4000, maximum 20000, left with 35000 half an hour ago: exactly 35000. Came back, lost all and left again:
    4000 to 20000.
    """
    least, most = max(1, config.buy_in.minimum), config.buy_in.maximum
    if config.limit == "fixed_limit" or config.money == "play":
        return Range(least, most)
    window_ms = config.options.rathole_ms
    lately = [left.stack for left in table.departures if left.player == player and at < later(left.at, window_ms)]
    if config.options.rules >= LAST_DEPARTURE_FROM_RULES:
        lately = lately[-1:]
    left_with = max(lately, default=0)
    return Range(max(least, left_with), most if most is None else max(most, left_with))
