"""DESIGN 3: what leaves the log is shown by another replica where the one that was to show it is gone."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest
from nats.aio.msg import Msg

from contracts.account_commands import Deposit, OpenAccount
from contracts.client.sight import Sight
from contracts.codec import decode, decode_outcome, encode
from contracts.commands import Act
from contracts.ledger import HOUSE
from contracts.outcomes import Accepted
from contracts.queries import OwnCards, PublicTable
from contracts.subjects import LEDGERS, balance, command, player_view, public_view
from contracts.views import BalanceView, PublicView
from services.bus.application import Service
from services.bus.connection import settle
from services.bus.process import Process
from services.command_line.serve import SERVICES, Build, build_of, room
from tests.services.room import ANSWER_S, ROOM, Caller, Room, a_room

pytestmark = pytest.mark.server

SOON_S: Final = 3.0
"""Within a second or two, on a machine that does much else."""
PLAYERS: Final = ("ann", "bob")


def silent(name: str, roots: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> Build:
    """A service of which nothing that begins with `roots` ever leaves: it does its work, and dies before it tells."""

    def build(process: Process) -> Service:
        service = build_of(name)(process)
        publish = service.publish

        def quietly(subject: str, data: bytes) -> None:
            if subject.split(".", maxsplit=1)[0] not in roots:
                publish(subject, data)

        monkeypatch.setattr(service, "publish", quietly)
        return service

    return build


@asynccontextmanager
async def a_room_with(folder: Path, builds: dict[str, Build], *more: str, nudges: bool = True) -> AsyncIterator[Room]:
    """A room with such services, and a second replica of some in a process of their own."""
    async with a_room(folder, [name for name in SERVICES if name not in builds]) as house:
        alone = msgspec.structs.replace(house.settings, nudges=nudges)
        async with room(house.settings, list(builds), builds), room(alone, more):
            yield house


async def listening[T: msgspec.Struct](caller: Caller, subject: str, kind: type[T]) -> "asyncio.Queue[T]":
    """Everything that arrives on a subject from now on."""
    heard: asyncio.Queue[T] = asyncio.Queue()

    async def take(message: Msg) -> None:
        heard.put_nowait(decode(message.data, kind))

    await caller.client.subscribe(subject, cb=take)
    await settle(caller.client)
    return heard


async def act(house: Room, caller: Caller, seen: PublicTable, number: int) -> None:
    """The player whose turn it is folds."""
    assert seen.turn is not None
    assert seen.turn_number is not None
    player = next(seat.player for seat in seen.seats if seat.seat == seen.turn.seat)
    folds = Act(id=f"a{number}", hand=seen.hand, turn=seen.turn_number, action="fold")
    assert isinstance(await caller.command("T1", player, folds), Accepted)


async def followed(
    sight: Sight, heard: "asyncio.Queue[PublicView]", until: Callable[[PublicTable], bool]
) -> PublicTable:
    """What a reader sees who only listens: every view must follow on the one before it. Raises TimeoutError."""
    async with asyncio.timeout(ANSWER_S):
        while sight.table is None or not until(sight.table):
            view = await asyncio.wait_for(heard.get(), SOON_S)
            if view.n > sight.n:
                assert view.previous == sight.n, "a view came out of order"
            sight.take(view)
            sight.follow()
    return sight.table


def in_turn(hand: int) -> Callable[[PublicTable], bool]:
    """Whether somebody may act in this hand."""
    return lambda seen: seen.hand == hand and seen.turn_number is not None


async def test_who_only_listens_sees_every_commit_in_order_though_a_replica_dies_again_and_again(
    tmp_path: Path,
) -> None:
    """Another member of the queue group is picked for about every second commit, and shows none of them."""
    async with a_room(tmp_path) as house:
        dead, lobby = await house.caller("views"), await house.caller("lobby")
        await dead.client.subscribe("fact.>", queue="views", cb=swallow)
        await settle(dead.client)
        players = await house.caller("players", "player")
        heard = await listening(players, public_view(ROOM, "T1"), PublicView)
        await house.open(lobby, "T1", PLAYERS)
        sight = Sight()
        for hand in range(1, 6):
            seen = await followed(sight, heard, in_turn(hand))
            await act(house, players, seen, hand)
        asked = await house.picture(lobby, "T1", in_turn(6))
        assert await followed(sight, heard, lambda seen: seen.n >= asked.n) == asked


async def swallow(_: Msg) -> None:
    """Does nothing about what it is told."""


async def test_players_get_their_cards_though_who_dealt_them_dies_before_it_sends_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one that deals never sends; the other one is too late for every deal, as it looks only now and then."""
    quiet = {"dealer": silent("dealer", ["view"], monkeypatch)}
    async with a_room_with(tmp_path, quiet, "dealer", nudges=False) as house:
        lobby, players = await house.caller("lobby"), await house.caller("players", "player")
        heard = {name: await listening(players, player_view(ROOM, "T1", name), OwnCards) for name in PLAYERS}
        await house.open(lobby, "T1", PLAYERS)
        for hand in (1, 2, 3):
            seen = await house.picture(lobby, "T1", in_turn(hand))
            dealt: list[Any] = []
            for name in PLAYERS:
                cards = await asyncio.wait_for(heard[name].get(), SOON_S)
                assert (cards.player, cards.hand) == (name, hand)
                assert cards.cards is not None
                dealt += [each.card for each in cards.cards.cards]
            assert len(set(dealt)) == 4
            await act(house, players, seen, hand)


async def test_a_dealer_that_comes_back_sends_the_cards_of_hands_in_progress(tmp_path: Path) -> None:
    """Where no other one was there, players who wait for their cards get them when it is."""
    async with a_room(tmp_path) as house:
        lobby, players = await house.caller("lobby"), await house.caller("players", "player")
        await house.open(lobby, "T1", PLAYERS)
        await house.picture(lobby, "T1", in_turn(1))
        heard = await listening(players, player_view(ROOM, "T1", "ann"), OwnCards)
        async with room(house.settings, ["dealer"]):
            cards = await asyncio.wait_for(heard.get(), SOON_S)
        assert (cards.player, cards.hand, cards.cards is not None) == ("ann", 1, True)


async def test_the_last_view_is_shown_once_more_when_views_come_back(tmp_path: Path) -> None:
    """Who listens sees by it that something was missed, and asks."""
    async with a_room(tmp_path, [name for name in SERVICES if name != "views"]) as house:
        lobby = await house.caller("lobby")
        heard = await listening(lobby, public_view(ROOM, "T1"), PublicView)
        await house.open(lobby, "T1", PLAYERS[:1])
        async with room(house.settings, ["views"]):
            view = await asyncio.wait_for(heard.get(), SOON_S)
            asked = await house.picture(lobby, "T1", lambda _: True)
        assert (view.n, view.previous, view.head) == (asked.n, asked.n - 1, asked.head)
        assert heard.empty()


async def test_players_see_their_balances_though_a_cashier_dies_before_it_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each in order, as another cashier shows what this one did not."""
    quiet = {"cashier": silent("cashier", ["account"], monkeypatch)}
    async with a_room_with(tmp_path, quiet, "cashier") as house:
        lobby, ann = await house.caller("lobby"), await house.caller("players", "player")
        heard = await listening(ann, balance("ann"), BalanceView)
        subject = command(HOUSE, "real-USD", "lobby", "lobby", LEDGERS)
        asked = [OpenAccount(id="open", made=datetime.now(UTC), player="ann")]
        paid = [
            Deposit(id=f"d{n}", made=datetime.now(UTC), player="ann", amount=n, reference=f"d{n}") for n in range(1, 8)
        ]
        for each in (*asked, *paid):
            assert isinstance(decode_outcome(await lobby.ask(subject, encode(each))), Accepted)
        views = [await asyncio.wait_for(heard.get(), SOON_S) for _ in range(8)]
        assert [view.balance for view in views] == [0, 1, 3, 6, 10, 15, 21, 28]
        assert [view.previous for view in views] == [0, *(view.n for view in views[:-1])]
