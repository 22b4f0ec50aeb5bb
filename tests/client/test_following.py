"""DESIGN 5: a client sees the whole picture first, then every view once and in order, whatever the bus does to them."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from contracts.cards import DealtCard
from contracts.client import CardsDiffer, Client, Denied, Following, WentBack
from contracts.client.patience import SILENCE_S
from contracts.codec import encode
from contracts.events.dealer import BoardDealt, HoleCardsDealt
from contracts.outcomes import Accepted
from contracts.queries import OwnCards, PublicTable
from contracts.views import PublicView
from tests.client.stage import IN_TIME_S, ROOM, TABLE, UNKNOWN, Stage, a_stage, connected, numbers, seen
from tests.client.watching import a_showdown
from tests.table.cash import cash

pytestmark = pytest.mark.server

GAME = a_showdown(cash(seats=4, act_ms=5_000))
DEALT = next(view.n for view in GAME.views if any(isinstance(event, HoleCardsDealt) for event in view.events))
"""The commit that deals the first hand's hole cards."""
ANN = "P1"


def view(n: int) -> PublicView:
    return GAME.views[n - 1]


def picture(n: int) -> PublicTable:
    return GAME.pictures[n - 1]


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with a_stage(tmp_path) as running:
        yield running


class Tail:
    """What the views service answers with: the picture after the commit that it has come to."""

    def __init__(self, n: int) -> None:
        self.n = n
        self.instead: PublicTable | None = None
        self.answers = 0

    def __call__(self) -> PublicTable:
        self.answers += 1
        return self.instead or picture(self.n)


async def watching(stage: Stage, tail: Tail) -> Following:
    """A lobby that has begun to follow the table, and has seen the whole."""
    await stage.shows(tail)
    following = (await stage.client("lobby", "lobby")).follow(ROOM, TABLE)
    assert await seen(following, 1) == [picture(tail.n)]
    assert following.table == picture(tail.n)
    return following


async def test_the_picture_comes_first_and_then_each_view_once_and_in_order(stage: Stage) -> None:
    following = await watching(stage, Tail(3))
    await stage.show(view(4), view(5), view(5), view(4), view(3), view(7), view(6), view(8))
    assert await seen(following, 5) == [view(n) for n in range(4, 9)]
    assert following.table == picture(8)
    assert (following.asked, following.dropped, following.waiting) == (1, 0, False)


async def test_views_that_come_before_the_first_picture_are_kept(stage: Stage) -> None:
    await stage.shows(Tail(3))
    async with (await stage.client("lobby", "lobby")).follow(ROOM, TABLE) as following:
        await stage.show(view(3), view(4))
        assert numbers(await seen(following, 2)) == [("PublicTable", 3), ("PublicView", 4)]


async def test_a_view_that_was_lost_is_made_up_for_by_the_whole_picture(stage: Stage) -> None:
    tail = Tail(3)
    following = await watching(stage, tail)
    tail.n = 7
    await stage.show(view(4), view(6), view(7), view(8))
    assert numbers(await seen(following, 3)) == [("PublicView", 4), ("PublicTable", 7), ("PublicView", 8)]
    assert following.table == picture(8)


async def test_a_picture_from_before_the_gap_is_not_taken_for_the_whole(stage: Stage) -> None:
    """A replica that lags may answer: it is asked again."""
    tail = Tail(4)
    following = await watching(stage, tail)
    await stage.show(view(6))
    tail.n = 2
    looking = asyncio.create_task(seen(following, 1))
    while tail.answers < 3:  # noqa: ASYNC110 - asked once a second
        await asyncio.sleep(0.01)
    assert not looking.done()
    tail.n = 6
    assert await looking == [picture(6)]


async def test_a_table_that_falls_silent_is_asked_for_and_nothing_new_is_told_of_it(stage: Stage) -> None:
    """The last view may be the one that was lost: nothing else would tell."""
    tail = Tail(3)
    following = await watching(stage, tail)
    looking = asyncio.create_task(seen(following, 1))
    while tail.answers < 2:  # noqa: ASYNC110 - asked after some silence
        await asyncio.sleep(0.01)
    await asyncio.sleep(0)
    assert not looking.done()
    tail.n = 5
    assert await looking == [picture(5)]
    assert following.asked <= 2 + SILENCE_S


async def test_who_wants_to_look_again_gets_the_picture_though_it_is_the_same(stage: Stage) -> None:
    following = await watching(stage, Tail(3))
    following.look_again()
    assert await seen(following, 1) == [picture(3)]


async def test_a_table_that_is_not_open_yet_begins_with_its_first_view(stage: Stage) -> None:
    await stage.shows(lambda: UNKNOWN)
    async with (await stage.client("player", ANN)).follow(ROOM, TABLE) as following:
        assert following.table is None
        await stage.show(view(1), view(2))
        assert await seen(following, 2) == [view(1), view(2)]
        assert following.table == picture(2)


async def test_bodies_that_do_not_fit_their_subject_are_dropped_and_counted(stage: Stage) -> None:
    """FACTS: a player may point an answer to an own request at a view's subject; and a service may go mad."""
    following = await watching(stage, Tail(3))
    strangers: list[PublicView | bytes] = [
        b"",
        b"{}",
        b"[" * 5000,
        encode(Accepted(id="x", n=4, head="0" * 64)),
        encode(picture(4)),
        encode(GAME.own[1, ANN]),
        replace(view(4), table="T2"),
        replace(view(4), room="high"),
        replace(view(4), n=0, previous=0),
        replace(view(4), previous=4),
        replace(view(4), previous=-1),
    ]
    await stage.show(*strangers, view(4))
    assert await seen(following, 1) == [view(4)]
    assert (following.dropped, following.table) == (len(strangers), picture(4))


async def test_after_the_connection_was_lost_the_whole_is_asked_for(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is killed, and comes back on its port; what was shown meanwhile nobody tells again.

    It is not the silence that has it asked: it would take an hour.
    """
    monkeypatch.setattr("contracts.client.following.SILENCE_S", 3600.0)
    tail = Tail(3)
    following = await watching(stage, tail)
    line = following._client.line  # noqa: SLF001 - which connection it is, is nobody else's business
    assert stage.server.pid is not None
    os.kill(stage.server.pid, signal.SIGKILL)
    tail.n = 6
    assert await seen(following, 1) == [picture(6)]
    assert (line.reconnects, line.is_up) == (1, True)
    await connected(await stage.voice("views"))
    await stage.show(view(7))
    assert await seen(following, 1) == [view(7)]


async def test_after_the_connection_was_lost_no_long_silence_is_waited_for(stage: Stage) -> None:
    """In a cluster a view may be lost after the whole was answered: it may be one that says whose turn it is."""
    tail = Tail(3)
    following = await watching(stage, tail)
    following._silence_s = 3600.0  # noqa: SLF001 - so long nothing had happened
    looking = asyncio.create_task(seen(following, 1))
    assert stage.server.pid is not None
    os.kill(stage.server.pid, signal.SIGKILL)
    async with asyncio.timeout(IN_TIME_S):
        while tail.answers < 2:  # noqa: ASYNC110 - asked as soon as the connection is there
            await asyncio.sleep(0.01)
    tail.n = 6
    assert await looking == [picture(6)]


async def test_a_log_that_has_lost_commits_is_told_of(stage: Stage) -> None:
    """DESIGN 1: the chain proves what happened up to a head that someone else holds. A client holds one."""
    tail = Tail(5)
    following = await watching(stage, tail)
    tail.instead = replace(picture(5), head="f" * 64)
    following.look_again()
    assert await seen(following, 1) == [tail.instead]
    with pytest.raises(WentBack) as told:
        await seen(following, 1)
    assert (told.value.table, told.value.seen, told.value.found) == (TABLE, 5, 5)
    assert following.table == tail.instead


async def player(stage: Stage, n: int) -> Following:
    """A player who has begun to follow, and sees the table as it is after commit `n`."""
    await stage.shows(Tail(n))
    following = (await stage.client("player", ANN)).follow(ROOM, TABLE)
    assert await seen(following, 1) == [picture(n)]
    return following


async def test_own_cards_are_given_once_they_can_be_checked(stage: Stage) -> None:
    own = GAME.own[1, ANN]
    following = await player(stage, DEALT - 1)
    await stage.deal(ANN, own)
    await stage.show(view(DEALT), view(DEALT + 1))
    assert await seen(following, 3) == [view(DEALT), own, view(DEALT + 1)]
    await stage.deal(ANN, own)
    await stage.show(view(DEALT + 2))
    assert await seen(following, 1) == [view(DEALT + 2)]
    assert following.cards == own


async def test_own_cards_that_did_not_come_are_asked_for(stage: Stage) -> None:
    own = GAME.own[1, ANN]
    await stage.answering("dealer", "query.cards.*.*.player.*", lambda _: own)
    following = await player(stage, DEALT - 1)
    await stage.show(view(DEALT))
    assert await seen(following, 2) == [view(DEALT), own]


async def test_who_joins_in_the_midst_of_a_hand_asks_for_the_own_cards(stage: Stage) -> None:
    own = GAME.own[1, ANN]
    await stage.answering("dealer", "query.cards.*.*.player.*", lambda _: own)
    following = await player(stage, DEALT + 1)
    assert await seen(following, 1) == [own]


async def test_cards_of_somebody_else_are_not_given(stage: Stage) -> None:
    own = GAME.own[1, ANN]
    following = await player(stage, DEALT - 1)
    await stage.deal(
        ANN, GAME.own[1, "P2"], replace(own, table="T2"), replace(own, room="high"), b"junk", encode(view(DEALT)), own
    )
    await stage.show(view(DEALT))
    assert await seen(following, 2) == [view(DEALT), own]
    assert following.dropped == 5


def other(card: DealtCard) -> DealtCard:
    return replace(card, card="As" if card.card != "As" else "Kd")


def forged(own: OwnCards) -> OwnCards:
    assert own.cards is not None
    return replace(own, cards=replace(own.cards, cards=tuple(map(other, own.cards.cards))))


async def test_own_cards_that_were_not_published_are_told_and_not_given(stage: Stage) -> None:
    """R31: the dealer cannot give one card and show another."""
    following = await player(stage, DEALT - 1)
    await stage.deal(ANN, forged(GAME.own[1, ANN]))
    await stage.show(view(DEALT), view(DEALT + 1))
    assert await seen(following, 1) == [view(DEALT)]
    with pytest.raises(CardsDiffer, match="is not the card whose hash was published") as told:
        await seen(following, 1)
    assert (told.value.room, told.value.table, told.value.hand) == (ROOM, TABLE, 1)
    assert following.cards is None
    assert await seen(following, 1) == [view(DEALT + 1)]


async def test_cards_of_another_seat_are_told_though_they_were_published(stage: Stage) -> None:
    following = await player(stage, DEALT - 1)
    await stage.deal(ANN, replace(GAME.own[1, "P2"], player=ANN))
    await stage.show(view(DEALT))
    assert await seen(following, 1) == [view(DEALT)]
    with pytest.raises(CardsDiffer, match="cards of seat 2 are sent to the player of seat 1"):
        await seen(following, 1)


async def test_a_board_card_that_was_not_published_is_told_after_its_view(stage: Stage) -> None:
    flop = next(each for each in GAME.views if any(isinstance(event, BoardDealt) for event in each.events))
    following = await watching(stage, Tail(flop.n - 1))
    events = tuple(
        replace(event, cards=tuple(map(other, event.cards))) if isinstance(event, BoardDealt) else event
        for event in flop.events
    )
    await stage.show(replace(flop, events=events), view(flop.n + 1))
    assert numbers(await seen(following, 1)) == [("PublicView", flop.n)]
    with pytest.raises(CardsDiffer, match="is not the card whose hash was published"):
        await seen(following, 1)
    assert numbers(await seen(following, 1)) == [("PublicView", flop.n + 1)]


async def test_who_may_not_see_a_table_is_told_at_once(stage: Stage) -> None:
    """Somebody who calls a lobby a player, say: the server does not let it listen to a player's cards."""
    path = stage.server.directory / "credentials.json"
    async with await Client.of_file(path, "player", ANN, user="lobby") as client:
        with pytest.raises(Denied) as denied:
            await anext(client.follow(ROOM, TABLE))
    assert denied.value.subject == f"view.{ROOM}.{TABLE}.player.{ANN}"
