"""What operators do at a table whose chips are the cashier's: every chip stays accounted for (R124, R136)."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from contracts.codec import encode
from contracts.commands import TakeSeat
from contracts.outcomes import Accepted
from contracts.queries import PublicTable
from services.command_line import commands
from tests.services.room import CONFIG, Room, a_room

pytestmark = pytest.mark.server

type Croupier = Callable[..., Awaitable[tuple[int, Any]]]


def operator(house: Room, capsys: pytest.CaptureFixture[str]) -> Croupier:
    """The commands, as the operator of a room; gives the exit code and what was said, as JSON."""
    where = ("--nats", str(house.settings.nats_url), "--credentials", str(house.settings.credentials_file))

    async def run(*arguments: object) -> tuple[int, Any]:
        capsys.readouterr()
        code = await asyncio.to_thread(commands.run, [*map(str, arguments), *where, "--json"])
        out, err = capsys.readouterr()
        return code, msgspec.json.decode(out) if out else err

    return run


async def _are(run: Croupier, balances: dict[str, int]) -> None:
    """Waits until the accounts hold this: the cashier is told of what a table did. Then all has to agree."""
    found: dict[str, int] = {}
    async with asyncio.timeout(10):
        while found != balances:
            code, listed = await run("accounts")
            assert code == 0
            found = {each["account"]: each["balance"] for each in listed[0]["accounts"] if each.get("balance")}
    assert (await run("reconcile"))[0] == 0


async def test_a_corrected_stack_and_a_frozen_player_leave_every_chip_where_it_belongs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "table.json"
    config.write_bytes(encode(msgspec.structs.replace(CONFIG, bankroll="cashier")))
    async with a_room(tmp_path / "room") as house:
        run = operator(house, capsys)
        lobby = await house.caller("lobby")
        assert (await run("open", "T1", config))[0] == 0
        assert (await run("pause", "T1"))[0] == 0
        assert (await run("open-account", "ann", "--ledger", "real-USD"))[0] == 0
        assert (await run("deposit", "ann", 5_000, "--reference", "d-1"))[0] == 0
        take = TakeSeat(id="take", player="ann", buy_in=2_000)
        assert isinstance(await lobby.command("T1", "lobby", take), Accepted)
        await house.picture(lobby, "T1", lambda seen: len(seen.seats) == 1)

        assert (await run("adjust", "T1", "ann", 500, "--reason", "paid short", "--reference", "case-1"))[0] == 0
        await _are(run, {"cash": -5_000, "player.ann": 3_000, "suspense": -500, "table.main.T1": 2_500})
        assert (await run("freeze", "ann", "--reason", "a suspicion"))[0] == 0
        assert (await house.picture(lobby, "T1", _empty)).seats == ()
        await _are(run, {"cash": -5_000, "player.ann": 5_500, "suspense": -500})
        assert (await run("close", "T1"))[0] == 0
        assert await house.faults("T1") == []


def _empty(seen: PublicTable) -> bool:
    return not seen.seats
