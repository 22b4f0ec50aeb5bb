"""(e) The ledger alone: buy-ins by its rules in memory, and deposits through the cashier, beside raw appends.

A buy-in takes two commits of the ledger: one pays, and one settles what was paid.
"""

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from contracts.account_commands import AnyAccountCommand, Deposit, OpenAccount
from contracts.codec import encode
from contracts.commit import GENESIS, Commit
from contracts.events import AnyEvent
from contracts.events.seats import SeatReserved
from contracts.events.state import Actor, Reservation, SeatRecord
from contracts.events.table import PlayerSeated
from contracts.ledger import AccountCause
from contracts.outcomes import Rejected
from services.aggregate.ledger import Ledger
from services.aggregate.ledger_fold import commit_of, fold
from services.cashier.decider import decide
from services.cashier.transfers import Movement, due
from tests.bench.bots import AGAIN_S, ROOM, Asker
from tests.bench.playing import BYTES_BEFORE_ANY_PLAY
from tests.bench.raw import appended
from tests.bench.report import Line, compared
from tests.bench.sizes import Sizes
from tests.bench.written import a_server, connected, log_of
from tests.processes.fleet import Fleet

LEDGER: Final = "real-USD"
LOBBY: Final = Actor(kind="lobby", name="lobby")
SEATS: Final = 6
AMOUNT: Final = 10_000


async def measure(sizes: Sizes) -> list[Line]:
    """Deposits with the disk awaited and not; buy-ins in memory beside the raw appends without waiting."""
    lines, raw = [], 0.0
    for sync_always in (True, False):
        runs = [await _deposits(sizes, sync_always=sync_always) for _ in range(sizes.plays)]
        raw = runs[-1][1]
        lines.append(compared("e", f"deposits, {'sync always' if sync_always else 'lazy sync'}", "deposits/s", runs))
    in_memory = [(_in_memory(sizes.accounts), raw) for _ in range(sizes.plays)]
    return [*lines, compared("e", "buy-ins at the ledger, in memory", "buy-ins/s", in_memory)]


async def _deposits(sizes: Sizes, *, sync_always: bool) -> tuple[float, float]:
    """Deposits a second, all of them asked for at once, and raw appends around them."""
    with tempfile.TemporaryDirectory(prefix="croupier-bench-") as folder:
        async with (
            a_server(Path(folder), sync_always=sync_always) as settings,
            log_of(settings) as log,
            Fleet(settings, (("cashier",),)),
        ):
            before = await appended(log, BYTES_BEFORE_ANY_PLAY, sizes.raw_s)
            async with connected(settings, "lobby") as client:
                lobby, both = await Asker.on(client), _commands(sizes.accounts)
                await _answered(lobby, [opened for opened, _ in both])
                taken_s = await _answered(lobby, [paid for _, paid in both])
            after = await appended(log, BYTES_BEFORE_ANY_PLAY, sizes.raw_s)
    return sizes.accounts / taken_s, (before + after) / 2


def _commands(accounts: int) -> list[tuple[OpenAccount, Deposit]]:
    made = datetime.now(UTC)
    return [
        (
            OpenAccount(id=f"open-{player}", made=made, player=f"p{player}"),
            Deposit(id=f"in-{player}", made=made, player=f"p{player}", amount=AMOUNT, reference=f"in-{player}"),
        )
        for player in range(accounts)
    ]


async def _answered(lobby: Asker, commands: Sequence[AnyAccountCommand]) -> float:
    """Sends commands to the ledger, all at once, and gives the seconds until all were answered."""
    waited_for, began = len(lobby.answered_s) + len(commands), time.perf_counter()
    for command in commands:
        lobby.ask_cashier(LEDGER, "lobby", command)
    while len(lobby.answered_s) < waited_for:
        await asyncio.sleep(AGAIN_S / 100)
        lobby.again()
    return time.perf_counter() - began


def _in_memory(accounts: int) -> float:
    """Buy-ins by the ledger's rules: decided, encoded, hashed and folded; for each second of CPU."""
    ledger, at = Ledger(id=LEDGER), datetime.now(UTC)
    for command in (command for both in _commands(accounts) for command in both):
        cause = AccountCause(actor=LOBBY, arrived=at, command=command)
        decided = decide(ledger, cause, at)
        assert not isinstance(decided, Rejected)
        commit = commit_of(ledger, decided, at, cause)
        fold(ledger, commit, encode(commit))
    movements = [movement for place in range(accounts) for movement in _movements(place, at)]
    began = time.process_time()
    for movement in movements:
        commit = commit_of(ledger, due(ledger, [movement]).entries, at)
        fold(ledger, commit, encode(commit))
    rate = accounts / (time.process_time() - began)
    tables = -(-accounts // SEATS)
    assert sum(ledger.balance(f"table.{ROOM}.T{table}") for table in range(tables)) == accounts * AMOUNT
    return rate


def _movements(place: int, at: datetime) -> Iterator[Movement]:
    """The two commits of a table that a buy-in takes: the seat is reserved, and the player is seated."""
    table, n, player = f"T{place // SEATS}", 2 + 2 * (place % SEATS), f"p{place}"
    kept = Reservation(seat=1, player=player, number=n, expires=at, buy_in=AMOUNT)
    record = SeatRecord(seat=1, player=player, stack=AMOUNT, sat=1)
    yield Movement(ROOM, _commit(table, n, at, SeatReserved(reservation=kept)), frozenset({n}))
    yield Movement(ROOM, _commit(table, n + 1, at, PlayerSeated(record=record, request=n)), frozenset())


def _commit(table: str, n: int, at: datetime, event: AnyEvent) -> Commit:
    return Commit(v=1, table=table, n=n, hand=0, by="table", at=at, prev=GENESIS, events=(event,))
