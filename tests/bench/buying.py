"""(e) Buy-ins: how many a second go from an account to a table, and how long one takes, through the real services.

Each buyer has a table of its own, where nobody deals: it sits down with chips from its account, and leaves with them as
soon as it sits. Beside them raw appends: a buy-in and its cash-out take three commits of the table, and as many entries
of the ledger, whose commits hold as many as came at a time.
"""

import asyncio
import tempfile
import time
from collections import defaultdict
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median, quantiles
from typing import Final

from msgspec.structs import replace

from contracts.account_commands import Deposit, OpenAccount
from contracts.client import Client
from contracts.commands import LeaveTable, OpenTable, TakeSeat
from contracts.events.table import PlayerSeated
from contracts.outcomes import Accepted, Outcome
from contracts.views import PublicView
from services.bots.games import config_of
from services.bots.people import partner
from services.bus.settings import Settings
from tests.bench.playing import BYTES_BEFORE_ANY_PLAY
from tests.bench.raw import appended
from tests.bench.report import Line, compared
from tests.bench.sizes import Sizes
from tests.bench.written import a_server, log_of
from tests.processes.fleet import Fleet

ROOM: Final = "main"
LEDGER: Final = "real-USD"
CREWS: Final = (("table", "views"), ("cashier",))
BUY_IN: Final = 2_000


class Buyers:
    """So many players who sit down and leave, over and over; `took_s` are the times from asking to sitting."""

    def __init__(self, lobby: Client) -> None:
        self.took_s: list[float] = []
        self._lobby = lobby
        self._sitting: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def buy(self, number: int) -> None:
        """One buyer, until it is cancelled."""
        table, player = f"T{number}", f"P{number}"
        await self._has_chips(player)
        config = replace(config_of("nlhe", None), bankroll="cashier", money="real", currency="USD")
        _accepted(await self._lobby.command(ROOM, table, OpenTable(id="open", config=config)))
        for turn in count():
            began = time.perf_counter()
            self._sitting[table].clear()
            take = TakeSeat(id=f"take-{turn}", player=player, buy_in=BUY_IN)
            _accepted(await self._lobby.command(ROOM, table, take))
            await self._sitting[table].wait()
            self.took_s.append(time.perf_counter() - began)
            leave = LeaveTable(id=f"leave-{turn}", player=player)
            _accepted(await self._lobby.command(ROOM, table, leave))

    async def watch(self, number: int) -> None:
        """Takes what happens at a buyer's table, until it is cancelled."""
        async for seen in self._lobby.follow(ROOM, f"T{number}"):
            if isinstance(seen, PublicView) and any(isinstance(event, PlayerSeated) for event in seen.events):
                self._sitting[seen.table].set()

    async def _has_chips(self, player: str) -> None:
        made = datetime.now(UTC)
        opened = OpenAccount(id=f"open-{player}", made=made, player=player)
        _accepted(await self._lobby.account(LEDGER, opened))
        paid = Deposit(id=f"pay-{player}", made=made, player=player, amount=BUY_IN * 1_000_000, reference=player)
        _accepted(await self._lobby.account(LEDGER, paid))


def _accepted(outcome: Outcome) -> None:
    assert isinstance(outcome, Accepted), outcome


async def measure(sizes: Sizes) -> list[Line]:
    """Buy-ins a second with the disk awaited and not, of which each is followed by a cash-out."""
    return [line for sync_always in (True, False) for line in await _measure(sizes, sync_always=sync_always)]


async def _measure(sizes: Sizes, *, sync_always: bool) -> list[Line]:
    with tempfile.TemporaryDirectory(prefix="croupier-bench-") as folder:
        async with (
            a_server(Path(folder), sync_always=sync_always) as settings,
            log_of(settings) as log,
            Fleet(settings, CREWS),
        ):
            before = await appended(log, BYTES_BEFORE_ANY_PLAY, sizes.raw_s)
            took_s, passed_s = await _bought(settings, sizes)
            after = await appended(log, BYTES_BEFORE_ANY_PLAY, sizes.raw_s)
    disk = "sync always" if sync_always else "lazy sync"
    p50, p99 = median(took_s) * 1000, quantiles(took_s, n=100)[98] * 1000
    notes = f"{sizes.buyers} buyers; p50 {p50:.0f} ms, p99 {p99:.0f} ms from asking for a seat to sitting"
    runs = [(len(took_s) / passed_s, (before + after) / 2)]
    return [compared("e", f"buy-ins and cash-outs, {disk}", "buy-ins/s", runs, notes=notes)]


async def _bought(settings: Settings, sizes: Sizes) -> tuple[list[float], float]:
    """The times of the buy-ins of a while, and how long that was."""
    lobby = await partner(settings, "lobby")
    buyers = Buyers(lobby)
    async with asyncio.TaskGroup() as group:
        tasks = [
            group.create_task(work)
            for number in range(sizes.buyers)
            for work in (buyers.watch(number), buyers.buy(number))
        ]
        while len(buyers.took_s) < sizes.buyers:  # noqa: ASYNC110 - all of them are at it
            await asyncio.sleep(0.05)
        began, before = time.perf_counter(), len(buyers.took_s)
        await asyncio.sleep(sizes.play_s)
        passed_s, took_s = time.perf_counter() - began, buyers.took_s[before:]
        for task in tasks:
            task.cancel()
    await lobby.close()
    return took_s, passed_s
