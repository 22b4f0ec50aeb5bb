"""(e) A ledger reconciled with its tables: how long that takes, and how much memory.

The logs are written as the services would have: players sit down with chips from their accounts, play hands of which
rake is taken, and leave; one entry and one commit of a table for each step. The commits between them, of hands in
progress, are left out: what is measured is entries.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from resource import struct_rusage
from typing import BinaryIO, Final

from contracts.account_commands import Deposit, OpenAccount
from contracts.cards import SeatAmount
from contracts.codec import digest, encode
from contracts.commit import GENESIS, Commit
from contracts.events import AnyEvent
from contracts.events.cashier import (
    AccountOpened,
    CashedOut,
    ChipsBought,
    Deposited,
    LedgerEvent,
    LedgerOpened,
    Posting,
    Postings,
    PurchaseSettled,
    RakeCredited,
    Source,
)
from contracts.events.seats import SeatReserved
from contracts.events.state import Actor, Reservation, SeatRecord
from contracts.events.table import HandEnded, PlayerLeft, PlayerSeated, TableOpened
from contracts.games import BuyIn, Stakes, TableConfig
from contracts.ledger import AccountCause, LedgerCommit
from tests.bench.report import Line, rounded
from tests.bench.sizes import Sizes

START: Final = datetime(2026, 3, 1, tzinfo=UTC)
TABLES: Final = 100
HANDS: Final = 90
"""Of which rake is taken, while the same two players sit."""
STACK: Final = 10_000
DEPOSIT: Final = 10**9
CONFIG: Final = TableConfig(
    variant="holdem",
    limit="no_limit",
    stakes=Stakes(small_blind=50, big_blind=100),
    seats=2,
    buy_in=BuyIn(minimum=100),
    bankroll="cashier",
)


class _Table:
    """A table whose commits go to a file."""

    def __init__(self, name: str, file: BinaryIO) -> None:
        self.name, self.file = name, file
        self.n, self.head, self.hands = 0, GENESIS, 0

    def append(self, at: datetime, *events: AnyEvent) -> Source:
        self.n += 1
        commit = Commit(
            v=1, table=self.name, n=self.n, hand=self.hands, by="table", at=at, prev=self.head, events=events
        )
        data = encode(commit)
        self.head = digest(data)
        self.file.write(data + b"\n")
        return Source(room="main", table=self.name, n=self.n)


class _Ledger:
    """A ledger whose commits go to a file; `entries` counts them."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.n, self.head, self.entries, self.at = 0, GENESIS, 0, START
        self.balances: dict[str, int] = {}

    def append(self, *entries: LedgerEvent, cause: AccountCause | None = None) -> None:
        self.n += 1
        self.entries += len(entries)
        self.at += timedelta(milliseconds=20)
        commit = LedgerCommit(
            v=1, ledger="real-USD", n=self.n, by="cashier", at=self.at, prev=self.head, events=entries, cause=cause
        )
        data = encode(commit)
        self.head = digest(data)
        self.file.write(data + b"\n")

    def post(self, source: str, target: str, amount: int) -> Postings:
        sides = ((source, -amount), (target, amount))
        for account, moved in sides:
            self.balances[account] = self.balances.get(account, 0) + moved
        one, other = (
            Posting(account=account, amount=moved, balance=self.balances[account]) for account, moved in sides
        )
        return one, other

    def open_account(self, player: str) -> None:
        lobby = Actor(kind="lobby", name="web")
        opened = OpenAccount(id=f"o-{player}", made=self.at, player=player)
        first = () if self.n else (LedgerOpened(money="real", currency="USD"),)
        cause = AccountCause(actor=lobby, arrived=self.at, command=opened)
        self.append(*first, AccountOpened(player=player), cause=cause)
        paid = Deposit(id=f"d-{player}", made=self.at, player=player, amount=DEPOSIT, reference=player)
        postings = self.post("cash", f"player.{player}", DEPOSIT)
        entry = Deposited(player=player, reference=player, postings=postings)
        self.append(entry, cause=AccountCause(actor=lobby, arrived=self.at, command=paid))


def write(folder: Path, entries: int) -> list[Path]:
    """Logs of a ledger of at least so many entries, and of its tables."""
    paths = [folder / "ledger.jsonl", *(folder / f"T{number}.jsonl" for number in range(TABLES))]
    with ExitStack() as stack:
        files = [stack.enter_context(path.open("wb")) for path in paths]
        ledger = _Ledger(files[0])
        tables = [_Table(f"T{number}", file) for number, file in enumerate(files[1:])]
        for table in tables:
            for seat in (1, 2):
                ledger.open_account(f"{table.name}-{seat}")
            table.append(ledger.at, TableOpened(config=CONFIG))
        while ledger.entries < entries:
            for step in zip(*(_sitting(ledger, table) for table in tables), strict=True):
                assert step
                if ledger.entries >= entries:
                    break
    return paths


def _sitting(ledger: _Ledger, table: _Table) -> Iterator[bool]:
    """Two players come, play and leave, a step at a time."""
    account = f"table.main.{table.name}"
    players = {seat: f"{table.name}-{seat}" for seat in (1, 2)}
    for seat, player in players.items():
        kept = Reservation(seat=seat, player=player, number=table.n + 1, expires=ledger.at, buy_in=STACK)
        source = table.append(ledger.at, SeatReserved(reservation=kept))
        postings = ledger.post(f"player.{player}", account, STACK)
        ledger.append(ChipsBought(source=source, player=player, amount=STACK, postings=postings))
        record = SeatRecord(seat=seat, player=player, stack=STACK, sat=seat)
        seated = table.append(ledger.at, PlayerSeated(record=record, request=source.n))
        ledger.append(PurchaseSettled(source=seated, request=source.n))
        yield True
    stacks = dict.fromkeys(players, STACK)
    for _ in range(HANDS):
        table.hands += 1
        stacks = {1: stacks[2] - 3, 2: stacks[1]}
        amounts = tuple(SeatAmount(seat=seat, amount=stack) for seat, stack in stacks.items())
        at = ledger.at
        ended = HandEnded(number=table.hands, stacks=amounts, started_at=at, ended_at=at, rake=3)
        source = table.append(at, ended)
        ledger.append(RakeCredited(source=source, hand=table.hands, postings=ledger.post(account, "rake", 3)))
        yield True
    for seat, player in players.items():
        source = table.append(ledger.at, PlayerLeft(seat=seat, player=player, stack=stacks[seat], at=ledger.at))
        postings = ledger.post(account, f"player.{player}", stacks[seat])
        ledger.append(CashedOut(source=source, player=player, postings=postings))
        yield True


async def measure(sizes: Sizes) -> list[Line]:
    """Seconds and megabytes of `croupier reconcile`, its start included."""
    with tempfile.TemporaryDirectory(prefix="croupier-bench-") as folder:
        paths = write(Path(folder), sizes.entries)
        bytes_read = sum(path.stat().st_size for path in paths)
        lasted, used = await asyncio.to_thread(_reconciled, paths)
    notes = f"{sizes.entries} entries of {TABLES} tables, {bytes_read / 1e6:.0f} MB of logs"
    return [
        Line("e", "reconcile", rounded(lasted), "s", notes=notes),
        Line("e", "reconcile: processor", rounded(used.ru_utime + used.ru_stime), "s", notes=notes),
        Line("e", "reconcile: memory", rounded(used.ru_maxrss / 1024), "MB", notes=notes),
    ]


def _reconciled(paths: list[Path]) -> tuple[float, struct_rusage]:
    """How long a process of its own takes, and what it uses."""
    began = time.perf_counter()
    command = [sys.executable, "-m", "services.cli", "reconcile", *map(str, paths)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return time.perf_counter() - began, used
