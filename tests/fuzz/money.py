"""What is fuzzed of the house's money: the cashier's counter, and the commands that prove where all chips are."""

import contextlib
import io
import tempfile
from pathlib import Path
from typing import Final, get_args

import msgspec

from contracts.codec import encode
from contracts.outcomes import Rejected
from services.accounting.ledger_verification import LedgerVerification
from services.accounting.reconciliation import Reconciled
from services.bus.reading import Unreadable
from services.command_line import accounting, ledger_proving
from services.command_line.ledger_logs import exported, is_meant, ledger_lines
from services.command_line.refusals import CannotRead, WrongArgument
from tests.fuzz import exports, paying
from tests.fuzz.chains import chained
from tests.fuzz.choices import Choices
from tests.fuzz.counter import Counter, states
from tests.fuzz.exports import LEDGER, Files, is_built_on
from tests.fuzz.mutation import NESTED, mutated
from tests.golden.logs import ROOM

COMMANDS_MAX: Final = 16
"""So many commands in one input."""
CODES: Final = frozenset(get_args(msgspec.structs.fields(Rejected)[0].type.__value__))


def accounts(data: bytes) -> None:
    """Account commands on a ledger with history, tables asking in between: every account holds what it should."""
    choices = Choices(data)
    state = choices.one_of(states())
    counter = Counter(state)
    for _ in range(COMMANDS_MAX):
        if not choices:
            break
        match choices.below(16):
            case 1:
                counter.wait(choices.one_of((1, 300, 3600, 86_400, 90_000)))
            case 2 | 3:
                after = choices.below(len(state.tables) + 1)
                counter.follow(state.tables[: after + 1], given_up=choices.below(4) == 1)
            case 4:
                body = choices.one_of((choices.take(40), *NESTED, mutated(choices.one_of(paying.commands()), choices)))
                counter.submit("operator", "ann", body)
            case _:
                outcome = counter.submit(*paying.command(counter, choices))
                assert not isinstance(outcome, Rejected) or outcome.code in CODES


def ledgers(data: bytes) -> None:
    """`croupier reconcile` and `verify` over altered exports: they end, in words, and no damage is overlooked."""
    files = exports.altered(Choices(data))
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        paths = {name: Path(folder) / f"{name}.jsonl" for name in files}
        for name, path in paths.items():
            path.write_bytes(b"".join(line + b"\n" for line in files[name]))
        _reconciled(files, list(paths.values()))
        if LEDGER in paths:
            _verified(files, paths[LEDGER])


def _reconciled(files: Files, paths: list[Path]) -> None:
    try:
        found = accounting.reconciled_files(ROOM, paths, None)
    except (CannotRead, WrongArgument, Unreadable):
        return
    code = accounting._told(found, json=False)  # noqa: SLF001 - what is printed is fuzzed too
    assert encode(found)
    assert code in range(3)
    damaged = [name for name, lines in files.items() if is_built_on(name, lines)]
    forged = any(_is_a_chain(name, files) for name in damaged)
    assert code or not damaged or forged, f"damage to {damaged} is overlooked"
    for each in found:
        if each.code == 0:
            _is_whole(each)


def _is_a_chain(name: str, files: Files) -> bool:
    """Whether an altered log was chained again: what a forger may say is not for the chain to give away."""
    return chained(files[name]) == files[name]


def _is_whole(found: Reconciled) -> None:
    """What is said to be whole adds up, whoever wrote it."""
    places = found.players + found.tables + found.rake + found.suspense
    assert places + found.cash == 0
    assert all(line.balance == line.chips + line.on_the_way for line in found.of_tables)
    assert all(day.rake == day.rake_at_tables for day in found.days)
    assert sum(line.balance for line in found.of_tables) == found.tables


def _verified(files: Files, path: Path) -> None:
    """The ledger alone, as a file; and with the tables' commits, as in a house. A file of a table is for `files`."""
    if not is_meant(path, table=False, ledger=None):
        return
    try:
        code = ledger_proving.verify_file(ROOM, path, heads=(), json=False)
        (name,) = exported(ROOM, [path]).ledgers
        lines = list(ledger_lines(path))
    except (CannotRead, WrongArgument, Unreadable):
        return
    assert encode(list(ledger_proving._followed(name, lines)))  # noqa: SLF001 - what is read beside a running house
    commits = exports.commits_of(files)
    verification = LedgerVerification(
        name, exported=True, commit_of=lambda room, table, n: commits.get((room, table, n))
    )
    findings = [finding for message in lines for finding in verification.take(*message)]
    findings += verification.finish()
    assert all(str(finding) for finding in findings)
    assert encode(findings)
    if is_built_on(LEDGER, files[LEDGER]) and not _is_a_chain(LEDGER, files):
        assert code, "damage to the ledger is overlooked"
        assert findings
