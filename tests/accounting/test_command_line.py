"""`croupier reconcile` and `croupier verify` over exported logs: what they print, and the codes they end with."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from contracts.codec import encode
from contracts.commit import Commit
from contracts.events.cashier import RakeCredited
from contracts.ledger import LedgerCommit
from services.command_line import commands
from tests.accounting.evening import changed, evening
from tests.accounting.test_reconciliation import place

PLAYED = evening()
LEDGER = PLAYED.books.commits


def written(folder: Path, name: str, commits: list[Commit] | list[LedgerCommit]) -> Path:
    path = folder / name
    path.write_bytes(b"".join(encode(commit) + b"\n" for commit in commits))
    return path


@pytest.fixture
def tables(tmp_path: Path) -> list[Path]:
    return [written(tmp_path, f"{stand.id}.jsonl", stand.commits) for stand in PLAYED.stands]


class Ran(msgspec.Struct):
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return msgspec.json.decode(self.out)


@pytest.fixture
def croupier(capsys: pytest.CaptureFixture[str]) -> Any:
    def run(*arguments: object) -> Ran:
        capsys.readouterr()
        code = commands.run([*map(str, arguments)])
        out, err = capsys.readouterr()
        return Ran(code, out, err)

    return run


def test_exported_logs_are_reconciled(tmp_path: Path, tables: list[Path], croupier: Any) -> None:
    """R136: exit 0: every chip ever deposited is in an account, on a table or in the rake account."""
    ledger = written(tmp_path, "ledger.jsonl", LEDGER)
    ran = croupier("reconcile", ledger, *tables)
    assert ran.code == 0, ran.err
    assert "Ledger real-USD: every chip is in one place" in ran.out
    assert "deposited 4000, withdrawn 500: 3500 in the house" in ran.out
    found = croupier("reconcile", *tables, ledger, "--json").json()
    assert found["code"] == 0
    (of,) = found["ledgers"]
    assert of["players"] + of["tables"] + of["rake"] + of["suspense"] == of["deposited"] - of["withdrawn"] == 3500
    assert [line["table"] for line in of["of_tables"]] == ["T1", "T2"]
    assert [day["rake"] == day["rake_at_tables"] for day in of["days"]] == [True]


def test_the_first_place_of_difference_is_told(tmp_path: Path, tables: list[Path], croupier: Any) -> None:
    """The issue's item 2: exit 1 and the first place of difference: whose log, which commit, which account."""
    n, index = place(LEDGER, RakeCredited)
    entry = LEDGER[n - 1].events[index]
    assert isinstance(entry, RakeCredited)
    more = msgspec.structs.replace(entry.postings[1], balance=entry.postings[1].balance + 1)
    forged = written(tmp_path, "forged.jsonl", changed(LEDGER, n, index, postings=(entry.postings[0], more)))
    ran = croupier("reconcile", forged, *tables)
    assert ran.code == 1
    assert "Ledger real-USD: DIFFERENT" in ran.out
    assert f"real-USD, commit {n} (rake): " in ran.out
    found = croupier("reconcile", forged, *tables, "--json").json()
    assert (found["code"], found["ledgers"][0]["differences"][0]["account"]) == (1, "rake")
    lost = written(tmp_path, "T1-lost.jsonl", PLAYED.stands[0].commits[:-1])
    ran = croupier("reconcile", written(tmp_path, "ledger.jsonl", LEDGER), lost, tables[1])
    assert ran.code == 1
    assert f"main/T1, commit {PLAYED.stands[0].table.n} (table.main.T1): " in ran.out


def test_what_cannot_be_read_ends_with_2(tmp_path: Path, tables: list[Path], croupier: Any) -> None:
    ledger = written(tmp_path, "ledger.jsonl", LEDGER)
    unreadable = tmp_path / "newer.jsonl"
    unreadable.write_bytes(ledger.read_bytes().replace(b'"type":"deposited"', b'"type":"conjured"'))
    garbage = tmp_path / "garbage.jsonl"
    garbage.write_bytes(b"no log\n")
    for arguments, said in (
        ((unreadable, *tables), "UNREADABLE"),
        ((garbage,), "no commit"),
        ((tmp_path / "missing.jsonl",), "missing.jsonl"),
        (tables, "none of the files is the log of a ledger"),
        ((ledger, ledger), "are of the same log"),
        ((ledger, *tables, "--ledger", "real-EUR"), "none of the files is the log of ledger real-EUR"),
        ((ledger, *tables, "--ledger", "EUR"), "is no ledger"),
    ):
        ran = croupier("reconcile", *arguments)
        assert (ran.code, said in ran.out + ran.err) == (2, True), ran


def test_an_exported_ledger_is_verified(tmp_path: Path, croupier: Any) -> None:
    """Chain, sums, balances, and each command decided again; `--head` says how far it must reach."""
    ledger = written(tmp_path, "ledger.jsonl", LEDGER)
    ran = croupier("verify", "--file", ledger, "--head", f"{len(LEDGER)}:{PLAYED.books.ledger.head}")
    assert (ran.code, "Ledger real-USD: sound" in ran.out) == (0, True)
    cut = written(tmp_path, "cut.jsonl", LEDGER[:-1])
    ran = croupier("verify", "--file", cut, "--head", f"{len(LEDGER)}:{PLAYED.books.ledger.head}", "--json")
    assert (ran.code, ran.json()["findings"][0]["kind"]) == (1, "head")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("deposit", "alice", "1.5", "--reference", "d1"), "whole number"),
        (("deposit", "alice", "-5", "--reference", "d1"), "amount"),
        (("deposit", "alice", str(2**63), "--reference", "d1"), "amount"),
        (("deposit", "a.b", "5", "--reference", "d1"), "player"),
        (("deposit", "alice", "5", "--reference", ""), "reference"),
        (("withdraw", "alice", "five", "--reference", "w1"), "whole number"),
        (("freeze", "alice", "--reason", ""), "reason"),
        (("correct", "bank", "rake", "5", "--reason", "x", "--reference", "k1"), "source"),
        (("open-account", "alice", "--ledger", "real-usd"), "is no ledger"),
        (("open-account", "alice", "--made", "yesterday"), "made"),
        (("freeze", "alice"), "reason"),
        (("ledger", "a b"), "'a b' is no account"),
        (("deposit", "alice", "5", "--reference", " d1"), "blank at either end"),
    ],
)
def test_a_wrong_argument_is_told_before_anybody_is_asked(
    tmp_path: Path, croupier: Any, arguments: tuple[str, ...], said: str
) -> None:
    """The issue's last line: wrong types, 2^63, negatives, unknown currencies: told in a sentence, exit 2."""
    ran = croupier(*arguments, "--data", tmp_path)
    assert ran.code == 2
    assert said in ran.out + ran.err
    assert "Traceback" not in ran.out + ran.err
