"""`croupier rake`: what the house took, which schedules there are, and whether a schedule of one's own can be used."""

import asyncio
from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import msgspec
from cyclopts import App, Parameter

from contracts.codec import decode_commit
from contracts.data import Id
from contracts.games import RakeSchedule
from contracts.plain import Faulty
from services.aggregate.table import Table
from services.bus import reader
from services.bus.aggregates import TABLES
from services.bus.log import Log
from services.bus.reading import Message, Reading, TableReading, Unreadable
from services.command_line.printing import print_grid, print_json, print_lines
from services.command_line.refusals import CannotRead, WrongArgument
from services.command_line.schedule_files import rates, schedules_of, unfit
from services.command_line.sources import checked, opened, table_name
from services.command_line.where import NOWHERE, Where
from services.rake.families import Family
from services.rake.schedules import NAMES, family
from services.replay import files
from services.replay.raked import By, Raked, Report

NOT_RIGHT: Final = 1
"""The exit code of `croupier rake check` for a file that no table can be raked by."""

type Json = Annotated[bool, Parameter(name="--json", negative=(), help="Print one JSON document.")]


class Days(NamedTuple):
    """The days that are wanted, both included; None: no bound."""

    first: date | None
    last: date | None

    def are_over(self, day: date) -> bool:
        """Whether `day` comes after them."""
        return self.last is not None and day > self.last


rake = App(
    name="rake",
    help="Add up the rake that was taken; list the rake schedules, or check one of your own.",
    help_format="plaintext",
    result_action="return_value",
)


@rake.default
def report(
    *logs: Path,
    by: Annotated[By, Parameter(help="What to add up by.")] = "day",
    table: Annotated[
        tuple[str, ...], Parameter(name="--table", help="This table alone; several times.", negative=())
    ] = (),
    first: Annotated[str | None, Parameter(name="--from", help="The first day, YYYY-MM-DD, in UTC.")] = None,
    last: Annotated[str | None, Parameter(name="--to", help="The last day, YYYY-MM-DD, in UTC.")] = None,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Add up the rake that was taken, from the log of a room or from exported logs. A voided hand's rake is none.

    Parameters
    ----------
    logs
        Exported logs; without any, the tables of the room.
    """
    days = Days(_day("--from", first), _day("--to", last))
    if days.first is not None and days.last is not None and days.first > days.last:
        raise WrongArgument(f"--from {days.first} is later than --to {days.last}: no day lies between them")
    raked = Raked(by, *days)
    names = {table_name(each) for each in table}
    checked(where)
    if logs:
        _add_files(raked, where.room, logs, names)
    else:
        asyncio.run(_add_tables(raked, days, where, names))
    if json:
        print_json(raked.report())
    else:
        _show(raked.report())
    return 0


@rake.command
def check(file: Path, /, *, json: Json = False) -> int:
    """Check a file of rake schedules, TOML: 0 if tables can be raked by it, 1 with all that is wrong if not."""
    faults, families = [], []
    try:
        families = [schedules_of(file)]
        faults = [f"{each.id}: {fault}" for each in _all(families[0]) for fault in unfit(each)]
    except Faulty as faulty:
        faults = faulty.faults
    if json:
        print_json({"file": str(file), "faults": faults})
    elif faults:
        print_lines([f"{file}: {fault}" for fault in faults])
    else:
        _list(families)
    return NOT_RIGHT if faults else 0


@rake.command
def schedules(*, json: Json = False) -> int:
    """List the rake schedules that come with this release."""
    families = [family(name) for name in NAMES]
    if json:
        print_json(families)
    else:
        _list(families)
    return 0


def _all(found: Family) -> Iterator[RakeSchedule]:
    return map(found.schedule, found.schedules)


def _day(option: str, text: str | None) -> date | None:
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError as error:
        raise WrongArgument(f"{option} {text!r} is no day; one like 2026-03-01 is") from error


async def _add_tables(raked: Raked, days: Days, where: Where, names: set[Id]) -> None:
    async with opened(where) as room:
        there = await room.log.tables(where.room)
        missing = sorted(names.difference(there))
        if missing:
            raise CannotRead(f"there is no table {', '.join(missing)} in room {where.room}")
        if not there:
            raise CannotRead(f"there is no table in room {where.room}: no rake was added up")
        for table in sorted(names or there):
            start = await _start(room.log, where.room, table, days)
            reading = Reading(TABLES, start.state.copy())
            async for message in reader.messages(room.log, start):
                commit = reading.next_of(message)
                if commit is None:
                    continue
                if TABLES.is_statement(commit) and days.are_over(commit.at.date()):
                    break  # no hand before this one can be voided any more
                raked.take(reading.state, commit)
                reading.fold(commit, message[1])
            raked.end(reading.state)


async def _start(log: Log, room: Id, table: Id, days: Days) -> reader.TableStart:
    """Where to begin: with the hand in which the first day begins, so that older hands are not read."""
    if days.first is None:
        return await reader.from_the_beginning(TABLES, log, room, table)
    return await reader.from_moment(log, room, table, datetime.combine(days.first, time.min, UTC))


def _add_files(raked: Raked, room: Id, paths: tuple[Path, ...], names: set[Id]) -> None:
    """Adds exported logs, or parts of them that begin with a hand. Raises `CannotRead`, `WrongArgument`."""
    held: dict[Id, list[tuple[int, int, Path]]] = {}
    for path in paths:
        table = files.table_of(path)
        if names and table not in names:
            continue
        reading = Reading(TABLES, _anchor(room, path))
        first = reading.state.n + 1
        try:
            _add_file(raked, reading, files.messages(room, path))
        except Unreadable as error:
            if error.table is None:
                raise
            raise CannotRead(f"{path}: {error}; `croupier verify --file {path}` tells more") from error
        if reading.ignored:
            raise CannotRead(f"{path}: {reading.ignored} lines do not extend the log of table {table}")
        raked.end(reading.state)
        for low, high, other in held.setdefault(table, []):
            if first <= high and low <= reading.state.n:
                raise WrongArgument(f"{other} and {path} both hold commits of table {table}: give each once")
        held[table].append((first, reading.state.n, path))
    if missing := sorted(names.difference(held)):
        raise CannotRead(f"none of the files is the log of table {', '.join(missing)}")


def _add_file(raked: Raked, reading: TableReading, messages: Iterable[Message]) -> None:
    for message in messages:
        commit = reading.next_of(message)
        if commit is not None:
            raked.take(reading.state, commit)
            reading.fold(commit, message[1])


def _anchor(room: Id, path: Path) -> Table:
    """The table before the first commit of a file; of a part of a log it is known by that commit alone."""
    table = files.table_of(path)
    try:
        commit = decode_commit(files.first_line(path))
    except msgspec.MsgspecError as error:
        raise CannotRead(f"{path}: the first line cannot be read: {error}") from error
    if commit.n == 1:
        return Table(room=room, id=table)
    if not TABLES.is_statement(commit):
        raise CannotRead(f"{path}: begins with commit {commit.n}, in the middle of a hand; export from its beginning")
    return Table(room=room, id=table, n=commit.n - 1, head=commit.prev)


def _show(found: Report) -> None:
    print_grid(
        (found.by.capitalize(), "Currency", "Hands", "Pots", "Rake"),
        [
            (line.group, _currency(line.money, line.currency), line.hands, line.pots, line.rake)
            for line in found.lines
        ],
    )  # fmt: skip
    for total in found.totals:
        currency = _currency(total.money, total.currency)
        print(f"{currency}: {total.rake} of {total.pots} in {total.hands} hands")
        if total.voided:
            print(f"  hands voided: {total.voided}, rake returned: {total.returned}")
        if total.unfinished:
            print(f"  of hands that have not ended: {total.unfinished}")
    if not found.totals:
        print("no hand was raked")


def _currency(money: str, currency: str) -> str:
    return currency if money == "real" else f"{currency} ({money})"


def _list(families: list[Family]) -> None:
    print_grid(
        ("Family", "Version", "Limits", "Stakes", "Schedule", "Players", "Rate", "Cap"),
        [
            (each.family, each.version, ", ".join(each.limits), _range(each, index), schedule.id,
             f"{band.players[0]}-{band.players[1]}", rates(schedule, band), "" if band.cap is None else band.cap)
            for each in families
            for index, schedule in enumerate(_all(each))
            for band in schedule.bands
        ],
    )  # fmt: skip


def _range(of: Family, index: int) -> str:
    row = of.schedules[index]
    stake = of.stake.replace("_", " ")
    return f"{stake} {row.lowest}+" if row.highest is None else f"{stake} {row.lowest}-{row.highest}"
