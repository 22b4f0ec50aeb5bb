"""Rake schedules of an operator's own: read from a file, chosen for a table, and told in a line."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from contracts.games import BuyIn, RakeBand, RakeSchedule, Stakes, TableConfig
from services.bus.faults import of_a_file
from services.command_line.refusals import CannotRead, WrongArgument
from services.rake.families import Family, family_of
from services.rake.schedules import NAMES, family
from services.table.opening import faults_of

FILE_BYTES_MAX: Final = 1_000_000


def text_of(path: Path) -> str:
    """The text of a small file that somebody wrote by hand. Raises `CannotRead`."""
    try:
        with path.open("rb") as file:
            data = file.read(FILE_BYTES_MAX + 1)
    except OSError as error:
        raise CannotRead(of_a_file(error)) from error
    if len(data) > FILE_BYTES_MAX:
        raise CannotRead(f"{path}: longer than {FILE_BYTES_MAX} bytes, so it was not written by hand")
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise CannotRead(f"{path}: no UTF-8 text, from byte {error.start} on") from error


def schedules_of(path: Path) -> Family:
    """What a file of rake schedules says. Raises `CannotRead`, `Faulty`."""
    return family_of(text_of(path))


def unfit(schedule: RakeSchedule) -> Iterator[str]:
    """Why no table can be raked by a schedule, however few seats it has."""
    seats = max((band.players[1] for band in schedule.bands), default=2)
    stakes, buy_in = Stakes(small_blind=1, big_blind=2), BuyIn(minimum=1)
    yield from faults_of(
        TableConfig(variant="holdem", limit="no_limit", stakes=stakes, seats=seats, buy_in=buy_in, rake=schedule)
    )


def raked_by(config: TableConfig, named: str) -> TableConfig:
    """The configuration with the schedule that a family, named or in a file, has for such a table.

    Raises `WrongArgument` where it has none, `CannotRead`, `Faulty`.
    """
    of = family(named) if named in NAMES else schedules_of(Path(named))
    if config.money == "play":
        raise WrongArgument("play money is never raked: leave --rake out")
    chosen = of.chosen(config.money, config.limit, config.stakes)
    if chosen is None:
        has = ", ".join(f"{row.lowest} to {row.highest or 'any'}" for row in of.schedules)
        raise WrongArgument(
            f"{named} has no rake schedule for a {config.limit} table with a {of.stake} of "
            f"{of.stake_of(config.stakes)}; it has some for {', '.join(of.limits)}, {of.stake} {has}"
        )
    return msgspec.structs.replace(config, rake=chosen)


def rates(schedule: RakeSchedule, band: RakeBand) -> str:
    """What a band takes, in a few words."""
    match schedule.mode:
        case "step":
            return f"{band.step_rake} per {band.step_pot}"
        case "percent":
            return f"{band.basis_points / 100:g}%"
        case "breakpoints":
            return ", ".join(f"{rake} from {pot}" for pot, rake in band.thresholds)
