"""Which accepted commands a table still knows, so that their copies get the first answer (DESIGN 4).

Each statement of the table says them again. Those of the last two hands are among them, for a copy could be accepted
once more; of older ones, for a while, those that last: whatever is neither an act nor about who is connected.
"""

from datetime import timedelta
from typing import Final

from contracts.data import Instant
from contracts.events.state import Acceptance
from services.aggregate.table import Table

MEMORY: Final = timedelta(minutes=10)
"""For so long a command that lasts is known whatever is played meanwhile, unless too many others come."""
KNOWN_MAX: Final = 1000
"""So many commands are known at most: what is stated has to fit into one message."""
BUDGET_FROM_RULES: Final = 3
"""From these rules on no act, and nothing about who is connected, takes the place of what lasts."""


def lasting_max(rules: int) -> int:
    """So many commands that last are known.

    From rules 3 on with those of the last two hands, and the rest of `KNOWN_MAX` is for what does not last; before
    rules 3 beside all commands of the last two hands.
    """
    return 800 if rules >= BUDGET_FROM_RULES else 200


def remembered(table: Table, hand: int, at: Instant) -> tuple[Acceptance, ...]:
    """The commands that are still known once this is stated, and the table is at `hand`.

    Where they are too many, players' go first, then the oldest: a player must not have a wallet's command forgotten.
    """
    rules = table.config.options.rules if table.config is not None else 1
    oldest = hand - 1
    if rules < BUDGET_FROM_RULES and hand == table.hands:
        oldest = hand + 1  # without a new hand what had been stated once was not stated again
    recent, lately = [], []
    for known in table.accepted.values():
        if known.n > table.stated_n or known.hand >= oldest:
            recent.append(known)
        elif known.at is not None and known.at + MEMORY > at:
            lately.append(known)
    most = lasting_max(rules)
    kept = _apart(recent, lately, most) if rules >= BUDGET_FROM_RULES else _together(recent, lately, most)
    return tuple(sorted(kept, key=lambda known: known.n))


def _apart(recent: list[Acceptance], lately: list[Acceptance], most: int) -> list[Acceptance]:
    """What lasts has its own budget, which presence, acts and players' commands never lessen."""
    lasting = _newest(lately + [known for known in recent if known.at is not None], most)
    passing = sorted((known for known in recent if known.at is None), key=lambda known: known.n)
    return lasting + passing[-(KNOWN_MAX - len(lasting)) :]


def _together(recent: list[Acceptance], lately: list[Acceptance], most: int) -> list[Acceptance]:
    return _newest(_newest(lately, most) + recent, KNOWN_MAX)


def _newest(known: list[Acceptance], most: int) -> list[Acceptance]:
    if len(known) <= most:
        return known
    return sorted(known, key=lambda each: (each.actor.kind != "player", each.n))[-most:]
