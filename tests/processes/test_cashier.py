"""Wherever the cashier or a table dies: the chips of a buy-in end in exactly one place, and nothing waits for ever."""

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

import pytest
from msgspec.structs import replace

from contracts.account_commands import Deposit, OpenAccount
from contracts.client import Client
from contracts.commands import LeaveTable, OpenTable, TakeSeat
from contracts.events.cashier import ChipsBought
from contracts.games import BuyIn, Options
from contracts.ledger import HOUSE
from contracts.outcomes import Accepted
from contracts.queries import AccountState, PublicTable
from services.bots.games import config_of
from services.bus.aggregates import LEDGERS
from services.bus.archives import OF_LEDGERS
from services.bus.connection import Line, connect
from services.bus.credentials import Credentials
from services.bus.jetstream import JetStreamLog
from services.bus.reader import from_the_beginning, messages
from services.bus.reading import Reading
from services.bus.settings import Settings
from tests.processes.fleet import RUN, Fleet, Member
from tests.processes.playing import ROOM, a_server, measured, people

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]

LEDGER: Final = "real-USD"
IN_TIME_S: Final = 20.0
BUY_IN: Final = 2_000


def cash() -> OpenTable:
    """A table whose chips are the cashier's; nobody deals there."""
    config = config_of("nlhe", None)
    config = replace(config, buy_in=BuyIn(minimum=100, maximum=1_000_000), options=Options(reserve_ms=60_000))
    return OpenTable(id="open", config=replace(config, bankroll="cashier", money="real", currency="USD"))


async def rich(lobby: Client, player: str, amount: int) -> None:
    """Opens an account, and pays into it."""
    made = datetime.now(UTC)
    opened = await lobby.account(LEDGER, OpenAccount(id=f"open-{player}", made=made, player=player))
    assert isinstance(opened, Accepted)
    deposit = Deposit(id=f"pay-{player}", made=made, player=player, amount=amount, reference=player)
    assert isinstance(await lobby.account(LEDGER, deposit), Accepted)


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Waits until something holds."""
    async with asyncio.timeout(IN_TIME_S):
        while not await holds():  # noqa: ASYNC110 - another process does it
            await asyncio.sleep(0.02)


async def has(lobby: Client, account: str, amount: int) -> bool:
    """Whether so much is in an account."""
    state = await lobby.balance(LEDGER, account)
    return isinstance(state, AccountState) and state.balance == amount


async def sits(lobby: Client, table: str, players: dict[str, int]) -> bool:
    """Whether these players sit at a table, each with so much."""
    picture = await lobby.table(ROOM, table)
    return isinstance(picture, PublicTable) and {seat.player: seat.stack for seat in picture.seats} == players


async def bought(settings: Settings) -> list[tuple[str, int]]:
    """Each buy-in that the ledger has paid, by table and request."""
    line = Line("replay")
    client = await connect(settings, Credentials.read(settings.credentials_file), line)
    try:
        log = await JetStreamLog.open(client, settings, archive=OF_LEDGERS)
        start = await from_the_beginning(LEDGERS, log, HOUSE, LEDGER)
        reading, found = Reading(LEDGERS, start.state), list[tuple[str, int]]()
        async for message in messages(log, start):
            commit = reading.take(message)
            entries = commit.events if commit is not None else ()
            found += [(each.source.table, each.source.n) for each in entries if isinstance(each, ChipsBought)]
        return found
    finally:
        line.ending = True
        await client.close()


async def reconciled(settings: Settings) -> tuple[int, str]:
    """What `croupier reconcile` ends with, and says: 0 where every chip is where the tables' logs say."""
    place = ("--nats", str(settings.nats_url), "--credentials", str(settings.credentials_file))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", RUN, "reconcile", *place, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    said, _ = await process.communicate()
    return process.returncode or 0, said.decode()


async def started_anew(member: Member) -> None:
    await member.end(signal.SIGKILL)
    await member.start()
    await member.serving()


@pytest.mark.parametrize("dies", ["cashier", "both"])
async def test_chips_that_were_paid_and_not_told_of_are_told_of_by_the_next_cashier(tmp_path: Path, dies: str) -> None:
    """The cashier is killed between the ledger's append and the table's answer; the table with it, or not."""
    async with a_server(tmp_path) as settings, Fleet(settings, [("table", "views"), ("cashier",)]) as fleet:
        table, cashier = fleet.members
        async with people(settings) as (lobby, _):
            await rich(lobby, "ann", 5_000)
            assert isinstance(await lobby.command(ROOM, "T1", cash()), Accepted)
            take = TakeSeat(id="take", player="ann", buy_in=BUY_IN)
            await cashier.end(signal.SIGKILL)
            assert isinstance(await lobby.command(ROOM, "T1", take), Accepted)
            os.kill(table.pid, signal.SIGSTOP)
            await cashier.start()
            await cashier.serving()
            await until(lambda: has(lobby, "player.ann", 3_000))
            await cashier.end(signal.SIGKILL)
            if dies == "both":
                await started_anew(table)
            else:
                os.kill(table.pid, signal.SIGCONT)
            await cashier.start()
            await cashier.serving()
            await until(lambda: sits(lobby, "T1", {"ann": BUY_IN}))
            leave = LeaveTable(id="leave", player="ann")
            assert isinstance(await lobby.command(ROOM, "T1", leave), Accepted)
            await until(lambda: has(lobby, "player.ann", 5_000))
            assert await has(lobby, f"table.{ROOM}.T1", 0)
        assert len(await bought(settings)) == 1
        code, said = await reconciled(settings)
        assert code == 0, said


async def test_two_cashiers_pay_each_buy_in_once_while_one_is_killed_every_second(tmp_path: Path) -> None:
    """Two replicas of the cashier: what one begins the other ends, and neither pays what the other has paid."""
    tables, players = [f"T{number}" for number in range(40)], [f"P{number}" for number in range(40)]
    async with (
        a_server(tmp_path) as settings,
        Fleet(settings, [("table", "views"), ("cashier",), ("cashier",)]) as fleet,
        people(settings) as (lobby, _),
    ):
        await asyncio.gather(*(rich(lobby, player, BUY_IN) for player in players))
        opened = await asyncio.gather(*(lobby.command(ROOM, table, cash()) for table in tables))
        assert all(isinstance(outcome, Accepted) for outcome in opened)
        async with fleet.under_fire(every_s=1.0, random=Random(5)):
            for table, player in zip(tables, players, strict=True):
                take = TakeSeat(id=f"take-{player}", player=player, buy_in=BUY_IN)
                outcome = await lobby.command(ROOM, table, take)
                assert isinstance(outcome, Accepted)
                await asyncio.sleep(0.1)
            for table, player in zip(tables, players, strict=True):
                await until(partial(sits, lobby, table, {player: BUY_IN}))
        await fleet.serving()
        paid = await bought(settings)
        measured(f"{len(paid)} buy-ins, {len(fleet.kills)} kills")
        assert len(set(paid)) == len(paid) == len(players)
        assert fleet.kills
        for player in players:
            assert await has(lobby, f"player.{player}", 0)
        code, said = await reconciled(settings)
        assert code == 0, said
        assert all(code == 0 for code in (await fleet.stop()).values())
        assert fleet.alarms() == []
