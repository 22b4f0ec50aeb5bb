"""`croupier repair` and `croupier move`: a table's log put back from its export, or taken to another server."""

import asyncio
import contextlib
import sys
from collections.abc import Coroutine, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec
from cyclopts import Parameter
from nats.errors import Error, NoRespondersError

from contracts import subjects
from contracts.codec import decode_outcome, encode
from contracts.commands import PauseTable
from contracts.commit import Head
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
from services.replay.restoration import NotReadable, NotTaken, NotWhole, Whole, chain, whole

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
    """Put a damaged log back from its export, as the deploy role.

    The same bytes are put back: the export is verified first, and what the stream still holds after it is kept.
    Nothing is changed if a commit that somebody knows would be lost. Run it again if it was interrupted.

    Ends with 0 if the log is whole, 1 if nothing was changed because the export is not sound or something would be
    lost, 2 if something cannot be meant, reached or read.
    """
    return _run(_repair(checked(where), table_name(table), source), "Nothing was changed", json=json)


def move(
    table: str,
    /,
    *,
    to: Annotated[str, Parameter(help="Address of the server that the table goes to.")],
    to_credentials: Annotated[Path, Parameter(help="File with the passwords of that server, that of `deploy` too.")],
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Take a table to another server, byte for byte.

    A table that plays is paused between two hands, once the other server has been looked at. While a hand is in
    progress nothing is done: pause the table, and move it when the hand has ended. Run it again if it was interrupted.

    Ends with 0 if the table is there, 1 if nothing was moved because something does not allow it, 2 if something cannot
    be meant, reached or read.
    """
    target = Where(nats=to, credentials=to_credentials, room=checked(where).room)
    return _run(_move(where, target, table_name(table)), "Nothing was moved", json=json)


def _run(work: Coroutine[Any, Any, tuple[Done, list[str]]], refused: str, *, json: bool) -> int:
    try:
        done, said = asyncio.run(work)
    except NotReadable as error:
        raise CannotRead(str(error)) from error
    except NotWhole as error:
        print_lines([f"{refused}: {error}."])
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
    if not exported:
        raise CannotRead(f"{path} is empty")
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
    """Pauses a table only once all that can be looked at before has been."""
    stored = await _held_there(target, table)
    log, state = await _looked_at(where, table, stored)
    if state.status == "open":
        await _pause(where, table, state)
    with _told_if_paused(table, state):
        if state.status == "open":
            log, _ = await _looked_at(where, table, stored)
        async with owned(target) as there:
            changed, head = await Restoring(there, where.room, table).run(partial(_fitting, where.room, table, log))
    return Done(table, changed, head.n, head.hash), list(_moved(table, state, head))


async def _held_there(target: Where, table: Id) -> list[Message]:
    """What the other server holds of a table, once its streams are right. Raises `CannotRead`, `StreamDiffers`."""
    async with owned(target) as there:
        replicas = there.settings.replicas
        await ensure(there.client.jetstream(), replicas, health=partial(health, there.client, replicas))
        return [(stored.subject, stored.data) async for stored in there.log.read(target.room, table)]


async def _looked_at(where: Where, table: Id, stored: Sequence[Message]) -> tuple[Whole, Table]:
    """A table at rest whose log is whole, and goes on from what is `stored` elsewhere. Raises `NotWhole`."""
    async with opened(where) as source:
        await _at_rest(source, where.room, table)
        heads = (await source.log.heads(where.room, table)).get(table, {})
        found = [(each.subject, each.data) async for each in source.log.read(where.room, table)]
        log = await asyncio.to_thread(_checked, where.room, table, found, heads)
        _fitting(where.room, table, log, stored)
        return log, await _at_rest(source, where.room, table)


def _checked(room: Id, table: Id, found: Sequence[Message], heads: Heads) -> Whole:
    """What a stream holds of a table as a whole log, which takes seconds of a long one. Raises `NotWhole`."""
    return whole(room, table, chain(room, table, found), (), heads)


def _fitting(room: Id, table: Id, log: Whole, stored: Sequence[Message]) -> Whole:
    """The log, if what is stored elsewhere is nothing or its beginning. Raises `NotWhole`."""
    if list(stored) != list(log.messages[: len(stored)]):
        raise NotWhole(f"the other server has another table {table} in room {room}")
    return log


@contextlib.contextmanager
def _told_if_paused(table: Id, state: Table) -> Iterator[None]:
    """Whatever ends a move from here on, an operator hears that nobody plays at the table now."""
    try:
        yield
    except BaseException:
        if state.status != "closed":
            print(
                f"croupier: table {table} is paused now: `croupier resume {table}` has it play on here", file=sys.stderr
            )
        raise


def _moved(table: Id, state: Table, head: Head) -> Iterator[str]:
    yield f"Table {table}: commits 1 to {head.n} are on the other server, head {head.n}:{head.hash}"
    if state.status == "closed":
        yield "  It is closed, there as here."
        return
    yield f"  There it is paused: `croupier resume {table}`, asked of that server, has it play on."
    yield "  Here it must not be resumed: two tables would play on from one log."
    yield f"  Close it here: `croupier close {table}`."


async def _pause(where: Where, table: Id, state: Table) -> None:
    """Pauses a table between hands; where nobody answers, nobody plays. Raises `NotWhole` or `CannotRead`."""
    pause = PauseTable(id=f"move-{state.n}", hand=state.hands)
    async with opened(where) as source, connected(source.settings, source.settings.operator) as client:
        try:
            subject = subjects.command(where.room, table, "operator", source.settings.operator)
            answer = await client.request(subject, encode(pause), timeout=ASK_S)
        except NoRespondersError:
            raise CannotRead("no room runs there that could pause the table: serve it, and move it then") from None
        except (TimeoutError, Error) as error:
            raise CannotRead(
                f"the room does not answer, so nobody knows whether table {table} is paused ({error!r}): "
                f"`croupier tables` tells, and `croupier resume {table}` has it play on"
            ) from error
    outcome = decode_outcome(answer.data)
    if isinstance(outcome, Rejected):
        raise NotWhole(f"table {table} cannot be paused: {outcome.code}, {outcome.message}")


async def _at_rest(source: Opened, room: Id, table: Id) -> Table:
    """The table, if no hand is in progress. Raises `NotWhole`."""
    state = (await reader.folded(source.log, await reader.from_last_statement(TABLES, source.log, room, table))).state
    if state.hand is not None:
        number = state.hand.number
        raise NotWhole(
            f"hand {number} of table {table} is in progress; pause the table (`croupier pause {table}`), "
            "and move it when the hand has ended"
        )
    return state
