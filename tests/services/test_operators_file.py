"""An operator works with the one file that was handed over: the name is in it, and what it may read."""

import asyncio
from pathlib import Path

import pytest

from services.access.admitting import admit
from services.bus.accounts import SERVICES
from services.command_line import commands
from services.command_line.serve import make_streams
from tests.access.house import deployed_house
from tests.services.console import Ran

pytestmark = pytest.mark.server


async def test_an_operators_own_file_is_enough_to_act_and_to_read_logs_where_it_may(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ann's file lets her act under her name; bob's, made with --reads-logs, lets him read too."""
    monkeypatch.delenv("CROUPIER_OPERATOR", raising=False)
    with deployed_house(tmp_path) as deployed:
        admit(deployed.house, "operator", "ann")
        admit(deployed.house, "operator", "bob", reads_log=True)
        deployed.reload()
        await make_streams(deployed.settings("deploy"))

        async def run(name: str, *arguments: str) -> Ran:
            capsys.readouterr()
            where = (
                "--nats",
                deployed.url,
                "--credentials",
                str(deployed.house.folder / "operators" / name / "credentials.json"),
            )
            code = await asyncio.to_thread(commands.run, [*arguments, *where])
            out, err = capsys.readouterr()
            return Ran(code, out, err)

        table = tmp_path / "table.toml"
        table.write_text(
            'variant = "holdem"\nlimit = "no_limit"\nseats = 2\n'
            "[stakes]\nsmall_blind = 1\nbig_blind = 2\n[buy_in]\nminimum = 40\n"
        )
        async with deployed.serving(*(user for user in SERVICES if user not in {"deploy", "doorman"})):
            assert (await run("ann", "open", "T1", str(table))).code == 0
            assert (await run("ann", "open-account", "P7", "--ledger", "play-USD")).code == 0
            unread = await run("ann", "deposit", "P7", "100", "--reference", "r-1")
            assert (unread.code, "--reads-logs" in unread.err) == (2, True)
            assert (await run("ann", "deposit", "P7", "100", "--reference", "r-1", "--ledger", "play-USD")).code == 0
            assert (await run("bob", "deposit", "P7", "100", "--reference", "r-2")).code == 0
            assert (await run("bob", "verify", "T1")).code == 0
            moved = (await run("bob", "ledger", "P7")).out
            assert ("operator ann" in moved, "operator bob" in moved) == (True, True)
            assert "T1" in (await run("bob", "tables")).out
