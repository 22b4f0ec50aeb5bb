"""A stop is no event for a table: what was in hand is finished, and the hand goes on with the next process."""

import asyncio
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from contracts.client import Client
from contracts.commands import Act, OpenTable, PauseTable, TakeSeat
from contracts.games import Options
from contracts.outcomes import Accepted
from contracts.queries import PublicTable
from services.bots.games import config_of
from tests.processes.fleet import Fleet
from tests.processes.playing import (
    ROOM,
    TURN_S,
    a_server,
    longest_silence,
    measured,
    people,
    plans,
    play,
    played_and_sound,
    proofs,
)

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]

EVERYTHING = ("table", "dealer", "rake", "settlement", "views")
TABLES = tuple(f"T{number}" for number in range(50))


async def test_processes_are_replaced_one_after_another_while_bots_play(tmp_path: Path) -> None:
    wanted = plans(tables=4, hands=25, bots=3)
    async with a_server(tmp_path) as settings, Fleet(settings, (EVERYTHING, EVERYTHING)) as fleet:
        playing = asyncio.create_task(play(settings, wanted))
        codes = [await _replace(fleet, number) for number in (0, 1)]
        _, clients = await playing
        found = await proofs(settings, [plan.table for plan in wanted])
        longest = longest_silence(found)
        measured(
            f"longest wait {longest.silence_s:.2f} s after {longest.after}, "
            f"{sum(client.post.again for client in clients)} retries, slowest start {fleet.slowest_start_s():.2f} s",
        )
        played_and_sound(found, wanted)
        assert codes == [0, 0]
        assert longest.silence_s < TURN_S
        assert fleet.alarms() == []


async def _replace(fleet: Fleet, number: int) -> int:
    code = await fleet.members[number].end(signal.SIGTERM)
    await fleet.members[number].start()
    await fleet.members[number].serving()
    return code


async def test_fifty_hands_go_on_after_everything_stopped_in_their_midst(tmp_path: Path) -> None:
    """The server stops too: all that comes back is the folder."""
    async with a_server(tmp_path) as settings, Fleet(settings, (EVERYTHING,)) as fleet:
        async with people(settings) as (lobby, _):
            before = [await deal(lobby, table) for table in TABLES]
        assert await fleet.stop() == {fleet.members[0].name: 0}
        assert fleet.alarms() == []
    async with a_server(tmp_path) as settings, Fleet(settings, (EVERYTHING,)) as fleet:
        measured(f"{len(TABLES)} tables: {fleet.slowest_start_s():.2f} s from the start of the process until it served")
        async with people(settings) as (lobby, players):
            assert [await seen(lobby, table, lambda _: True) for table in TABLES] == before
            for picture in before:
                await _fold_and_pause(lobby, players, picture)
        assert await fleet.stop() == {fleet.members[0].name: 0}
        found = await proofs(settings, TABLES)
        assert {proof.table: (proof.account.hands, proof.faults) for proof in found} == dict.fromkeys(TABLES, (1, []))
        assert fleet.alarms() == []


async def deal(lobby: Client, table: str) -> PublicTable:
    """Opens a table for two, and returns when the first of them has to act."""
    commands = (
        OpenTable(id="open", config=replace(config_of("nlhe", None), options=Options(act_ms=600_000))),
        TakeSeat(id="P1", player="P1", buy_in=2_000),
        TakeSeat(id="P2", player="P2", buy_in=2_000),
    )
    for command in commands:
        assert isinstance(await lobby.command(ROOM, table, command), Accepted)
    return await seen(lobby, table, lambda picture: picture.turn_number is not None)


async def _fold_and_pause(lobby: Client, players: Client, picture: PublicTable) -> None:
    """Plays the hand that was in progress to its end."""
    assert picture.turn is not None
    assert picture.turn_number is not None
    table, player = picture.table, next(each.player for each in picture.seats if each.seat == picture.turn.seat)
    fold = Act(id="fold", hand=1, turn=picture.turn_number, action="fold")
    assert isinstance(await lobby.command(ROOM, table, PauseTable(id="pause", hand=1)), Accepted)
    assert isinstance(await players.named(player).command(ROOM, table, fold), Accepted)
    await seen(lobby, table, lambda picture: not picture.in_hand)


async def seen(lobby: Client, table: str, wanted: Callable[[PublicTable], bool]) -> PublicTable:
    """Asks for the picture of a table until it is as wanted."""
    async with asyncio.timeout(20):
        while True:
            picture = await lobby.table(ROOM, table)
            if isinstance(picture, PublicTable) and wanted(picture):
                return picture
            await asyncio.sleep(0.01)
