"""Which tables can be opened: configurations that can be played at (RULES 0.1, R6, R65, R107, R146, R147, R151)."""

from collections.abc import Iterator
from itertools import pairwise

from contracts.commands import OpenTable
from contracts.commit import Cause
from contracts.data import CHIPS_MAX, Chips
from contracts.events import AnyEvent
from contracts.events.table import TableOpened
from contracts.games import RULES_VERSION, RakeBand, RakeSchedule, TableConfig
from contracts.outcomes import Allowed, Rejected
from services.aggregate.debts import PLAYERS_TO_START
from services.aggregate.table import Table
from services.table.betting.fixed_limit import unit
from services.table.blinds import PLAYERS_TO_STRADDLE
from services.table.refusals import refuse

WHOLE_BASIS_POINTS = 10_000
STRADDLED_BETS = 2
"""A straddle in a fixed-limit game is the second bet before the flop: the big blind is the first (R147)."""
RULES_KNOWN = tuple(range(1, RULES_VERSION + 1))
"""The versions of the rules by which this release can play."""


def open_table(table: Table, cause: Cause, command: OpenTable) -> tuple[AnyEvent, ...] | Rejected:
    """Opens a table that this release can deal at, and whose configuration makes sense."""
    refusal = unknown_rules(table, cause, command.config)
    if refusal is not None:
        return refusal
    faults = "; ".join(faults_of(command.config))
    if faults:
        message = f"No table can be opened like this: {faults}."
        return refuse(table, cause, "malformed", message, Allowed(actions=("open_table",)))
    return (TableOpened(config=command.config),)


def unknown_rules(table: Table, cause: Cause, config: TableConfig) -> Rejected | None:
    """The refusal of a configuration by whose rules this release cannot play."""
    rules = config.options.rules
    if rules <= RULES_VERSION:
        return None
    message = f"Rules {rules} are not known here; the newest are {RULES_VERSION}."
    return refuse(table, cause, "unsupported_version", message, Allowed(versions=RULES_KNOWN))


def faults_of(config: TableConfig) -> Iterator[str]:
    """All that is wrong with a configuration, in words."""
    stakes, buy_in = config.stakes, config.buy_in
    if stakes.small_blind > stakes.big_blind:
        yield f"the small blind of {stakes.small_blind} is above the big blind of {stakes.big_blind}"
    if stakes.big_bet and stakes.small_bet > stakes.big_bet:
        yield f"the small bet of {stakes.small_bet} is above the big bet of {stakes.big_bet}"
    if buy_in.maximum is not None and buy_in.minimum > buy_in.maximum:
        yield f"the least buy-in of {buy_in.minimum} is above the highest of {buy_in.maximum}"
    if config.options.straddle and config.seats < PLAYERS_TO_STRADDLE:
        yield f"a straddle needs {PLAYERS_TO_STRADDLE} seats or more (R147)"
    if config.options.straddle and config.limit == "fixed_limit" and config.options.fl_cap < STRADDLED_BETS:
        yield f"a straddle is bet {STRADDLED_BETS} of its street: a cap of {STRADDLED_BETS} bets or more (R68, R147)"
    yield from _of_amounts(config)
    if config.rake is not None:
        yield from _of_schedule(config.rake, config.seats)


def most_posted(config: TableConfig) -> Chips:
    """The most that one player posts in turn: the big blind or a straddle (R147), and an ante (R146)."""
    stakes = config.stakes
    return stakes.ante + stakes.big_blind * (2 if config.options.straddle else 1)


def _of_amounts(config: TableConfig) -> Iterator[str]:
    """The posts of a hand, and the bets of a fixed-limit game, have to fit into a stack and under the cap (R151)."""
    posted, cap = most_posted(config), config.options.cap_per_hand
    if 0 < cap < posted:
        yield f"the cap per hand of {cap} is below the posts: 0 for no cap, or {posted} at least"
    amounts = {"posts of a hand": posted}
    if config.limit == "fixed_limit":
        amounts["big bet"] = max(unit(config, "flop"), unit(config, "turn"))
    most = config.buy_in.maximum
    for name, amount in amounts.items():
        if most is not None and most < amount:
            yield f"the highest buy-in of {most} is below the {name}: {amount} at least"
        elif amount > CHIPS_MAX:
            yield f"the {name} {'is' if name == 'big bet' else 'are'} {amount}: {CHIPS_MAX} at most"


def _of_schedule(schedule: RakeSchedule, seats: int) -> Iterator[str]:
    if not schedule.bands:
        yield f"the bands are one or more, and count every number of players from {PLAYERS_TO_START} to {seats}"
        return
    missing = [
        str(number)
        for number in range(PLAYERS_TO_START, seats + 1)
        if not any(band.players[0] <= number <= band.players[1] for band in schedule.bands)
    ]
    if missing:
        yield f"no band counts {', '.join(missing)} players: each number from {PLAYERS_TO_START} to {seats} needs one"
    if not 0 <= schedule.version <= CHIPS_MAX:
        yield f"rake.version is {schedule.version}: 0 to {CHIPS_MAX} is accepted"
    for index, band in enumerate(schedule.bands):
        low, high = band.players
        if low > high:
            yield f"the players go from {low} to {high}"
        if low < 0 or high > CHIPS_MAX:
            yield f"the players go from {low} to {high}: 0 to {CHIPS_MAX} is accepted"
        yield from (f"rake.bands[{index}].{fault}" for fault in _of_rates(schedule, band))
    for one, other in pairwise(sorted(band.players for band in schedule.bands)):
        if other[0] <= one[1]:
            yield "two bands count the same number of players"


def _of_rates(schedule: RakeSchedule, band: RakeBand) -> Iterator[str]:
    match schedule.mode:
        case "step":
            if band.step_pot == 0:
                yield "step_pot is 1 or more"
            elif band.step_rake > band.step_pot:
                yield "step_rake is step_pot at most"
        case "percent":
            if band.basis_points > WHOLE_BASIS_POINTS:
                yield f"basis_points are {WHOLE_BASIS_POINTS} at most"
        case "breakpoints":
            if any(after <= before for before, after in pairwise(band.thresholds)):
                yield "thresholds rise, from pot to pot and from rake to rake"
            if any(rake > pot for pot, rake in band.thresholds):
                yield "no threshold takes more than the pot"
