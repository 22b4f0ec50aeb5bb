"""`croupier open` and `croupier options`: a table's configuration from a file, at once or from the next hand on.

A file is TOML, or JSON if it is named so, with the fields of a table's configuration (`TableConfig`).
"""

import asyncio
import tomllib
from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import Parameter

from contracts.codec import encode
from contracts.commands import ChangeOptions, OpenTable
from contracts.data import Id
from contracts.games import TableConfig
from contracts.plain import Faulty, read
from contracts.queries import PublicTable
from services.command_line.asking import ANEW, Again, Json, Why, ask, picture
from services.command_line.at_the_desk import an_operator
from services.command_line.printing import print_json
from services.command_line.refusals import CannotRead, WrongArgument
from services.command_line.schedule_files import raked_by, text_of
from services.command_line.sources import table_name
from services.command_line.where import NOWHERE, Where

type Rake = Annotated[
    str | None,
    Parameter(name="--rake", help="Take the rake schedule from this family (`croupier rake schedules`) or file."),
]


def open_table(
    table: str,
    file: Path,
    /,
    *,
    rake: Rake = None,
    again: Again = ANEW,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Open a table with the configuration in a file, TOML or JSON."""
    fields = {"config": _config(file, rake)}
    at_its_beginning = Again(id=again.id, hand=again.hand or 0)
    return asyncio.run(ask(where, table, OpenTable, fields, at_its_beginning, json=json))


def options(
    table: str,
    file: Path | None = None,
    /,
    *,
    reason: Why = "",
    rake: Rake = None,
    again: Again = ANEW,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Print a table's configuration as JSON; with a file: play by that one from the next hand on.

    The file holds the whole configuration. The money, the currency and who answers for the chips stay as they are.
    """
    if file is None:
        if rake is not None or reason:
            raise WrongArgument("a change needs a file: print the configuration, edit it, and give it")
        return asyncio.run(_show(where, table_name(table)))
    fields = {"config": _config(file, rake), "reason": reason}
    return asyncio.run(ask(where, table, ChangeOptions, fields, again, json=json))


async def _show(where: Where, table: Id) -> int:
    async with an_operator(where) as operator:
        seen = await picture(operator, where.room, table)
    if not isinstance(seen, PublicTable):
        raise CannotRead(seen.message)
    print_json(seen.config)
    return 0


def _config(path: Path, rake: str | None) -> dict[str, Any]:
    """The configuration in a file, with the schedule that `rake` names. Raises `CannotRead`, `WrongArgument`."""
    source = str(path)
    try:
        config = read(_plain(path), TableConfig)
        if rake is not None:
            source = rake
            config = raked_by(config, rake)
    except Faulty as faulty:
        raise WrongArgument("\n".join(f"{source}: {fault}" for fault in faulty.faults)) from faulty
    plain: dict[str, Any] = msgspec.json.decode(encode(config))
    return plain


def _plain(path: Path) -> object:
    text = text_of(path)
    if path.suffix == ".json":
        try:
            return msgspec.json.decode(text)
        except (msgspec.DecodeError, RecursionError) as error:
            raise Faulty([f"this is not JSON: {error}"]) from error
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise Faulty([f"this is not TOML: {error}"]) from error
