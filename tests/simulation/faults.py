"""What goes wrong in a simulation, and how often: drawn from the seed, printed with what was found."""

from collections.abc import Collection
from random import Random
from typing import Final

import msgspec

from contracts.data import Data

RARELY: Final = 0.5
"""How often a kind of fault does not happen at all in a seed, so that others are seen alone."""
DELAYS_S: Final = (0.0005, 0.002, 0.01, 0.04)


class Faults(Data, frozen=True):
    """Chances from 0 to 1, and times in seconds.

    On the way of an append: `write_lost`, `write_late` (it lands after the writer has given up), `ack_lost`, `refused`
    (nothing was sent), `impatient` (the writer gives up early), `race` (the leader has another append under way and
    says conflict, though nothing is stored yet), `storm` (another message always gets in first). `unavailable`: a read
    gets no answer; `stale`: one that may lag does. `fact_*`: what the folds follow. `nudge_*`: what a queue group is
    told. `view_*`: what spectators see. `request_*`, `answer_lost`: between clients and services. `crash`: before or
    after a step (a fold, an append, an answer, a head, a view, cards for a player); `crash_stored`: once its own commit
    is stored, before anything follows from that; `crash_s`: the mean time between crashes at any moment, `down_s` how
    long it takes to restart, `ghost_s` how long a queue group believes in a crashed member. `outage_s`: for how long
    the log is away for everybody, about every twenty seconds. `delay_s`: the mean way of a message, `late` the chance
    of a hundred times that.

    Per second: `stray`, messages that are not part of a log; `again`, copies of commands that were answered long ago;
    `flood`, dozens of requests at once, some of them junk; `deaf`, processes that hear no facts for a while; `still`,
    processes that stand still for a while; `clock_jump` and `clock_rate`, clocks that jump, or run too fast or too slow
    for a while. `skew_s`: how far clocks differ from the beginning. `newer_rules`: the tables have rules that only one
    of two replicas knows (0 or 1).
    """

    write_lost: float = 0.0
    write_late: float = 0.0
    ack_lost: float = 0.0
    refused: float = 0.0
    impatient: float = 0.0
    race: float = 0.0
    storm: float = 0.0
    unavailable: float = 0.0
    stale: float = 0.0
    fact_lost: float = 0.0
    fact_twice: float = 0.0
    nudge_lost: float = 0.0
    nudge_twice: float = 0.0
    view_lost: float = 0.0
    view_twice: float = 0.0
    request_lost: float = 0.0
    request_twice: float = 0.0
    answer_lost: float = 0.0
    crash: float = 0.0
    crash_stored: float = 0.0
    crash_s: float = 0.0
    down_s: float = 0.5
    ghost_s: float = 0.0
    stray: float = 0.0
    outage_s: float = 0.0
    again: float = 0.0
    flood: float = 0.0
    deaf: float = 0.0
    still: float = 0.0
    clock_jump: float = 0.0
    clock_rate: float = 0.0
    newer_rules: int = 0
    delay_s: float = 0.001
    late: float = 0.0
    skew_s: float = 0.0

    def __str__(self) -> str:
        mix = {name: getattr(self, name) for name in self.__struct_fields__}
        return ", ".join(f"{name} {value}" for name, value in mix.items() if value)


NONE: Final = Faults()
NAMES: Final = tuple(name for name in Faults.__struct_fields__ if name not in ("down_s", "delay_s"))
"""The kinds of fault that can be named."""

_MOST: Final = {
    "write_lost": 0.2,
    "write_late": 0.2,
    "ack_lost": 0.3,
    "refused": 0.1,
    "impatient": 0.3,
    "race": 0.5,
    "storm": 0.5,
    "unavailable": 0.05,
    "stale": 0.8,
    "fact_lost": 0.5,
    "fact_twice": 0.3,
    "nudge_lost": 0.6,
    "nudge_twice": 0.8,
    "view_lost": 0.4,
    "view_twice": 0.4,
    "request_lost": 0.3,
    "request_twice": 0.4,
    "answer_lost": 0.4,
    "crash": 0.02,
    "crash_stored": 0.04,
    "crash_s": 10.0,
    "ghost_s": 3.0,
    "stray": 1.0,
    "outage_s": 6.0,
    "again": 1.0,
    "flood": 0.25,
    "deaf": 0.3,
    "still": 0.3,
    "clock_jump": 0.3,
    "clock_rate": 0.3,
    "newer_rules": 1.0,
    "late": 0.1,
    "skew_s": 0.4,
}
"""How bad each may be."""
_SELDOM: Final = ("outage_s", "newer_rules", "still", "flood", "storm")
"""These cost much time, or keep others from being seen."""


def drawn(random: Random, only: Collection[str] = ()) -> Faults:
    """The faults of one seed; those in `only`, if it holds any, and no others."""
    strengths: dict[str, float] = {}
    for name, most in _MOST.items():
        strength, chance = round(random.uniform(most / 50, most), 3), random.random()
        happens = name in only if only else chance > (RARELY if name not in _SELDOM else 1 - RARELY**2)
        if happens:
            strengths[name] = 1 if name == "newer_rules" else strength
    down_s, delay_s = random.choice((0.0, *[round(random.uniform(0.1, 2), 1)] * 3)), random.choice(DELAYS_S)
    return msgspec.convert({**strengths, "down_s": down_s, "delay_s": delay_s}, Faults)


def chosen(seed: int, names: Collection[str]) -> Faults | None:
    """The faults of these names, as bad as the seed draws them; None if none are named. Raises ValueError."""
    unknown = set(names) - {*NAMES, "none"}
    if unknown:
        wrong = ", ".join(name or "an empty name" for name in sorted(unknown))
        raise ValueError(f"the kinds of fault are none, {', '.join(NAMES)}; not {wrong}")
    if "none" in names:
        return NONE
    return drawn(Random(f"{seed}:seed"), names) if names else None
