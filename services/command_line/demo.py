"""`croupier demo`: a whole room in one process, bots that play every game, and the proof of what they did."""

import asyncio
import contextlib
import tempfile
import time
from collections.abc import Iterable, Sequence
from itertools import count
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table as Grid

from contracts.data import Data
from contracts.views import PublicView
from services.bots.client import RoomClient
from services.bots.games import GAMES, SEATS, SHOWN, config_of, stakes_of
from services.bots.table import BotTable, Plan
from services.bus import logging
from services.bus.settings import Settings
from services.command_line.proof import Account, prove, replay_log, told
from services.command_line.serve import SERVICES, room
from services.rake.schedules import party
from services.replay.findings import Finding

HANDS: Final = 20
ROOM: Final = "main"


class Summary(Data, frozen=True):
    """What a demo did, and whether its log proves it."""

    tables: int
    hands: int
    commits: int
    seconds: float
    chips_in: int
    chips_out: int
    rake: int
    verified: bool


def games_of(names: str) -> tuple[str, ...]:
    """The games in a list with commas. Raises ValueError for one that is not played."""
    games = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    unknown = [game for game in games if game not in GAMES]
    if unknown or not games:
        raise ValueError(f"games are {', '.join(GAMES)}; not {', '.join(unknown) or 'none'}")
    return games


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
            taken = set(await log.tables(ROOM))
        plans = [_plan(game, _free_name(game, taken), hands, seed) for game in games]
        began = time.perf_counter()
        tables = await _play(running, plans, console)
        seconds = time.perf_counter() - began
        return await _report(running, tables, seconds, console)


async def _play(settings: Settings, plans: Sequence[Plan], console: Console) -> dict[str, BotTable]:
    async with contextlib.AsyncExitStack() as stack:
        lobby = await RoomClient.open(settings, "lobby", "lobby")
        stack.push_async_callback(lobby.close)
        players = await RoomClient.open(settings, "players", "player")
        stack.push_async_callback(players.close)
        return await _played(plans, lobby, players, console)


async def _played(
    plans: Sequence[Plan], lobby: RoomClient, players: RoomClient, console: Console
) -> dict[str, BotTable]:
    tables = {plan.table: BotTable(plan, lobby, players) for plan in plans}
    bar = Progress(
        TextColumn("dealing"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("hands"),
        TimeElapsedColumn(),
        console=console,
    )
    with bar:
        task = bar.add_task("hands", total=sum(plan.hands for plan in plans))

        def show(view: PublicView) -> None:
            if view.table in tables:
                tables[view.table].show(view)
                bar.update(task, completed=sum(table.picture.ended for table in tables.values()))

        await lobby.follow(ROOM, show)
        async with asyncio.TaskGroup() as group:
            for table in tables.values():
                group.create_task(table.play())
    return tables


def _free_name(game: str, taken: set[str]) -> str:
    """A name that no table of an earlier demo over the same folder has."""
    return next(name for number in count(1) if (name := game if number == 1 else f"{game}-{number}") not in taken)


def _plan(game: str, table: str, hands: int, seed: int) -> Plan:
    config = config_of(game, party(GAMES[game][1], stakes_of(game)))
    return Plan(room=ROOM, table=table, config=config, bots=SEATS, hands=hands, seed=seed)


async def _report(settings: Settings, tables: dict[str, BotTable], seconds: float, console: Console) -> Summary:
    accounts: dict[str, Account] = {}
    faults: list[tuple[str, Finding]] = []
    async with replay_log(settings) as log:
        for table in tables:
            accounts[table], findings = await prove(log, ROOM, table)
            faults += [(table, finding) for finding in findings]
            for line in await told(log, ROOM, table, accounts[table].best_hand or 1):
                console.print(line, highlight=False, markup=False, soft_wrap=True)
            console.print()
    total = _total(accounts.values())
    balanced = total.chips_in == total.chips_out + total.rake
    played = all(account.hands + account.voided >= tables[table].plan.hands for table, account in accounts.items())
    for table, finding in faults:
        console.print(f"{table}: {finding}", style="red", markup=False)
    summary = Summary(
        tables=len(tables),
        hands=total.hands,
        commits=total.commits,
        seconds=round(seconds, 2),
        chips_in=total.chips_in,
        chips_out=total.chips_out,
        rake=total.rake,
        verified=not faults and balanced and played,
    )
    console.print(_grid(accounts))
    console.print(_words(summary))
    return summary


def _total(accounts: Iterable[Account]) -> Account:
    total = Account()
    for account in accounts:
        total.commits += account.commits
        total.hands += account.hands
        total.chips_in += account.chips_in
        total.chips_out += account.chips_out
        total.rake += account.rake
    return total


def _grid(accounts: dict[str, Account]) -> Grid:
    grid = Grid("table", "hands", "commits", "chips in", "chips out", "rake")
    for table, account in accounts.items():
        row = (account.hands, account.commits, account.chips_in, account.chips_out, account.rake)
        grid.add_row(table, *map(str, row))
    return grid


def _words(summary: Summary) -> str:
    hands = "1 hand" if summary.hands == 1 else f"{summary.hands} hands"
    return (
        f"{hands} in {summary.commits} commits, {summary.seconds} s, "
        f"{summary.hands / summary.seconds:.0f} hands/s\n"
        f"chips in {summary.chips_in} = chips out {summary.chips_out} + rake {summary.rake}\n"
        f"verified: {'yes' if summary.verified else 'NO'}"
    )
