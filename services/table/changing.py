"""How a table's configuration is changed, from the next hand on: what may differ, and what may not (RULES 0.1)."""

from collections.abc import Iterator

from contracts.commands import ChangeOptions
from contracts.commit import Cause
from contracts.data import Instant
from contracts.events import AnyEvent
from contracts.events.table import OptionsChanged, PlayerSatOut
from contracts.games import TableConfig
from contracts.outcomes import Allowed, Rejected
from services.aggregate.table import Table
from services.table.opening import faults_of, unknown_rules
from services.table.refusals import refuse


def change_options(
    table: Table, config: TableConfig, cause: Cause, command: ChangeOptions, at: Instant
) -> tuple[AnyEvent, ...] | Rejected:
    """The configuration of the hands to come, in a hand from the next one on."""
    now = table.next_config if table.next_config is not None else config
    refusal = unknown_rules(table, cause, command.config)
    if refusal is not None:
        return refusal
    faults = "; ".join([*faults_of(command.config), *_faults(now, command.config)])
    if faults:
        message = f"The table cannot be changed like this: {faults}."
        return refuse(table, cause, "malformed", message, Allowed(actions=("change_options",)))
    gone = sorted(seat for seat in (*table.seats, *table.reservations) if seat > command.config.seats)
    if gone:
        which = ", ".join(map(str, gone))
        message = (
            f"The table cannot be changed like this: the seats {which} are held or kept: {gone[-1]} seats at least."
        )
        return refuse(table, cause, "seat_taken", message, Allowed(actions=("change_options",), minimum=gone[-1]))
    return OptionsChanged(config=command.config), *_begins(table, command.config, at)


def _faults(now: TableConfig, then: TableConfig) -> Iterator[str]:
    """What no change may ever touch: whose the chips are, and what they are worth."""
    if then.bankroll != now.bankroll:
        yield f"the bankroll stays {now.bankroll}"
    if (then.money, then.currency) != (now.money, now.currency):
        yield f"the chips stay {now.money} {now.currency}"
    if then.options.rules < now.options.rules:
        yield f"the rules stay {now.options.rules} or rise"


def _begins(table: Table, then: TableConfig, at: Instant) -> Iterator[AnyEvent]:
    """Where sitting out has a limit from now on, it counts from now on (R11)."""
    if not (then.options.sit_out_ms or then.options.sit_out_blinds):
        return
    for record in table.seats.values():
        if record.sitting_out and record.sat_out_at is None:
            yield PlayerSatOut(seat=record.seat, at=at)
