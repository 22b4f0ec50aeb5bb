"""`croupier bots`: bots that play in a room which others run, until they are told to stop."""

import asyncio
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Final, Literal

import structlog
from cyclopts import Parameter, validators
from msgspec.structs import replace

from contracts.client import Client, ClientError
from contracts.games import RULES_VERSION, Options
from services.access.house import NoHouse
from services.bots.bank import Banks
from services.bots.entry import Entry, by_files, by_the_house, has_gateway, on_one_machine
from services.bots.games import GAMES, SEATS, config_of, stakes_of
from services.bots.people import People
from services.bots.resident import LEAVE_S_MAX, Resident
from services.bots.table import Plan
from services.bus import logging
from services.bus.settings import Settings
from services.command_line.demo_plans import games_of
from services.command_line.numbers import Whole
from services.command_line.refusals import CannotRead
from services.command_line.serve import run
from services.rake.schedules import party

logger: Final = structlog.get_logger(__name__)

HOUSE: Final = "CROUPIER_HOUSE_PATH"
AGAIN_S: Final = 1.0
STOP_S_MAX: Final = LEAVE_S_MAX + 1.0
"""Bots that are told to stop are gone after so long, whatever answers them or not."""
FOR_EVER: Final = 2**53
PLAYED: Final = Options(rules=RULES_VERSION, time_bank_ms=10_000, disconnect_ms=10_000, hand_gap_ms=1_000)


def bots(  # noqa: PLR0913 - each is an option of the command
    *,
    tables: str = "nlhe,plo",
    number: Annotated[Whole, Parameter(name="--bots", validator=validators.Number(gte=2, lte=SEATS))] = 4,
    hands: Annotated[Whole | None, Parameter(validator=validators.Number(gte=1))] = None,
    think_ms: Annotated[Whole, Parameter(validator=validators.Number(gte=0))] = 300,
    bankroll: Literal["lobby", "cashier"] = "lobby",
    room: str = "main",
    seed: Whole = 1,
    nats: str | None = None,
    credentials: Path | None = None,
    players: Path | None = None,
    house: Path | None = None,
    lobby: str = "bots",
) -> int:
    """Plays with bots in a running room until SIGTERM; then they leave their tables, which stay open.

    Each bot is a client of its own, and sees nothing but its own cards and what everybody sees. A server or a service
    that is away is waited for.

    Parameters
    ----------
    tables
        The games, a table each, with commas between them: nlhe, plo, lo, lo8, plo8, lhe, plhe, nlo, nlo8. A table of
        that name is opened if there is none.
    number
        So many bots at a table.
    hands
        They leave after so many hands at each table; without it, when they are told to.
    think_ms
        How long a bot thinks before it acts.
    bankroll
        Whose chips a new table is played with: whoever seats the players, or their accounts with the house.
    room
        The room.
    seed
        Seed of the bots' choices.
    nats
        The servers' address; without it the one in the credentials.
    credentials
        Credentials of a server on one machine; with `--players` those of a lobby.
    players
        A folder with `NAME.creds` of each player.
    house
        A house's folder: a lobby's credentials, and the issuer's seed to make those of the players.
    lobby
        As which lobby of the house.
    """
    settings = replace(Settings.from_environment(os.environ), rooms=(room,))
    settings = settings if nats is None else replace(settings, nats_url=nats)
    logging.configure(settings)
    folder = house or (Path(os.environ[HOUSE]) if HOUSE in os.environ and credentials is None else None)
    file = credentials or settings.credentials_file
    try:
        entry = _entry(settings.nats_url, folder, file, players, lobby)
    except (OSError, ValueError, NoHouse) as error:
        raise CannotRead(f"bots do not come in: {error}") from error
    chosen = [_plan(game, room, number, hands, seed, think_ms, bankroll) for game in games_of(tables)]
    run(_until_stopped(entry, chosen))
    return 0


def _entry(url: str | None, house: Path | None, file: Path, players: Path | None, lobby: str) -> Entry:
    if players is not None:
        return by_files(file, players, url)
    if house is not None:
        return by_the_house(house, lobby, url)
    if not has_gateway(file):
        raise ValueError(f"{file} lets in nobody who plays: give --players or --house too")
    return on_one_machine(file, url)


def _plan(
    game: str,
    room: str,
    number: int,
    hands: Whole | None,
    seed: Whole,
    think_ms: int,
    bankroll: Literal["lobby", "cashier"],
) -> Plan:
    config = config_of(game, party(GAMES[game][1], stakes_of(game)), bankroll, PLAYED)
    return Plan(room, game, config, number, hands or FOR_EVER, seed, think_s=think_ms / 1000)


async def _until_stopped(entry: Entry, plans: Sequence[Plan]) -> None:
    """Plays until SIGTERM or SIGINT, or until the plans' hands are played."""
    stop, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    playing = asyncio.create_task(_be_there(entry, plans, stop))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait((playing, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    _, late = await asyncio.wait((playing,), timeout=STOP_S_MAX if stop.is_set() else None)
    if late:
        logger.warning("bots_went", reason="nobody answered them in time; who comes next plays for them")
        playing.cancel()
        await asyncio.wait((playing,))
    else:
        playing.result()


async def _be_there(entry: Entry, plans: Sequence[Plan], stop: asyncio.Event) -> None:
    while not stop.is_set():
        try:
            lobby = await Client.be(entry.url, entry.lobby)
        except ClientError as error:
            logger.warning("bots_wait", reason=str(error))
            await _within(AGAIN_S, stop)
            continue
        async with lobby:
            if await _play(entry, lobby, plans, stop):
                return


async def _play(entry: Entry, lobby: Client, plans: Sequence[Plan], stop: asyncio.Event) -> bool:
    """Plays at all tables; whether all is played, and not the lobby turned out."""
    people, banks = People(entry.let_in), Banks(lobby)
    try:
        async with asyncio.TaskGroup() as group:
            for plan in plans:
                group.create_task(_stay(plan, lobby, people, banks, stop, entry.names))
    finally:
        await people.close()
    return lobby.line.fault is None


async def _stay(
    plan: Plan, lobby: Client, people: People, banks: Banks, stop: asyncio.Event, names: Sequence[str] | None
) -> None:
    """Plays at one table, and begins again where nobody answered for long or a bot was not let in."""
    while not stop.is_set() and lobby.line.fault is None:
        table = Resident(plan, lobby, people, banks, stop, names)
        logger.info("bots_play", room=plan.room, table=plan.table, bots=plan.bots)
        try:
            await table.play()
        except* ClientError as errors:
            reasons = sorted({str(error) for error in errors.exceptions})
            logger.warning("bots_interrupted", room=plan.room, table=plan.table, reasons=reasons)
        else:
            logger.info("bots_left", room=plan.room, table=plan.table, hand=table.hand)
            return
        await _within(AGAIN_S, stop)


async def _within(wait_s: float, stop: asyncio.Event) -> None:
    try:
        await asyncio.wait_for(stop.wait(), wait_s)
    except TimeoutError:
        return
