"""`croupier verify --ledger` and `croupier export --ledger`: a ledger's log checked, and taken out as a file."""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from contracts.commit import Commit
from contracts.data import Data, Id, Sha256
from contracts.ledger import HOUSE
from services.accounting.ledger_verification import LedgerVerification
from services.aggregate.chain import UNFOLDABLE, Verdict, read_ledger
from services.aggregate.ledger import Ledger, TableKey
from services.aggregate.ledger_fold import fold
from services.bus import reader
from services.bus.aggregates import TABLES
from services.bus.log import Unavailable
from services.bus.reading import Message, Unreadable
from services.command_line.ledger_logs import Books, books, exported, ledger_lines, ledger_messages, only_ledger
from services.command_line.printing import print_json, print_lines, print_or_write
from services.command_line.refusals import CannotRead
from services.command_line.sources import heads_of
from services.command_line.where import Where
from services.replay.findings import Finding, exit_code

EMPTY: Final = "the log is empty"
"""What is verified where a log has no commit."""

type Commits = dict[tuple[Id, Id, int], Commit]
"""Commits that a ledger names, by room, table and number."""
type Entered = dict[int, int]
"""The commits of a table that a ledger names, each with the first commit of the ledger that does."""


class LedgerProof(Data, frozen=True):
    """What was verified of a ledger, and what was found. `ignored` messages are no part of the log."""

    ledger: str
    commits: int
    entries: int
    head: Sha256
    ignored: int
    code: int
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


async def verify_live(where: Where, name: str, *, heads: Sequence[str], json: bool) -> int:
    """Verifies a ledger: also each entry that follows from a table is derived again, from the table's log.

    Raises `Unreadable` or `NotFound` where a table's log does not tell.
    """
    async with books(where) as house:
        ledger = await only_ledger(house.ledgers, name)
        known = {**await _published(house, ledger), **heads_of(heads)}
        whole = [message async for message in ledger_messages(house.ledgers, ledger)]
        commits: Commits = {}
        for (room, table), entered in (await asyncio.to_thread(_followed, ledger, whole)).items():
            await _gather(house, room, table, entered, commits)
    return _told(_proof(ledger, whole, known, commits), json=json)


async def proofs(house: Books) -> list[LedgerProof]:
    """Verifies every ledger of a house, those included of which nothing is left but a published head.

    What follows from a table whose log cannot be read is not derived again, and that is said. What is computed of a
    whole ledger is computed in a thread: the server hangs up on who answers no pings.
    """
    return [await _proof_of(house, name) for name in await _ledgers(house)]


async def _ledgers(house: Books) -> list[str]:
    """The ledgers of a house; none where a house has no place for any, as before there were ledgers."""
    try:
        published = await house.ledgers.heads(HOUSE)
    except Unavailable:
        published = None
    try:
        return sorted({*(published or ()), *await house.ledgers.tables(HOUSE)})
    except Unavailable:
        if published is not None:
            raise
        await house.tables.tables(HOUSE)  # the server itself answers
        return []


async def _proof_of(house: Books, ledger: str) -> LedgerProof:
    known = await _published(house, ledger)
    whole = [message async for message in ledger_messages(house.ledgers, ledger)]
    commits: Commits = {}
    underived: list[Finding] = []
    for (room, table), entered in (await asyncio.to_thread(_followed, ledger, whole)).items():
        try:
            await _gather(house, room, table, entered, commits)
        except (reader.NotFound, Unreadable) as error:
            message = f"not every entry that follows from {room}/{table} could be derived again: {error}"
            underived.append(Finding(kind="not_derived", message=message))
    return await asyncio.to_thread(_proof, ledger, whole, known, commits, underived)


async def _published(house: Books, ledger: str) -> Mapping[int, Sha256]:
    """The heads of a ledger that were published; they are read before its log (DESIGN 1)."""
    return (await house.ledgers.heads(HOUSE, ledger)).get(ledger, {})


def _followed(ledger: str, messages: Sequence[Message]) -> dict[TableKey, Entered]:
    """The tables that a ledger has entries of, sorted, with their commits that it names, as far as it can be read."""
    state = Ledger(id=ledger)
    found: defaultdict[TableKey, Entered] = defaultdict(dict)
    for message in messages:
        reading = read_ledger(state, *message)
        if reading.verdict is Verdict.NEXT and reading.commit is not None:
            try:
                fold(state, reading.commit, message[1])
            except UNFOLDABLE:
                break  # the verification tells of it
            for entry in reading.commit.events:
                if (source := getattr(entry, "source", None)) is not None:
                    found[source.room, source.table].setdefault(source.n, state.n)
    return dict(sorted(found.items()))


async def _gather(house: Books, room: Id, table: Id, entered: Entered, commits: Commits) -> None:
    """Takes the commits of a table that the ledger names.

    Raises `Unreadable` or `NotFound`, also where the table's log ends before one of them.
    """
    start = await reader.from_the_beginning(TABLES, house.tables, room, table)
    last = 0
    async for commit, _ in reader.commits(house.tables, start):
        last = commit.n
        if last in entered:
            commits[room, table, last] = commit
    lost = min((n for n in entered if n > last), default=None)
    if lost is not None:
        raise Unreadable(
            f"the log of table {table} ends at commit {last}, "
            f"and the ledger's commit {entered[lost]} is about its commit {lost}",
            table,
        )


def _proof(
    ledger: str,
    messages: Iterable[Message],
    heads: Mapping[int, Sha256],
    commits: Commits,
    underived: Iterable[Finding] = (),
) -> LedgerProof:
    verification = LedgerVerification(
        ledger, heads=heads, commit_of=lambda room, table, n: commits.get((room, table, n))
    )
    findings = [finding for message in messages for finding in verification.take(*message)]
    return _proved(verification, [*findings, *verification.finish(), *underived], ())


def verify_file(room: Id, path: Path, *, heads: Sequence[str], json: bool) -> int:
    """Verifies an exported ledger; what follows from tables is for `croupier reconcile` to compare."""
    (ledger,) = exported(room, [path]).ledgers
    verification = LedgerVerification(ledger, exported=True, heads=heads_of(heads))
    findings = [finding for message in ledger_lines(path) for finding in verification.take(*message)]
    note = "the tables' logs were not looked at: `croupier reconcile` compares them"
    return _told(_proved(verification, [*findings, *verification.finish()], (note,)), json=json)


def _proved(verification: LedgerVerification, findings: Sequence[Finding], notes: tuple[str, ...]) -> LedgerProof:
    state = verification.ledger
    return LedgerProof(
        ledger=state.id,
        commits=verification.commits,
        entries=verification.entries,
        head=state.head,
        ignored=verification.ignored,
        code=exit_code(findings),
        findings=tuple(findings),
        notes=notes,
    )


def _told(proof: LedgerProof, *, json: bool) -> int:
    if json:
        print_json(proof)
    else:
        print_lines(words(proof))
    return proof.code


_VERDICTS: Final = (
    "sound: chain, sums, balances and every decision hold",
    "DIFFERENT",
    "UNREADABLE",
    "sound, but not every entry could be derived again",
)


def words(proof: LedgerProof) -> Iterator[str]:
    """What was verified of a ledger, in lines."""
    known = f"{proof.entries} entries, head {proof.commits}:{proof.head}" if proof.commits else EMPTY
    yield f"Ledger {proof.ledger}: {_VERDICTS[proof.code]} ({known})"
    for note in proof.notes:
        yield f"  {note}"
    for finding in proof.findings:
        yield f"  {finding}"


async def export(where: Where, name: str | None, *, to: Path | None, json: bool) -> int:
    """Writes a ledger's log as JSON lines: the commits' very bytes; `json` says what was written."""
    lines: list[bytes] = []
    async with books(where) as house:
        state = Ledger(id=await only_ledger(house.ledgers, name))
        async for message in ledger_messages(house.ledgers, state.id):
            reading = read_ledger(state, *message)
            if reading.verdict is Verdict.NEXT and reading.commit is not None:
                fold(state, reading.commit, message[1])
                lines.append(message[1] + b"\n")
            elif reading.verdict is not Verdict.IGNORED:
                raise CannotRead(f"ledger {state.id} cannot be read: {reading.reason}")
    return print_or_write(lines, to, {"ledger": state.id, "commits": len(lines)}, json=json)
