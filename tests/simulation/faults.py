"""What goes wrong in a simulation, and how often: drawn from the seed, printed when it finds something."""

from random import Random
from typing import Final

from contracts.data import Data

RARELY: Final = 0.5
"""How often a kind of fault does not happen at all in a seed, so that others are seen alone."""


class Faults(Data, frozen=True):
    """Chances from 0 to 1, and times in seconds.

    On the way of an append: `write_lost`, `write_late` (it lands after the writer has given up), `ack_lost`, `refused`
    (nothing was sent), `impatient` (the writer gives up early), `race` (the leader has another append under way and
    says conflict, though nothing is stored yet). `unavailable`: a read gets no answer. `fact_*`: what the folds follow.
    `nudge_*`: what a queue group is told. `request_*`, `answer_lost`: between clients and desks. `crash`: at a step of
    an append; `crash_s`: the mean time between crashes at any moment, `down_s` how long it takes to restart, `ghost_s`
    how long a queue group believes in a crashed member. `stray`: messages that are not part of a log, per second.
    `outage_s`: for how long the log is away for everybody, about every ten seconds.
    `delay_s`: the mean way of a message, `late` the chance of a hundred times that. `skew_s`: how far clocks differ.
    """

    write_lost: float = 0.0
    write_late: float = 0.0
    ack_lost: float = 0.0
    refused: float = 0.0
    impatient: float = 0.0
    race: float = 0.0
    unavailable: float = 0.0
    fact_lost: float = 0.0
    fact_twice: float = 0.0
    nudge_lost: float = 0.0
    nudge_twice: float = 0.0
    request_lost: float = 0.0
    request_twice: float = 0.0
    answer_lost: float = 0.0
    crash: float = 0.0
    crash_s: float = 0.0
    down_s: float = 0.5
    ghost_s: float = 0.0
    stray: float = 0.0
    outage_s: float = 0.0
    delay_s: float = 0.001
    late: float = 0.0
    skew_s: float = 0.0


NONE: Final = Faults()


def drawn(random: Random) -> Faults:
    """The faults of one seed."""

    def sometimes(most: float) -> float:
        return round(random.uniform(0, most), 3) if random.random() > RARELY else 0.0

    return Faults(
        write_lost=sometimes(0.2),
        write_late=sometimes(0.2),
        ack_lost=sometimes(0.3),
        refused=sometimes(0.1),
        impatient=sometimes(0.3),
        race=sometimes(0.5),
        unavailable=sometimes(0.05),
        fact_lost=sometimes(0.5),
        fact_twice=sometimes(0.3),
        nudge_lost=sometimes(0.6),
        nudge_twice=sometimes(0.8),
        request_lost=sometimes(0.3),
        request_twice=sometimes(0.4),
        answer_lost=sometimes(0.4),
        crash=sometimes(0.03),
        crash_s=round(random.uniform(1, 10), 1) if random.random() > RARELY else 0.0,
        down_s=round(random.uniform(0.1, 2), 1),
        ghost_s=sometimes(3),
        stray=sometimes(1),
        outage_s=sometimes(6) if random.random() > RARELY else 0.0,
        delay_s=random.choice((0.0005, 0.002, 0.01, 0.04)),
        late=sometimes(0.1),
        skew_s=sometimes(0.4),
    )
