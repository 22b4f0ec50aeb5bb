"""Where a command finds the logs of ledgers: on a server, beside those of the tables, or in exported files."""

import contextlib
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, NamedTuple

import msgspec
from cyclopts import Parameter

from contracts import subjects
from contracts.accounts import LEDGER_PATTERN, SYSTEM_ACCOUNTS, Account
from contracts.codec import decode_by
from contracts.data import END, Id
from contracts.ledger import HOUSE
from services.bus.archives import OF_LEDGERS
from services.bus.jetstream import JetStreamLog
from services.bus.reading import Message, Unreadable
from services.command_line.refusals import CannotRead, WrongArgument
from services.command_line.sources import opened
from services.command_line.where import Where
from services.replay import files

type OfLedger = Annotated[
    str | None, Parameter(name="--ledger", help="The ledger, such as real-USD; default: the house's only one.")
]

_account: Final = msgspec.json.Decoder(Account)
_LEDGER: Final = msgspec.json.Decoder(Annotated[str, msgspec.Meta(pattern=LEDGER_PATTERN + END)])


class Books(NamedTuple):
    """The logs of a house's ledgers, and those of the tables of its rooms."""

    ledgers: JetStreamLog
    tables: JetStreamLog


class Exported(NamedTuple):
    """Exported logs: of ledgers by name, of tables by room and name."""

    ledgers: dict[str, Path]
    tables: dict[tuple[Id, Id], Path]


class _Owner(msgspec.Struct):
    ledger: str = ""
    table: str = ""


class _Last(msgspec.Struct):
    type: str


class _Outline(msgspec.Struct):
    ledger: str
    by: str
    events: list[_Last]


_owners: Final = msgspec.json.Decoder(_Owner)
_outlines: Final = msgspec.json.Decoder(_Outline)


@contextlib.asynccontextmanager
async def books(where: Where) -> AsyncIterator[Books]:
    """The house's books, for reading. Raises `CannotRead` or `WrongArgument`."""
    async with opened(where) as room:
        log = await JetStreamLog.open(room.client, room.settings, archive=OF_LEDGERS)
        try:
            yield Books(log, room.log)
        finally:
            await log.close()


def ledger_name(text: str) -> str:
    """A ledger's name as it is given. Raises `WrongArgument`."""
    try:
        return _LEDGER.decode(msgspec.json.encode(text))
    except msgspec.MsgspecError as error:
        raise WrongArgument(
            f"{text!r} is no ledger: `real-` or `play-` and a currency's letters are, as real-USD"
        ) from error


def account_name(text: str) -> str:
    """The account that is meant: a player needs no `player.` before the name. Raises `WrongArgument`."""
    known = text if "." in text or text in SYSTEM_ACCOUNTS else f"player.{text}"
    try:
        return _account.decode(msgspec.json.encode(known))
    except msgspec.MsgspecError as error:
        raise WrongArgument(
            f"{text!r} is no account: a player's name (1 to 40 letters, digits, - and _), table.ROOM.TABLE, rake, "
            f"suspense or cash is"
        ) from error


def is_ledger(text: str) -> bool:
    """Whether a ledger can be called so: an operator of the server can store anything."""
    try:
        ledger_name(text)
    except WrongArgument:
        return False
    return True


async def ledgers_of(log: JetStreamLog, name: str | None) -> list[str]:
    """The ledgers of a house, or the one that is named. Raises `CannotRead`, `WrongArgument`."""
    there = await log.tables(HOUSE)
    if name is None:
        return there
    if ledger_name(name) not in there:
        raise CannotRead(f"there is no ledger {name}: {', '.join(there) or 'none at all'}")
    return [name]


async def only_ledger(log: JetStreamLog, name: str | None) -> str:
    """The ledger that is meant. Raises `CannotRead`, `WrongArgument`."""
    there = [each for each in await ledgers_of(log, name) if is_ledger(each)]
    if not there:
        raise CannotRead("there is no ledger yet: `croupier open-account` opens one")
    if len(there) > 1:
        raise WrongArgument(f"which ledger is meant? --ledger {' or --ledger '.join(there)}")
    return there[0]


async def ledger_messages(log: JetStreamLog, ledger: str) -> AsyncIterator[Message]:
    """The messages of a ledger's log."""
    async for stored in log.read(HOUSE, ledger):
        yield stored.subject, stored.data


def exported(room: Id, paths: Sequence[Path]) -> Exported:
    """Which logs are in which files, as their first lines say. Raises `CannotRead`, `OSError`, `Unreadable`."""
    found = Exported({}, {})
    for path in paths:
        line = files.first_line(path)
        try:
            owner = decode_by(_owners, line)
        except msgspec.MsgspecError as error:
            raise CannotRead(f"{path}: the first line is no commit") from error
        if owner.ledger:
            _once(found.ledgers, owner.ledger, path)
        elif owner.table:
            _once(found.tables, (room, owner.table), path)
        else:
            raise CannotRead(f"{path}: the first line is no commit of a ledger, nor of a table")
    return found


def _once[K](held: dict[K, Path], key: K, path: Path) -> None:
    if key in held:
        raise WrongArgument(f"{held[key]} and {path} are of the same log: give one of them")
    held[key] = path


def is_meant(path: Path, *, table: bool, ledger: str | None) -> bool:
    """Whether an exported log is a ledger's, and not a `table`'s; of what cannot be read whoever reads it tells more.

    Raises `WrongArgument` where something else was named than what is in the file.
    """
    try:
        found = decode_by(_owners, files.first_line(path))
    except (OSError, Unreadable, msgspec.MsgspecError):
        return False
    if ledger is not None and ledger_name(ledger) != found.ledger:
        is_of = found.ledger or f"table {found.table}"
        raise WrongArgument(f"{path} is not the log of ledger {ledger}, but of {is_of}")
    if table and found.ledger:
        raise WrongArgument(f"{path} is the log of ledger {found.ledger}: it has no TABLE, HAND or --hand-keys")
    return bool(found.ledger)


def ledger_lines(path: Path) -> Iterator[Message]:
    """The messages of an exported ledger. Raises `OSError`, `Unreadable`."""
    for data in files.lines(path):
        yield _subject_of(data), data


def _subject_of(data: bytes) -> str:
    """Where a ledger's commit with these bytes is stored; empty for what is none."""
    try:
        outline = decode_by(_outlines, data)
        return subjects.guarded(HOUSE, outline.ledger, outline.by, outline.events[-1].type, subjects.LEDGERS).subject
    except (msgspec.MsgspecError, IndexError, ValueError):
        return ""
