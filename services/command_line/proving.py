"""`croupier verify` and `croupier export`: logs checked from end to end, and taken out as files."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

import msgspec

from contracts.data import Data, Id, Sha256
from services.aggregate.chain import Verdict, read_table
from services.aggregate.table import Table
from services.bus import reader
from services.bus.aggregates import TABLES
from services.bus.faults import of_a_file
from services.bus.jetstream import JetStreamLog
from services.bus.outline import outline_of
from services.bus.reading import Message
from services.command_line.file_parts import part_of
from services.command_line.key_files import Keys, keys_of
from services.command_line.ledger_logs import books
from services.command_line.ledger_proving import EMPTY, LedgerProof, proofs, words
from services.command_line.printing import print_json, print_lines, print_or_write
from services.command_line.refusals import CannotRead, WrongArgument
from services.command_line.sources import heads_of, opened
from services.command_line.where import Where
from services.replay import files
from services.replay.exports import json_lines
from services.replay.findings import NOT_DERIVED, SAME, Finding, exit_code
from services.replay.verification import FAULTS_MAX, Heads, Verification, verify

FINDINGS_PRINTED_MAX: Final = 50
NOT_TO_THE_END: Final = f"what lies behind the first {FAULTS_MAX} faults was not verified"
NOBODY_VOUCHES: Final = "nothing vouches for the end of the log: compare the head"


class Report(Data, frozen=True):
    """What was verified of one table, and what was found.

    `ignored` messages are no part of the log; those `behind` are commits that follow on missing ones.
    `notes` are no faults: which keys were not used, how to verify a part, that nothing vouches for the end, or that the
    end was not reached.
    """

    table: Id
    first: int
    last: int
    head: Sha256
    commits: int
    hands: int
    ignored: int
    code: int
    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    behind: int = 0


async def verify_live(
    where: Where, table: Id | None, hand: int | None, *, heads: Sequence[str], key_files: Sequence[Path], json: bool
) -> int:
    """Verifies one table of a room, one hand of it, or all tables and with them all ledgers of the house."""
    known = heads_of(heads)
    if table is None and (known or key_files):
        raise WrongArgument("--head and --hand-keys are of one table: name it")
    keys = keys_of(key_files, table, hand) if table is not None else Keys({})
    async with books(where) as house:
        names = [table] if table is not None else await _tables(house.tables, where.room)
        if not names:
            raise CannotRead(f"there is no table in room {where.room}: nothing was verified")
        reports = [await _verify_table(house.tables, where.room, name, hand, known, keys) for name in names]
        ledgers = await proofs(house) if table is None else None
    return _say(reports, ledgers, json=json)


async def _tables(log: JetStreamLog, name: Id) -> list[Id]:
    """Every table of a room, those included of which nothing is left but a published head."""
    return sorted({*await log.heads(name), *await log.tables(name)})


async def _verify_table(log: JetStreamLog, name: Id, table: Id, hand: int | None, heads: Heads, keys: Keys) -> Report:
    published = (await log.heads(name, table)).get(table, {})  # before the log (DESIGN 1)
    both: Mapping[int, Sha256] = {**published, **heads}
    if hand is None:
        start = await _beginning(log, name, table, both)
    else:
        start = await reader.from_hand(log, name, table, hand)
    verification = Verification(start.state.copy(), heads=both, keys=keys.by_hand)
    findings: list[Finding] = []
    to_the_end = True
    async for message in reader.messages(log, start):
        if hand is not None and _of_a_later_hand(verification.table, message, hand):
            to_the_end = False
            break
        findings += verification.take(message)
    findings += verification.finish(whole=hand is None)
    report = _report(start.state, verification, findings, (*keys.unused, *_of_no_hand(keys, verification)))
    return _vouched_for(report, both) if to_the_end else report


async def _beginning(log: JetStreamLog, name: Id, table: Id, heads: Heads) -> reader.TableStart:
    """Where a table begins, also one that is known by a head alone. Raises `NotFound`."""
    try:
        return await reader.from_the_beginning(TABLES, log, name, table)
    except reader.NotFound:
        if not heads:
            raise
        return reader.Start(TABLES, Table(room=name, id=table), 0)


def _of_a_later_hand(table: Table, message: Message, hand: int) -> bool:
    """Whether the hand is over: the next commit of the chain is of another one."""
    judged = read_table(table, *message)
    return judged.verdict is Verdict.NEXT and judged.commit is not None and judged.commit.hand != hand


def verify_file(
    room: Id,
    path: Path,
    name: Id | None,
    hand: int | None,
    *,
    heads: Sequence[str],
    key_files: Sequence[Path],
    json: bool,
) -> int:
    """Verifies an exported log, or one hand of it; `name`, if given, is the table that it has to be of."""
    known = heads_of(heads)
    try:
        if not files.first_line(path):
            raise CannotRead(f"{path} is empty")
        table = files.table_of(path) if name is None else name
        keys = keys_of(key_files, table, hand)
        part = part_of(path, Table(room=room, id=table), hand, known)
        verification = Verification(part.start.copy(), exported=True, line=part.first, heads=known, keys=keys.by_hand)
        messages = islice(files.messages(room, path), part.first, part.end)
        findings = list(verify(messages, verification, whole=hand is None))
    except OSError as error:
        raise CannotRead(of_a_file(error)) from error
    notes = (
        *keys.unused,
        *_of_no_hand(keys, verification),
        *(_how_to_verify_a_part(path, table) if part.start.n == 0 else ()),
        *((NOT_TO_THE_END,) if verification.broken_off else ()),
    )
    report = _report(part.start, verification, findings, notes)
    return _say([_vouched_for(report, known) if part.to_the_end else report], json=json)


def _how_to_verify_a_part(path: Path, table: Id) -> Iterator[str]:
    """What to do about a file that holds no beginning of a log, and was not said to be a part."""
    outline = outline_of(files.first_line(path))
    if outline is not None and outline.n > 1:
        yield (
            f"to verify a part of a log, name its hand: `croupier verify {table} {outline.hand} --file {path}`, "
            f"or give the commit before it: `--head {outline.n - 1}:{outline.prev}` as somebody else knows it"
        )


def _of_no_hand(keys: Keys, verification: Verification) -> tuple[str, ...]:
    """A sentence for each key of a hand after the last one. Raises `WrongArgument` if there is no other key."""
    if verification.broken_off:
        return ()
    last = verification.table.hands
    late = [hand for hand in sorted(keys.by_hand) if hand > last > 0]  # 0: a damaged log, of which it cannot be said
    said = tuple(f"the key of hand {hand} was not used: the log ends with hand {last}" for hand in late)
    if late and len(late) == len(keys.by_hand):
        raise WrongArgument("; ".join(said))
    return said


def _vouched_for(report: Report, heads: Heads) -> Report:
    """The report of a log up to its end, with a note where nobody but the log says that it ends there."""
    if report.code not in (SAME, NOT_DERIVED) or report.last in heads:
        return report
    return msgspec.structs.replace(report, notes=(*report.notes, NOBODY_VOUCHES))


def _report(start: Table, verification: Verification, findings: Sequence[Finding], notes: tuple[str, ...]) -> Report:
    return Report(
        table=start.id,
        first=start.n + 1,
        last=verification.table.n,
        head=verification.table.head,
        commits=verification.commits,
        hands=verification.hands,
        ignored=verification.ignored,
        behind=verification.behind,
        code=exit_code(findings),
        findings=tuple(findings),
        notes=notes,
    )


def _say(reports: Sequence[Report], ledgers: Sequence[LedgerProof] | None = None, *, json: bool) -> int:
    """Prints the reports and gives the exit code: that of all findings together. `ledgers`: None if none was meant."""
    proved = (*(report.findings for report in reports), *(ledger.findings for ledger in ledgers or ()))
    code = exit_code(finding for findings in proved for finding in findings)
    if json:
        print_json({"code": code, "tables": reports, **({} if ledgers is None else {"ledgers": ledgers})})
        return code
    print_lines(line for report in reports for line in _words(report))
    print_lines(line for ledger in ledgers or () for line in words(ledger))
    return code


_VERDICTS: Final = (
    "sound: chain, cards, invariants and every decision hold",
    "DIFFERENT",
    "UNREADABLE",
    "sound, but not every hand could be derived again",
)


def _words(report: Report) -> Iterator[str]:
    what = f"commits {report.first} to {report.last}, {report.hands} {'hand' if report.hands == 1 else 'hands'}"
    known = f"{what}, head {report.last}:{report.head}" if report.last else EMPTY
    yield f"Table {report.table}: {_VERDICTS[report.code]} ({known})"
    for note in report.notes:
        yield f"  {note}"
    if report.behind:
        follow = "commit follows" if report.behind == 1 else "commits follow"
        yield f"  {report.behind} {follow} on what is missing: nothing behind a hole was verified"
    if report.ignored:
        yield f"  {report.ignored} {'message' if report.ignored == 1 else 'messages'} in the stream, no part of the log"
    for finding in report.findings[:FINDINGS_PRINTED_MAX]:
        yield f"  {finding}"
    if len(report.findings) > FINDINGS_PRINTED_MAX:
        yield f"  and {len(report.findings) - FINDINGS_PRINTED_MAX} more: --json shows all"


async def export(where: Where, table: Id, hand: int | None, *, to: Path | None, json: bool) -> int:
    """Writes a table's log, or one hand of it, as JSON lines: the commits' very bytes; `json` says what was written."""
    async with opened(where) as room:
        if hand is None:
            start = await reader.from_the_beginning(TABLES, room.log, where.room, table)
        else:
            start = await reader.from_hand(room.log, where.room, table, hand)
        commits = [pair async for pair in reader.commits(room.log, start, hand)]
    return print_or_write(json_lines(commits), to, {"table": table, "commits": len(commits)}, json=json)
