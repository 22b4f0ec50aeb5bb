"""R136: whatever service is killed and started again, at whatever moment, every chip is in exactly one place."""

from pathlib import Path
from random import Random

import pytest
from msgspec.structs import replace

from services.bots.bank import Bank
from services.bots.table import Plan
from services.command_line.proof import reconcile
from tests.processes.fleet import Fleet
from tests.processes.playing import LEDGER, ROOM, a_server, cash_plans, measured, play, played_and_sound, proofs

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]

SERVICES = ("table", "dealer", "rake", "settlement", "cashier", "views")


ONE_OF_EACH = tuple((name,) for name in SERVICES)
TWO_OF_ALL = (SERVICES, SERVICES)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("crews", [ONE_OF_EACH, TWO_OF_ALL], ids=["one of each", "two of all"])
async def test_no_kill_of_any_service_changes_what_the_accounts_add_up_to(
    tmp_path: Path, crews: tuple[tuple[str, ...], ...]
) -> None:
    """With one process of each service all that it owes waits for its next start; with two, the other one acts."""
    wanted: list[Plan] = []
    banks: list[Bank] = []
    async with a_server(tmp_path) as settings, Fleet(settings, crews) as fleet:
        async with fleet.under_fire(every_s=0.7, random=Random(7), spares_the_last=False):
            while set(fleet.kills) != {member.name for member in fleet.members}:
                again = [replace(plan, table=f"{plan.table}-{len(banks)}") for plan in cash_plans(4, hands=6, bots=4)]
                tables, _ = await play(settings, again)
                wanted += again
                banks += [bank for bank in (tables[0].bank,) if bank is not None]
        await fleet.serving()
        found, books = await proofs(settings, [plan.table for plan in wanted]), await reconcile(settings, ROOM, LEDGER)
        measured(
            f"{len(fleet.kills)} kills, slowest start {fleet.slowest_start_s():.2f} s, "
            f"{books.entries} entries: deposited {books.deposited} = {books.players} in accounts + {books.rake} rake"
        )
        played_and_sound(found, wanted)
        assert books.differences == ()
        assert (books.tables, books.suspense, books.withdrawn) == (0, 0, 0)
        assert sum(bank.deposited for bank in banks) == books.deposited == books.players + books.rake
        assert books.rake == sum(proof.account.rake for proof in found) > 0
        assert set((await fleet.stop()).values()) == {0}
        assert fleet.alarms() == []
