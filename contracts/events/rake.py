"""Events that the rake service emits."""

from contracts.cards import SeatAmount
from contracts.data import Chips, Id
from contracts.events.base import Event


class RakeTaken(Event, tag="rake_taken", frozen=True):
    """The rake of a hand, also when it is 0 (R106 to R115).

    `base` is the sum of all pots, `computed` what the schedule gives before `cap` and minimum, `total` what is taken,
    `per_pot` its allocation, main pot first; `attribution` counts it to players for reports and changes no payout.
    """

    schedule: Id | None
    version: int
    players: int
    base: Chips
    computed: Chips
    total: Chips
    per_pot: tuple[Chips, ...]
    cap: Chips | None = None
    attribution: tuple[SeatAmount, ...] = ()


type RakeEvent = RakeTaken
