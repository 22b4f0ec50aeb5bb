"""What a golden log of a ledger is: the commits of an evening, and all accounts after each of them.

`python -m tests.golden.ledgers v2` writes those of a version that is about to be released.
"""

import sys
from pathlib import Path
from typing import Final

import msgspec

from contracts.account_commands import UnfreezeAccount, Withdraw
from contracts.accounts import Account
from contracts.codec import decode_ledger_commit
from contracts.data import Sha256
from services.aggregate.chain import Verdict, read_ledger
from services.aggregate.ledger import Answer, Ledger
from services.aggregate.ledger_fold import fold
from tests.accounting.evening import evening
from tests.cashier.books import START, stored

HERE: Final = Path(__file__).parent / "ledgers"


class AccountsAfter(msgspec.Struct, frozen=True):
    """A ledger after commit `n`: balances, who has an account and whose is frozen, and what each table is owed."""

    n: int
    head: Sha256
    balances: dict[Account, int]
    frozen: dict[str, bool]
    tables: dict[str, tuple[int, dict[int, Answer]]]


def accounts_of(ledger: Ledger) -> AccountsAfter:
    tables = {f"{room}/{table}": (each.position, each.answers) for (room, table), each in ledger.tables.items()}
    return AccountsAfter(ledger.n, ledger.head, dict(ledger.balances), dict(ledger.players), tables)


def states_of(lines: list[bytes], name: str) -> list[AccountsAfter]:
    """The accounts after every commit of a log."""
    ledger = Ledger(id=name)
    states = []
    for line in lines:
        reading = read_ledger(ledger, stored(decode_ledger_commit(line))[0], line)
        assert reading.verdict is Verdict.NEXT, reading.reason
        assert reading.commit is not None
        fold(ledger, reading.commit, line)
        states.append(accounts_of(ledger))
    return states


def write(version: str) -> None:
    books = evening().books
    books.ask(UnfreezeAccount(id="f2", made=START, player="bob", reason="cleared"), "operator")
    books.ask(Withdraw(id="w2", made=START, player="bob", amount=100_000, reference="w2"))
    lines, name = books.lines, books.ledger.id
    folder = HERE / version
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.jsonl").write_bytes(b"".join(line + b"\n" for line in lines))
    (folder / f"{name}.states.json").write_bytes(msgspec.json.format(msgspec.json.encode(states_of(lines, name))))


if __name__ == "__main__":
    write(sys.argv[1])
