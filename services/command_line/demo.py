"""`croupier demo`: a whole room in one process, bots that play every game, and the proof of what they did."""

import asyncio
import contextlib
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from services.bots.bank import Bank
from services.bots.games import SHOWN
from services.bots.people import People, by_the_gateway, partner
from services.bots.table import BotTable, Plan
from services.bus import logging
from services.bus.settings import Settings
from services.command_line.demo_plans import LEDGER, ROOM, games_of, plans
from services.command_line.demo_report import Summary, report
from services.command_line.numbers import Whole
from services.command_line.proof import replay_log
from services.command_line.serve import SERVICES, room

HANDS: Final = 20
PROGRESS_S: Final = 0.1
"""How often the bar of hands is drawn anew."""
CASHES_OUT: Final = "bot1"
"""Who takes the money out of the house at the end."""


def demo(
    *,
    hands: Whole = HANDS,
    tables: str = ",".join(SHOWN),
    seed: Whole = 1,
    data: Path | None = None,
    json: bool = False,
) -> int:
    """Plays every game with bots on a server of its own, and proves from the log what happened.

    Exits with 0 only if every hand was played to its end, every commit verified and every chip is accounted for.

    Parameters
    ----------
    hands
        Hands at each table.
    tables
        The games, with commas between them: nlhe, plo, lo, lo8, plo8, lhe, plhe, nlo, nlo8.
    seed
        Seed of the bots' choices; the cards come from the dealer's own entropy.
    data
        A folder in which the log is kept for `tables`, `replay` and `verify`; without it nothing is kept.
    json
        Ends with one line of JSON instead of tables.
    """
    games = games_of(tables)
    if hands < 1:
        raise ValueError(f"a table plays 1 hand or more, not {hands}")
    console = Console(quiet=json)
    with tempfile.TemporaryDirectory(prefix="croupier-demo-") as scratch:
        settings = Settings(data_path=data or Path(scratch), rooms=(ROOM,), log_level="error")
        logging.configure(settings)
        summary = asyncio.run(_demo(settings, games, hands, seed, console))
    if json:
        print(msgspec.json.encode(summary).decode())
    return 0 if summary.verified else 1


async def _demo(settings: Settings, games: Sequence[str], hands: int, seed: int, console: Console) -> Summary:
    async with room(settings, SERVICES) as running:
        async with replay_log(running) as log:
            taken = await log.tables(ROOM)
        chosen = plans(games, hands, seed, taken)
        began = time.perf_counter()
        await _play(running, chosen, console)
        seconds = time.perf_counter() - began
        return await report(running, chosen, seconds, console)


async def _play(settings: Settings, chosen: Sequence[Plan], console: Console) -> None:
    async with contextlib.AsyncExitStack() as stack:
        lobby, operator = await partner(settings, "lobby"), await partner(settings, "operator")
        people = People(by_the_gateway(settings))
        for each in (lobby, operator, people):
            stack.push_async_callback(each.close)
        bank = Bank(lobby, LEDGER)
        tables = [BotTable(plan, lobby, people, operator, bank) for plan in chosen]
        bar = stack.enter_context(_bar(console))
        showing = asyncio.create_task(_show(bar, tables))
        async with asyncio.TaskGroup() as group:
            for table in tables:
                group.create_task(table.play())
        showing.cancel()
        await bank.cash_out(CASHES_OUT)


async def _show(bar: Progress, tables: Sequence[BotTable]) -> None:
    """Tells how many hands are played, for as long as it is not cancelled."""
    task = bar.add_task("hands", total=sum(table.plan.hands for table in tables))
    while True:
        bar.update(task, completed=sum(table.ended + table.voided for table in tables))
        await asyncio.sleep(PROGRESS_S)


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("dealing"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("hands"),
        TimeElapsedColumn(),
        console=console,
    )
