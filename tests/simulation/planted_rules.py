"""Rules of the table that are wrong in one way: what the books find at the commit that is wrong."""

from collections.abc import Callable
from typing import Final

import msgspec

from contracts.commit import Cause
from contracts.data import Instant
from contracts.events import AnyEvent
from contracts.events.table import ActionTaken, HandVoided
from contracts.outcomes import Rejected
from services.aggregate.debts import debt
from services.aggregate.table import Table
from services.bus.asked import TableRules
from services.bus.role import TableRole
from services.table.app import ROLE, RULES

type Wrong = Callable[[AnyEvent], AnyEvent]

replace = msgspec.structs.replace


def swapped_stacks(event: AnyEvent) -> AnyEvent:
    """A cancelled hand gives the first seat what the last one had, and the other way round."""
    if not isinstance(event, HandVoided) or not event.seats:
        return event
    first, *others = event.seats
    if not others:
        return event
    *between, last = others
    swapped = (replace(first, stack=last.stack), *between, replace(last, stack=first.stack))
    return replace(event, seats=swapped)


def bank_used_twice(event: AnyEvent) -> AnyEvent:
    """A time bank holds after a decision what it held before it."""
    if not isinstance(event, ActionTaken) or event.bank_left is None:
        return event
    return replace(event, bank_left=event.bank_left + event.bank_ms)


def rules_with(wrong: Wrong) -> TableRules:
    """The table's rules for commands, with a fault."""

    def decide(table: Table, cause: Cause, at: Instant) -> tuple[AnyEvent, ...] | Rejected:
        decided = RULES.decide(table, cause, at)
        return decided if isinstance(decided, Rejected) else tuple(map(wrong, decided))

    return replace(RULES, decide=decide)


def role_with(wrong: Wrong) -> TableRole:
    """What the table owes, with a fault."""
    return replace(ROLE, owes=lambda table, at: tuple(map(wrong, ROLE.owes(table, at))))


def _never_releases(table: Table, at: Instant) -> tuple[AnyEvent, ...]:
    owed = debt(table)
    return () if owed is not None and owed.duty == "release_seat" else ROLE.owes(table, at)


NEVER_RELEASES: Final[TableRole] = replace(ROLE, owes=_never_releases)
"""A seat is kept for ever for whom it was kept once."""
