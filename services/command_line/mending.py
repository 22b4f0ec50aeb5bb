"""`croupier repair` and `croupier move`: a table's log put back from its export, or taken to another server."""

import asyncio
from collections.abc import Coroutine, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from cyclopts import Parameter
from nats.errors import Error, NoRespondersError

from contracts import subjects
from contracts.codec import decode_outcome, encode
from contracts.commands import PauseTable
from contracts.data import Id
from contracts.outcomes import Rejected
from services.aggregate.table import Table
from services.bus import reader
from services.bus.aggregates import TABLES
from services.bus.log import Heads, Refused
from services.bus.reading import Message
from services.bus.server_health import health
from services.bus.streams import ensure
from services.command_line.printing import print_json, print_lines
from services.command_line.refusals import CannotRead, WrongArgument
from services.command_line.restoring import Restoring
from services.command_line.sources import Opened, checked, connected, opened, owned, table_name
from services.command_line.where import NOWHERE, Where
from services.replay import files
from services.replay.restoration import NotTaken, NotWhole, Whole, chain, whole

REFUSED: Final = 1
"""The exit code where nothing was changed, because something would be lost."""
ASK_S: Final = 5.0

type Json = Annotated[bool, Parameter(name="--json", negative=(), help="Print one JSON document.")]


class Done(msgspec.Struct, frozen=True):
    """What became of a table: whether its log had to be changed, its head, and where the whole log was kept."""

    table: Id
    changed: bool
    n: int
    head: str
    kept: str | None = None


def repair(
    table: str,
    /,
    *,
    source: Annotated[Path, Parameter(name="--from", help="The exported log, JSON lines.")],
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Put a damaged log back from its export, byte for byte, as the deploy role.

    The export is verified first, and what the stream still holds after it is kept. Nothing is changed if a commit
    that somebody knows would be lost. Run it again if it was interrupted.
    """
    return _run(_repair(checked(where), table_name(table), source), json=json)


def move(
    table: str,
    /,
    *,
    to: Annotated[str, Parameter(help="Address of the server that the table goes to.")],
    to_credentials: Annotated[Path, Parameter(help="File with the passwords of that server, that of `deploy` too.")],
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Take a table, paused and between hands, to another server: the same bytes under the same name."""
    target = Where(nats=to, credentials=to_credentials, room=checked(where).room)
    return _run(_move(where, target, table_name(table)), json=json)


def _run(work: Coroutine[Any, Any, tuple[Done, list[str]]], *, json: bool) -> int:
    try:
        done, said = asyncio.run(work)
    except NotWhole as error:
        print_lines([f"Nothing was changed: {error}."])
        return REFUSED
    except (NotTaken, Refused) as error:
        raise CannotRead(str(error)) from error
    if json:
        print_json(done)
    else:
        print_lines(said)
    return 0


async def _repair(where: Where, table: Id, path: Path) -> tuple[Done, list[str]]:
    try:
        exported = list(files.messages(where.room, path))
    except OSError as error:
        raise CannotRead(f"{path}: {error.strerror}") from error
    kept = path.with_name(f"{path.stem}.whole.jsonl")
    if kept == path:
        raise WrongArgument(f"{path} would be overwritten")
    written: list[Path] = []

    def keep(log: Whole) -> None:
        if log.saved > 0:
            _write(kept, log.messages)
            written[:] = [kept]

    async with owned(where) as there:
        restoring = Restoring(there, where.room, table)
        heads = (await there.log.heads(where.room, table)).get(table, {})
        changed, head = await restoring.run(lambda found: whole(where.room, table, exported, found, heads), keep)
    done = Done(table, changed, head.n, head.hash, str(kept) if written else None)
    said = (
        f"Table {table}: {'restored' if changed else 'whole already'}, commits 1 to {head.n}, head {head.n}:{head.hash}"
    )
    more = [f"  {kept} has all of them, those too that the export had not"] if written else []
    return done, [said, *more]


def _write(path: Path, messages: Sequence[Message]) -> None:
    """The stream is touched only once all that it alone holds is written down."""
    try:
        path.write_bytes(b"".join(data + b"\n" for _, data in messages))
    except OSError as error:
        raise CannotRead(f"{path}: {error.strerror}; nothing was changed") from error


async def _move(where: Where, target: Where, table: Id) -> tuple[Done, list[str]]:
    async with opened(where) as source:
        await _pause(source, where.room, table)
        heads = (await source.log.heads(where.room, table)).get(table, {})
        found = [(stored.subject, stored.data) async for stored in source.log.read(where.room, table)]
        log = await asyncio.to_thread(_checked, where.room, table, found, heads)
        await _at_rest(source, where.room, table)
    async with owned(target) as there:
        replicas = there.settings.replicas
        await ensure(there.client.jetstream(), replicas, health=partial(health, there.client, replicas))

        def same(stored: list[Message]) -> Whole:
            if stored != list(log.messages[: len(stored)]):
                raise NotWhole(f"the other server has another table {table} in room {where.room}")
            return log

        changed, head = await Restoring(there, where.room, table).run(same)
    return Done(table, changed, head.n, head.hash), [
        f"Table {table}: commits 1 to {head.n} are on the other server, head {head.n}:{head.hash}",
        "  There it is paused: resume_table has it play on.",
        "  Here it must not be resumed: two tables would play on from one log. Close it with close_table.",
    ]


def _checked(room: Id, table: Id, found: Sequence[Message], heads: Heads) -> Whole:
    """What a stream holds of a table as a whole log, which takes seconds of a long one. Raises `NotWhole`."""
    return whole(room, table, chain(room, table, found), (), heads)


async def _pause(source: Opened, room: Id, table: Id) -> None:
    """Pauses a table between hands; where nobody answers, nobody plays. Raises `NotWhole` or `CannotRead`."""
    state = await _at_rest(source, room, table)
    if state.status != "open":
        return
    pause = PauseTable(id=f"move-{state.n}", hand=state.hands)
    operator = source.settings.operator
    async with connected(source.settings, operator) as client:
        try:
            subject = subjects.command(room, table, "operator", operator)
            answer = await client.request(subject, encode(pause), timeout=ASK_S)
        except NoRespondersError:
            raise CannotRead("no room runs there that could pause the table: serve it, and move it then") from None
        except (TimeoutError, Error) as error:
            raise CannotRead(f"the room does not answer, so table {table} cannot be paused: {error!r}") from error
    outcome = decode_outcome(answer.data)
    if isinstance(outcome, Rejected):
        raise NotWhole(f"table {table} cannot be paused: {outcome.code}, {outcome.message}")
    await _at_rest(source, room, table)


async def _at_rest(source: Opened, room: Id, table: Id) -> Table:
    """The table, if no hand is in progress. Raises `NotWhole`."""
    state = (await reader.folded(source.log, await reader.from_last_statement(TABLES, source.log, room, table))).state
    if state.hand is not None:
        number = state.hand.number
        raise NotWhole(f"hand {number} of table {table} is in progress; pause the table, and move it when it has ended")
    return state
