"""`croupier verify --ledger` and `croupier export --ledger`: a ledger's log checked, and taken out as a file."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from contracts.commit import Commit
from contracts.data import Data, Id, Sha256
from services.accounting.derivation import CommitOf
from services.accounting.ledger_verification import LedgerVerification
from services.aggregate.fold import Verdict
from services.aggregate.ledger import Ledger
from services.aggregate.ledger_fold import fold, read
from services.aggregate.movements import moves_chips
from services.bus import reader
from services.bus.aggregates import TABLES
from services.command_line.ledger_logs import Books, books, exported, ledger_lines, ledger_messages, only_ledger
from services.command_line.printing import print_bytes, print_json, print_lines
from services.command_line.refusals import CannotRead
from services.command_line.sources import heads_of
from services.command_line.where import Where
from services.replay.findings import Finding, exit_code


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
    """Verifies a ledger: also each entry that follows from a table is derived again, from the table's log."""
    async with books(where) as house:
        ledger = await only_ledger(house.ledgers, name)
        known = {**(await house.ledgers.heads("house", ledger)).get(ledger, {}), **heads_of(heads)}
        whole = [message async for message in ledger_messages(house.ledgers, ledger)]
        commit_of = await _commits(house, ledger, whole)
    verification = LedgerVerification(ledger, heads=known, commit_of=commit_of)
    findings = [finding for message in whole for finding in verification.take(*message)]
    return _told(verification, [*findings, *verification.finish()], (), json=json)


async def _commits(house: Books, ledger: str, messages: Sequence[tuple[str, bytes]]) -> CommitOf:
    """The commits that move chips, of every table that the ledger names."""
    state = Ledger(id=ledger)
    for message in messages:
        reading = read(state, *message)
        if reading.verdict is Verdict.NEXT and reading.commit is not None:
            fold(state, reading.commit, message[1])
    found: dict[tuple[Id, Id, int], Commit] = {}
    for room, table in state.tables:
        start = await reader.from_the_beginning(TABLES, house.tables, room, table)
        async for commit, _ in reader.commits(house.tables, start):
            if any(map(moves_chips, commit.events)):
                found[room, table, commit.n] = commit
    return lambda room, table, n: found.get((room, table, n))


def verify_file(room: Id, path: Path, *, heads: Sequence[str], json: bool) -> int:
    """Verifies an exported ledger; what follows from tables is for `croupier reconcile` to compare."""
    (ledger,) = exported(room, [path]).ledgers
    verification = LedgerVerification(ledger, exported=True, heads=heads_of(heads))
    findings = [finding for message in ledger_lines(path) for finding in verification.take(*message)]
    note = "the tables' logs were not looked at: `croupier reconcile` compares them"
    return _told(verification, [*findings, *verification.finish()], (note,), json=json)


def _told(verification: LedgerVerification, findings: Sequence[Finding], notes: tuple[str, ...], *, json: bool) -> int:
    state = verification.ledger
    proof = LedgerProof(
        ledger=state.id,
        commits=verification.commits,
        entries=verification.entries,
        head=state.head,
        ignored=verification.ignored,
        code=exit_code(findings),
        findings=tuple(findings),
        notes=notes,
    )
    if json:
        print_json(proof)
    else:
        print_lines(_words(proof))
    return proof.code


def _words(proof: LedgerProof) -> Iterator[str]:
    verdict = ("sound: chain, sums, balances and every decision hold", "DIFFERENT", "UNREADABLE")[proof.code]
    yield f"Ledger {proof.ledger}: {verdict} ({proof.entries} entries, head {proof.commits}:{proof.head})"
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
            reading = read(state, *message)
            if reading.verdict is Verdict.NEXT and reading.commit is not None:
                fold(state, reading.commit, message[1])
                lines.append(message[1] + b"\n")
            elif reading.verdict is not Verdict.IGNORED:
                raise CannotRead(f"ledger {state.id} cannot be read: {reading.reason}")
    if to is None:
        print_bytes(lines)
        return 0
    _write(to, b"".join(lines))
    if json:
        print_json({"written": str(to), "ledger": state.id, "commits": len(lines)})
    return 0


def _write(path: Path, data: bytes) -> None:
    try:
        path.write_bytes(data)
    except OSError as error:
        raise CannotRead(f"{path}: {error.strerror}") from error
