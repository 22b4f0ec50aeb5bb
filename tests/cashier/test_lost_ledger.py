"""A ledger of which the server finds nothing is not taken for one that never was."""

import shutil
from pathlib import Path

import pytest

from contracts.account_commands import OpenAccount
from contracts.codec import encode
from contracts.commands import OpenTable, TakeSeat
from contracts.commit import Head
from contracts.ledger import HOUSE
from contracts.outcomes import Accepted, Rejected
from contracts.subjects import LEDGERS, heads
from services.bus.faults import CannotServe
from services.bus.streams import LEDGER, LEDGER_HEADS, LEDGER_REFUSALS, StreamDiffers
from tests.cashier.test_room import CASH, Wallet
from tests.damage.store import of_stream
from tests.services.room import a_house

pytestmark = pytest.mark.server

ALL = (LEDGER, LEDGER_HEADS, LEDGER_REFUSALS)


async def banked(folder: Path, *, seated: bool) -> None:
    """A room in which somebody has an account, and sits at a table or not."""
    async with a_house(folder) as room:
        wallet = Wallet(room, await room.caller("lobby"))
        await wallet.holds("ann", 5_000)
        if seated:
            assert isinstance(await wallet.table(OpenTable, config=CASH), Accepted)
            assert isinstance(await wallet.table(TakeSeat, player="ann", buy_in=2_000), Accepted)
            await wallet.seated(lambda seen: len(seen.seats) == 1)


def gone(folder: Path, *names: str) -> None:
    for name in names:
        shutil.rmtree(of_stream(folder, name))


async def test_a_ledger_that_is_gone_is_told_by_its_heads(tmp_path: Path) -> None:
    await banked(tmp_path, seated=False)
    gone(tmp_path, LEDGER)
    with pytest.raises(StreamDiffers, match="stream LEDGER does not exist, though stream LEDGER_HEADS was in use"):
        async with a_house(tmp_path):
            pass


async def test_a_ledger_of_which_nothing_is_left_is_told_by_the_players_who_sit_with_its_chips(tmp_path: Path) -> None:
    await banked(tmp_path, seated=True)
    gone(tmp_path, *ALL)
    with pytest.raises(CannotServe, match="there is no ledger real-USD, but players sit at table T1"):
        async with a_house(tmp_path):
            pass
    async with a_house(tmp_path, ["table", "views"]) as room:  # the tables can be closed
        assert len((await Wallet(room, await room.caller("lobby")).seated(lambda _: True)).seats) == 1


async def test_a_ledger_that_lost_its_end_is_halted_and_says_so_to_wallets(tmp_path: Path) -> None:
    """A published head is ahead of the log (DESIGN 1): nothing is written until the lost commits are back."""
    async with a_house(tmp_path, ["table", "views"]) as room:
        deploy = await room.caller("deploy")
        subject = heads("cashier", HOUSE, "real-USD", LEDGERS)
        await deploy.client.jetstream().publish(subject, encode(Head(n=3, hash="0" * 64)))
    async with a_house(tmp_path) as room:
        wallet = Wallet(room, await room.caller("lobby"))
        outcome = await wallet.account(OpenAccount, player="ann")
        assert isinstance(outcome, Rejected)
        assert outcome.code == "halted"
        assert outcome.message.startswith("The ledger is halted: commits 1 to 3 are missing")


async def test_a_room_of_a_release_without_accounts_gets_its_ledger(tmp_path: Path) -> None:
    await banked(tmp_path, seated=False)
    gone(tmp_path, *ALL)
    await banked(tmp_path, seated=True)
