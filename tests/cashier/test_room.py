"""Buying in and leaving in a room with real services over a real server."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec
import pytest
from nats.aio.msg import Msg

from contracts.account_commands import (
    AnyAccountCommand,
    Deposit,
    FreezeAccount,
    OpenAccount,
    UnfreezeAccount,
    Withdraw,
)
from contracts.accounts import player_account
from contracts.codec import decode, decode_outcome, encode
from contracts.commands import (
    AnyCommand,
    CloseTable,
    JoinWaitingList,
    LeaveTable,
    OpenTable,
    PauseTable,
    ReserveSeat,
    TakeSeat,
    TopUp,
)
from contracts.ledger import HOUSE
from contracts.outcomes import Accepted, Outcome, Rejected
from contracts.queries import AccountQuery, AccountState, PublicTable
from contracts.subjects import LEDGERS, balance, command, query
from contracts.views import BalanceView
from services.bus.connection import settle
from services.command_line.serve import SERVICES
from tests.services.room import ANSWER_S, CONFIG, ROOM, Caller, Room, a_room

pytestmark = pytest.mark.server

LEDGER: Final = "real-USD"
CASH: Final = msgspec.structs.replace(CONFIG, bankroll="cashier", rake=None)


class Wallet:
    """A lobby with a wallet: its commands have ids of their own."""

    def __init__(self, room: Room, lobby: Caller, sent: int = 0) -> None:
        self.room = room
        self.lobby = lobby
        self._sent = sent

    @property
    def _id(self) -> str:
        self._sent += 1
        return f"w{self._sent}"

    async def account(self, kind: type[AnyAccountCommand], **said: object) -> Outcome:
        """An account command, sent until the cashier answers."""
        subject = command(HOUSE, LEDGER, self.lobby.kind, self.lobby.line.user, LEDGERS)
        asked = kind(id=self._id, made=datetime.now(UTC), **said)  # type: ignore[arg-type]
        return decode_outcome(await self.lobby.ask(subject, encode(asked)))

    async def holds(self, player: str, amount: int) -> None:
        """Opens an account with so much in it."""
        assert isinstance(await self.account(OpenAccount, player=player), Accepted)
        paid = await self.account(Deposit, player=player, amount=amount, reference=f"paid-{player}")
        assert isinstance(paid, Accepted)

    async def table(self, kind: type[AnyCommand], **said: object) -> Outcome:
        return await self.lobby.command("T1", self.lobby.line.user, kind(id=self._id, **said))  # type: ignore[arg-type]

    async def balance(self, account: str) -> int:
        subject = query("account", HOUSE, LEDGER, self.lobby.kind, self.lobby.line.user)
        return decode(await self.lobby.ask(subject, encode(AccountQuery(account=account))), AccountState).balance

    async def until(self, account: str, balance: int) -> None:
        """Waits until so much is in an account."""
        async with asyncio.timeout(ANSWER_S):
            while (found := await self.balance(account)) != balance:
                assert found >= 0
                await asyncio.sleep(0.02)

    async def seated(self, wanted: Callable[[PublicTable], bool]) -> PublicTable:
        return await self.room.picture(self.lobby, "T1", wanted)


async def test_chips_come_from_an_account_and_go_back_to_it(tmp_path: Path) -> None:
    """R5, R6, R9: a table takes only what is in the account, and all that a player leaves with is there again."""
    async with a_room(tmp_path) as room:
        wallet = Wallet(room, await room.caller("lobby"))
        await wallet.holds("ann", 5_000)
        assert isinstance(await wallet.table(OpenTable, config=CASH), Accepted)
        assert isinstance(await wallet.table(TakeSeat, player="ann", buy_in=2_000), Accepted)
        assert isinstance(await wallet.table(TakeSeat, player="eve", buy_in=2_000), Accepted)  # has no account
        await wallet.seated(lambda seen: [(each.player, each.stack) for each in seen.seats] == [("ann", 2_000)])
        await wallet.until("player.ann", 3_000)
        assert await wallet.balance(f"table.{ROOM}.T1") == 2_000
        assert isinstance(await wallet.table(TopUp, player="ann", amount=1_000), Accepted)
        await wallet.seated(lambda seen: [each.stack for each in seen.seats] == [3_000])
        assert isinstance(await wallet.table(LeaveTable, player="ann"), Accepted)
        await wallet.until("player.ann", 5_000)
        assert [await wallet.balance(each) for each in (f"table.{ROOM}.T1", "cash")] == [0, -5_000]
        taken = await wallet.account(Withdraw, player="ann", amount=5_001, reference="too-much")
        assert isinstance(taken, Rejected)
        assert taken.code == "not_enough"
        assert await room.faults("T1") == []


async def test_who_is_frozen_leaves_every_table(tmp_path: Path) -> None:
    """Nothing leaves a frozen account, and the player leaves with what is on the table."""
    async with a_room(tmp_path) as room:
        wallet, operator = Wallet(room, await room.caller("lobby")), await room.caller("operator", "operator")
        await wallet.holds("ann", 5_000)
        await wallet.table(OpenTable, config=CASH)
        await wallet.table(TakeSeat, player="ann", buy_in=2_000)
        await wallet.seated(lambda seen: len(seen.seats) == 1)
        assert isinstance(await Wallet(room, operator).account(FreezeAccount, player="ann", reason="stolen"), Accepted)
        await wallet.until("player.ann", 5_000)
        await wallet.seated(lambda seen: seen.seats == ())
        assert isinstance(await wallet.table(TakeSeat, player="ann", buy_in=2_000), Accepted)
        await wallet.seated(lambda seen: seen.seats == () and seen.n >= 6)
        assert await wallet.balance("player.ann") == 5_000


async def test_who_is_frozen_has_no_seat_kept_and_waits_for_none(tmp_path: Path) -> None:
    """Neither when the account is frozen nor when the player comes again; all that was paid is in the account."""
    async with a_room(tmp_path) as room:
        wallet, operator = Wallet(room, await room.caller("lobby")), await room.caller("operator", "operator")
        await wallet.holds("ann", 5_000)
        await wallet.table(OpenTable, config=CASH)
        await wallet.table(ReserveSeat, player="ann")
        await wallet.table(JoinWaitingList, player="bob")  # has a seat kept at once, and keeps it
        await wallet.seated(lambda seen: [each.player for each in seen.reservations] == ["ann", "bob"])
        assert isinstance(await Wallet(room, operator).account(FreezeAccount, player="ann", reason="stolen"), Accepted)
        await wallet.seated(lambda seen: [each.player for each in seen.reservations] == ["bob"])
        assert isinstance(await wallet.table(JoinWaitingList, player="ann"), Accepted)
        await wallet.seated(lambda seen: [each.player for each in seen.reservations] == ["bob"] and not seen.waiting)
        assert [await wallet.balance(each) for each in ("player.ann", f"table.{ROOM}.T1")] == [5_000, 0]
        assert await room.faults("T1") == []


async def test_what_waits_while_the_cashier_is_away_is_seen_to_when_it_is_back(tmp_path: Path) -> None:
    """Everything follows from the two logs: chips of before the stop come back after it, and no request is lost."""
    without = [name for name in SERVICES if name != "cashier"]
    async with a_room(tmp_path) as room:
        wallet = Wallet(room, await room.caller("lobby"))
        await wallet.holds("ann", 5_000)
        await wallet.table(OpenTable, config=CASH)
        await wallet.table(TakeSeat, player="ann", buy_in=2_000)
        await wallet.seated(lambda seen: len(seen.seats) == 1)
    async with a_room(tmp_path, without) as room:
        wallet = Wallet(room, await room.caller("lobby"), 100)
        assert isinstance(await wallet.table(LeaveTable, player="ann"), Accepted)
        assert isinstance(await wallet.table(TakeSeat, player="ann", buy_in=4_500), Accepted)
    async with a_room(tmp_path) as room:
        wallet = Wallet(room, await room.caller("lobby"), 200)
        await wallet.seated(lambda seen: [each.stack for each in seen.seats] == [4_500])
        await wallet.until("player.ann", 500)
        assert isinstance(await wallet.table(PauseTable), Accepted)
        assert isinstance(await wallet.table(CloseTable), Accepted)
        await wallet.until("player.ann", 5_000)


async def test_a_player_sees_the_own_balance_after_each_commit_that_changes_it(tmp_path: Path) -> None:
    """Each view names the one before it, and says what the account says that the player may ask for alone."""
    async with a_room(tmp_path) as room:
        wallet = Wallet(room, await room.caller("lobby"))
        operator = Wallet(room, await room.caller("operator", "operator"))
        ann = await room.caller("players", "player")
        seen: asyncio.Queue[BalanceView] = asyncio.Queue()
        await ann.client.subscribe(balance("ann"), cb=taking(seen))
        await settle(ann.client)
        await wallet.holds("eve", 900)
        await wallet.holds("ann", 5_000)
        await wallet.table(OpenTable, config=CASH)
        await wallet.table(TakeSeat, player="ann", buy_in=2_000)
        await wallet.seated(lambda picture: len(picture.seats) == 1)
        await operator.account(FreezeAccount, player="ann", reason="stolen")
        views = [await asyncio.wait_for(seen.get(), ANSWER_S) for _ in range(5)]
        assert [(view.balance, view.frozen) for view in views] == [
            *((0, False), (5_000, False), (3_000, False)),  # opened, paid in, bought in
            *((3_000, True), (5_000, True)),  # frozen, and left the table
        ]
        assert {(view.player, view.ledger) for view in views} == {("ann", LEDGER)}
        assert [view.previous for view in views] == [0, *(view.n for view in views[:-1])]
        await wallet.account(Deposit, player="eve", amount=1, reference="more")  # no matter of ann's
        await operator.account(UnfreezeAccount, player="ann", reason="was hers")
        last = await asyncio.wait_for(seen.get(), ANSWER_S)
        found = decode(await asked(ann, "ann", "ann"), AccountState)
        assert (found.balance, found.frozen, found.n, found.head) == (5_000, False, last.n, last.head)
        assert (last.balance, last.frozen, last.previous) == (5_000, False, views[-1].n)
        refused = decode_outcome(await asked(ann, "ann", "eve"))
        assert isinstance(refused, Rejected)
        assert refused.code == "not_allowed"


def taking(seen: asyncio.Queue[BalanceView]) -> Callable[[Msg], Awaitable[None]]:
    async def take(message: Msg) -> None:
        seen.put_nowait(decode(message.data, BalanceView))

    return take


async def asked(caller: Caller, player: str, of: str) -> bytes:
    """The answer to a player who asks what is in somebody's account."""
    return await caller.ask(
        query("account", HOUSE, LEDGER, "player", player), encode(AccountQuery(account=player_account(of)))
    )
