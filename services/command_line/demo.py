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

from contracts.subjects import ActorKind
from contracts.views import PublicView
from services.bots.bank import Bank
from services.bots.client import RoomClient
from services.bots.games import SHOWN
from services.bots.table import BotTable, Plan
from services.bus import logging
from services.bus.settings import Settings
from services.command_line.demo_plans import LEDGER, ROOM, games_of, plans
from services.command_line.demo_report import Summary, report
from services.command_line.proof import replay_log
from services.command_line.serve import SERVICES, room

HANDS: Final = 20
USERS: Final[tuple[tuple[str, ActorKind], ...]] = (
    ("lobby", "lobby"),
    ("players", "player"),
    ("operator", "operator"),
)

CASHES_OUT: Final = "bot1"
"""Who takes the money out of the house at the end."""


def demo(
    *,
    hands: int = HANDS,
    tables: str = ",".join(SHOWN),
    seed: int = 1,
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
        clients = [await RoomClient.open(settings, user, kind) for user, kind in USERS]
        for client in clients:
            stack.push_async_callback(client.close)
        lobby, players, operator = clients
        bank = Bank(lobby, LEDGER)
        tables = {plan.table: BotTable(plan, lobby, players, operator, bank) for plan in chosen}
        bar = stack.enter_context(_bar(console))
        task = bar.add_task("hands", total=sum(plan.hands for plan in chosen))

        def show(view: PublicView) -> None:
            if view.table in tables:
                tables[view.table].show(view)
                pictures = [table.picture for table in tables.values()]
                bar.update(task, completed=sum(picture.ended + picture.voided for picture in pictures))

        await lobby.follow(ROOM, show)
        async with asyncio.TaskGroup() as group:
            for table in tables.values():
                group.create_task(table.play())
        await bank.cash_out(CASHES_OUT)


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("dealing"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("hands"),
        TimeElapsedColumn(),
        console=console,
    )
