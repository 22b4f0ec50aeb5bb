"""`croupier accounts`, `croupier ledger` and `croupier reconcile`: where all the chips are, and how they came there."""

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Final

from cyclopts import Parameter, validators

from contracts.codec import decode_ledger_commit
from contracts.data import Data, Id
from services.accounting.reconciliation import Reconciled, Reconciliation
from services.accounting.statements import AccountLine, EntryLine, accounts_of, is_there, lines_of
from services.aggregate.chain import Verdict, read_ledger
from services.aggregate.ledger import Ledger
from services.aggregate.ledger_fold import fold
from services.bus.jetstream import JetStreamLog
from services.bus.reading import Message
from services.command_line.ledger_logs import (
    Books,
    OfLedger,
    account_name,
    books,
    exported,
    is_ledger,
    ledger_lines,
    ledger_messages,
    ledger_name,
    ledgers_of,
    only_ledger,
)
from services.command_line.numbers import Whole
from services.command_line.printing import print_grid, print_json, print_lines
from services.command_line.refusals import CannotRead
from services.command_line.sources import checked
from services.command_line.where import NOWHERE, Where
from services.replay import files

DIFFERENCES_PRINTED_MAX: Final = 20

type Json = Annotated[bool, Parameter(name="--json", negative=(), help="Print one JSON document.")]


class Listed(Data, frozen=True):
    """The accounts of a ledger after commit `n`."""

    ledger: str
    n: int
    head: str
    accounts: tuple[AccountLine, ...]


class Statement(Data, frozen=True):
    """All that moved in an account of a ledger, up to commit `n`."""

    ledger: str
    account: str
    balance: int
    n: int
    frozen: bool
    entries: tuple[EntryLine, ...]


def accounts(*, ledger: OfLedger = None, where: Where = NOWHERE, json: Json = False) -> int:
    """List accounts and what is in them: those of players and tables, and the house's own."""
    return asyncio.run(_accounts(where, ledger, json=json))


def ledger(
    account: str,
    /,
    *,
    last: Annotated[
        Whole | None, Parameter(help="So many of the latest entries; default: all.", validator=validators.Number(gte=1))
    ] = None,
    ledger: OfLedger = None,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Tell what ever moved in an account, and why.

    A player is named with or without `player.` before it. Others: table.ROOM.TABLE, rake, suspense (corrections to be
    explained), cash (the world outside).
    """
    return asyncio.run(_statement(where, account, ledger, last, json=json))


def reconcile(
    *logs: Path,
    ledger: OfLedger = None,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Prove that every chip ever deposited is in an account, on a table or in the rake account.

    Told by day and by table. Ends with 0 if so, 1 with the first place of difference if not, 2 where a log cannot be
    read.

    Parameters
    ----------
    logs
        Exported logs of ledgers and of all their tables; without any, those of the running house.
    """
    if logs:
        checked(where)
        return _told(reconciled_files(where.room, logs, ledger), json=json)
    return _told(asyncio.run(_live(where, ledger)), json=json)


async def _accounts(where: Where, name: str | None, *, json: bool) -> int:
    async with books(where) as house:
        found, unread = await _readable(house.ledgers, await ledgers_of(house.ledgers, name))
    listed = [Listed(ledger=each.id, n=each.n, head=each.head, accounts=tuple(accounts_of(each))) for each in found]
    if json:
        print_json(listed)
    else:
        _list(listed, unread)
    if unread:
        raise CannotRead("\n".join(unread))
    return 0


async def _readable(log: JetStreamLog, names: Sequence[str]) -> tuple[list[Ledger], list[str]]:
    """The ledgers that can be read, and why the others cannot."""
    found: list[Ledger] = []
    unread: list[str] = []
    for name in names:
        try:
            found.append(await _folded(log, name))
        except CannotRead as error:
            unread.append(str(error))
    return found, unread


def _list(listed: Sequence[Listed], unread: Sequence[str]) -> None:
    for each in listed:
        print(f"Ledger {each.ledger} after commit {each.n}, head {each.head}")
        print_grid(
            ("Account", "Balance", ""),
            [(line.account, line.balance, "frozen" if line.frozen else "") for line in each.accounts],
        )
    if not listed and not unread:
        print("there is no ledger yet: `croupier open-account` opens one")


async def _folded(log: JetStreamLog, name: str) -> Ledger:
    """A ledger as it is now. Raises `CannotRead`."""
    if not is_ledger(name):
        raise CannotRead(f"{name} cannot be a ledger, and what is stored under that name is none")
    state = Ledger(id=name)
    async for message in ledger_messages(log, name):
        _take(state, message)
    return state


def _take(state: Ledger, message: Message) -> bool:
    """Folds a message if it is the next commit; what is no part of the log is passed over. Raises `CannotRead`."""
    reading = read_ledger(state, *message)
    if reading.verdict is Verdict.NEXT and reading.commit is not None:
        fold(state, reading.commit, message[1])
        return True
    if reading.verdict is not Verdict.IGNORED:
        raise CannotRead(f"ledger {state.id} cannot be read: {reading.reason}; `croupier reconcile` tells more")
    return False


async def _statement(where: Where, account: str, name: str | None, last: int | None, *, json: bool) -> int:
    entries: list[EntryLine] = []
    known = account_name(account)
    async with books(where) as house:
        state = Ledger(id=await only_ledger(house.ledgers, name))
        async for message in ledger_messages(house.ledgers, state.id):
            if _take(state, message):
                entries += lines_of(known, decode_ledger_commit(message[1]))
    if not is_there(state, known):
        raise CannotRead(f"there is no account {known} in ledger {state.id}: `croupier accounts` lists them")
    found = Statement(
        ledger=state.id,
        account=known,
        balance=state.balance(known),
        n=state.n,
        frozen=state.players.get(known.removeprefix("player."), False),
        entries=tuple(entries if last is None else entries[-last:]),
    )
    if json:
        print_json(found)
        return 0
    frozen = ", frozen" if found.frozen else ""
    print(f"{found.account} in ledger {found.ledger}: {found.balance}{frozen} (commit {found.n})")
    print_grid(
        ("Commit", "At (UTC)", "Entry", "Amount", "Balance", "From", "Why"),
        [
            (line.n, line.at.strftime("%Y-%m-%d %H:%M:%S"), line.entry, line.amount, line.balance, line.by, line.why)
            for line in found.entries
        ],
    )
    return 0


async def _live(where: Where, name: str | None) -> list[Reconciled]:
    """Reads each ledger, and then every table that may be of it: a table may be a moment ahead, never behind."""
    async with books(where) as house:
        names = await ledgers_of(house.ledgers, name)
        if not names:
            raise CannotRead("there is no ledger yet: nothing was reconciled")
        return [await reconciled(house, where.room, each) for each in names]


async def reconciled(house: Books, room: Id, name: str) -> Reconciled:
    """A ledger with every table of a room, and with every other that it has entries of."""
    found = Reconciliation(name)
    async for message in ledger_messages(house.ledgers, name):
        found.enter(*message)
    now = datetime.now(UTC)
    there = {(room, table) for table in await house.tables.tables(room)}
    for key in sorted(there.union(found.tables())):
        match = found.table(*key)
        async for stored in house.tables.read(*key):
            match.take(stored.subject, stored.data)
            if match.is_anothers(name):
                break
    return await asyncio.to_thread(found.result, now)  # the next ledger is asked for on the same connection


def reconciled_files(room: Id, paths: Sequence[Path], name: str | None) -> list[Reconciled]:
    """What is found in exported logs, ledger by ledger. Raises `CannotRead`, `WrongArgument`, `Unreadable`."""
    held = exported(room, paths)
    names = sorted(held.ledgers) if name is None else [ledger_name(name)]
    if not names or not set(names) <= held.ledgers.keys():
        raise CannotRead(f"none of the files is the log of {'a ledger' if name is None else f'ledger {name}'}")
    return [_of_file(held.ledgers[each], each, held.tables) for each in names]


def _of_file(path: Path, name: str, tables: dict[tuple[Id, Id], Path]) -> Reconciled:
    found = Reconciliation(name, exported=True)
    for message in ledger_lines(path):
        found.enter(*message)
    for key, log in tables.items():
        match = found.table(*key)
        for message in files.messages(key[0], log):
            match.take(*message)
            if match.is_anothers(name):
                break
    return found.result()


def _told(found: Sequence[Reconciled], *, json: bool) -> int:
    codes = {each.code for each in found}
    code = 1 if 1 in codes else max(codes)
    if json:
        print_json({"code": code, "ledgers": found})
    else:
        for each in found:
            _tell(each)
    return code


def _tell(found: Reconciled) -> None:
    sound = "every chip is in one place" if not found.differences else "DIFFERENT" if found.code == 1 else "UNREADABLE"
    print(f"Ledger {found.ledger}: {sound} ({found.commits} commits, {found.entries} entries, head {found.head})")
    print_lines(_sums(found))
    for each in found.differences[:DIFFERENCES_PRINTED_MAX]:
        print(f"  {each}")
    if len(found.differences) > DIFFERENCES_PRINTED_MAX:
        print(f"  and {len(found.differences) - DIFFERENCES_PRINTED_MAX} more: --json shows all")
    if found.days:
        print_grid(
            ("Day", "Deposited", "Withdrawn", "Bought", "Returned", "Cashed out", "Rake", "Rake of hands", "Corrected"),
            [
                (day.day, day.deposited, day.withdrawn, day.bought, day.returned, day.cashed_out, day.rake,
                 day.rake_at_tables, day.corrected)
                for day in found.days
            ],
        )  # fmt: skip
    if found.of_tables:
        print_grid(
            ("Table", "Bought", "Returned", "Cashed out", "Rake", "Corrected", "Balance", "Chips", "On the way"),
            [
                (f"{line.room}/{line.table}", line.bought, line.returned, line.cashed_out, line.rake, line.corrected,
                 line.balance, line.chips, line.on_the_way)
                for line in found.of_tables
            ],
        )  # fmt: skip


def _sums(found: Reconciled) -> Iterator[str]:
    left = found.deposited - found.withdrawn
    yield f"  deposited {found.deposited}, withdrawn {found.withdrawn}: {left} in the house"
    places: Iterable[tuple[str, int]] = (
        (f"{found.accounts} players", found.players),
        (f"{len(found.of_tables)} tables", found.tables),
        ("rake", found.rake),
        ("suspense", found.suspense),
    )
    yield "  " + ", ".join(f"{place} {amount}" for place, amount in places)
