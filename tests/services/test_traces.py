"""A command's trace: from the client through every service that its commit sets to work, and as far as that goes."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final, Literal

import msgspec
import pytest
from nats.aio.msg import Msg

from contracts.codec import decode_commit, decode_outcome, encode
from contracts.commands import Act, OpenTable, SitOut, TakeSeat
from contracts.commit import Commit
from contracts.outcomes import Accepted
from contracts.queries import PublicTable
from contracts.subjects import command
from services.bus.connection import settle
from services.bus.settings import Settings
from services.bus.tracing import HEADER
from services.command_line.serve import room
from tests.services.collector import Collector, Taken, a_collector
from tests.services.console import Croupier
from tests.services.room import ANSWER_S, CONFIG, ROOM, Caller, Room

pytestmark = pytest.mark.server

TRACE: Final = "4bf92f3577b34da6a3ce929d0e0e4736"
OF_THE_CLIENT: Final = f"00-{TRACE}-00f067aa0ba902b7-01"
PROCESSES: Final = (("table", "replay"), ("dealer", "settlement"), ("rake", "cashier", "views"))
FACTS: Final = {
    *("room", "table", "ledger", "hand", "n", "fact", "seat", "command", "command_id", "sender", "outcome"),
}
"""All that a span may say: nothing of cards, keys, amounts, messages or players."""


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@asynccontextmanager
async def traced_room(folder: Path, url: str, *, nudges: bool = True) -> AsyncIterator[Room]:
    """A room of three processes, each with a fold of its own: what one knows of another came over the bus."""
    settings = Settings(data_path=folder, rooms=(ROOM,), otlp_url=url, nudges=nudges)
    async with AsyncExitStack() as stack:
        for services in PROCESSES:
            settings = await stack.enter_async_context(room(settings, services))
        async with AsyncExitStack() as callers:
            yield Room(settings, callers)


async def act(house: Room, lobby: Caller, players: Caller, action: Literal["call", "check", "fold"]) -> int:
    """Has the player whose turn it is act, in a trace that the client has begun; gives the n of the commit."""
    seen = await house.picture(lobby, "T1", lambda seen: seen.turn_number is not None)
    assert seen.turn is not None
    assert seen.turn_number is not None
    (player,) = [held.player for held in seen.seats if held.seat == seen.turn.seat]
    asked = Act(id=f"{action}-{seen.n}", hand=seen.hand, turn=seen.turn_number, action=action)
    subject = command(ROOM, "T1", "player", player)
    answer = await players.mailbox.ask(subject, encode(asked), ANSWER_S, {HEADER: OF_THE_CLIENT})
    outcome = decode_outcome(answer.data)
    assert isinstance(outcome, Accepted)
    return outcome.n


async def commits(house: Room, upto: int) -> list[Commit]:
    """The commits of the table, once there are so many."""
    async with asyncio.timeout(ANSWER_S):
        while True:
            found = [decode_commit(stored.data) for stored in await house.log("T1")]
            if len(found) >= upto:
                return found
            await asyncio.sleep(0.01)


def appends(collector: Collector, *wanted: Commit) -> Callable[[], list[Taken] | None]:
    def found() -> list[Taken] | None:
        taken = [span for each in wanted if (span := collector.append_of(each)) is not None]
        return taken if len(taken) == len(wanted) else None

    return found


def lineage(collector: Collector, span: Taken) -> list[str]:
    """What led to a span, beginning with the first."""
    above = collector.spans.get(span.parent)
    return [*(lineage(collector, above) if above is not None else []), span.said]


@pytest.mark.parametrize("nudges", [True, False], ids=["nudged", "swept"])
async def test_an_act_that_ends_the_betting_is_one_trace_through_every_service(tmp_path: Path, *, nudges: bool) -> None:
    """The issue's point 6; the same when no nudge arrives and each service finds its debt in a sweep."""
    async with a_collector() as collector, traced_room(tmp_path, collector.url, nudges=nudges) as house:
        lobby, players = await house.caller("lobby"), await house.caller("players", "player")
        await house.open(lobby, "T1", ("P1", "P2"))
        n = await act(house, lobby, players, "fold")
        caused = (await commits(house, n + 4))[n - 1 : n + 4]
        fold, rake, award, ended, started = await collector.until(appends(collector, *caused))
        way = [
            *("table command", "table append"),
            *("rake take_rake", "rake append"),
            *("settlement award_pots", "settlement append"),
            *("table end_hand", "table append"),
        ]
        assert lineage(collector, ended) == way
        assert [lineage(collector, span) for span in (fold, rake, award)] == [way[:2], way[:4], way[:6]]
        assert {span.trace for span in (fold, rake, award, ended)} == {TRACE}
        asked = collector.spans[fold.parent]
        assert asked.parent == "00f067aa0ba902b7"
        assert asked.facts == {
            "room": "main",
            "sender": "player",
            "table": "T1",
            "command": "act",
            "command_id": f"fold-{n - 1}",
            "outcome": "accepted",
            "n": n,
        }
        assert [each.said for each in collector.children(asked)] == ["table decide", "table append"]
        assert fold.facts == {
            "room": "main",
            "table": "T1",
            "n": n,
            "fact": "betting_closed",
            "hand": 1,
            "seat": getattr(caused[0].events[0], "seat"),  # noqa: B009 - whose turn it was
            "command_id": f"fold-{n - 1}",
            "outcome": "appended",
        }
        # The next hand was waited for: it begins a trace of its own, and says after which commit.
        assert lineage(collector, started) == ["table start_hand", "table append"]
        assert started.trace != TRACE
        assert collector.spans[started.parent].links == ((TRACE, ended.id),)


async def test_views_and_facts_carry_the_trace_and_the_log_is_the_same_without(tmp_path: Path) -> None:
    async with a_collector() as collector, traced_room(tmp_path, collector.url) as house:
        lobby, players = await house.caller("lobby"), await house.caller("players", "player")
        views = await seen_by(lobby)
        await house.open(lobby, "T1", ("P1", "P2"))
        await act(house, lobby, players, "call")
        n = await act(house, lobby, players, "check")
        deal = (await commits(house, n + 1))[n]
        (dealt,) = await collector.until(appends(collector, deal))
        assert lineage(collector, dealt) == ["table command", "table append", "dealer deal_board", "dealer append"]
        shown = await collector.until(lambda: next((s for s in collector.children(dealt) if s.name == "publish"), None))
        assert shown.service == "croupier-views"
        view = next(each for each in views if msgspec.json.decode(each.data)["n"] == n + 1)
        assert view.headers == {HEADER: f"00-{TRACE}-{shown.id}-01"}
        stored = (await house.log("T1"))[n]
        assert stored.trace == f"00-{TRACE}-{dealt.id}-01"
        assert stored.data == encode(deal)
        assert await house.faults("T1") == []
        said = {name for span in collector.spans.values() for name in span.facts}
        assert said <= FACTS


async def test_the_view_of_what_is_hidden_carries_no_trace(tmp_path: Path) -> None:
    """A client may use one trace for all that it does: by it the public could tell who asked to sit out."""
    async with a_collector() as collector, traced_room(tmp_path, collector.url) as house:
        lobby, players = await house.caller("lobby"), await house.caller("players", "player")
        views = await seen_by(lobby)
        await house.open(lobby, "T1", ("P1", "P2"))
        dealt = await house.picture(lobby, "T1", lambda seen: seen.turn_number is not None)
        assert dealt.turn is not None
        (waits,) = [held.player for held in dealt.seats if held.seat != dealt.turn.seat]
        asked = encode(SitOut(id="away", hand=dealt.hand))
        answer = await players.mailbox.ask(
            command(ROOM, "T1", "player", waits), asked, ANSWER_S, {HEADER: OF_THE_CLIENT}
        )
        hidden = decode_outcome(answer.data)
        assert isinstance(hidden, Accepted)
        n = await act(house, lobby, players, "call")
        await house.picture(lobby, "T1", lambda seen: seen.n >= n)
        told: dict[int, Msg] = {}
        async with asyncio.timeout(ANSWER_S):
            while n not in told:
                await asyncio.sleep(0.01)  # the views come by a way of their own
                told = {msgspec.json.decode(each.data)["n"]: each for each in views}
        assert msgspec.json.decode(told[hidden.n].data).get("events", []) == []
        assert told[hidden.n].headers is None
        assert HEADER in (told[n].headers or {})
        assert (await house.log("T1"))[hidden.n - 1].trace.startswith(f"00-{TRACE}-")


async def seen_by(caller: Caller) -> list[Msg]:
    """The public views of the table from now on."""
    views: list[Msg] = []

    async def see(message: Msg) -> None:
        views.append(message)

    await caller.client.subscribe("view.main.T1.public", cb=see)
    await settle(caller.client)
    return views


async def test_a_buy_in_is_one_trace_over_the_cashier_and_back(
    tmp_path: Path, croupier: Callable[[Settings], Croupier]
) -> None:
    async with a_collector() as collector, traced_room(tmp_path, collector.url) as house:
        run, lobby = croupier(house.settings), await house.caller("lobby")
        assert (await run("open-account", "ann", "--ledger", "real-USD")).code == 0
        assert (await run("deposit", "ann", 5000, "--reference", "d-1")).code == 0
        config = msgspec.structs.replace(CONFIG, bankroll="cashier")
        assert isinstance(await lobby.command("T1", "lobby", OpenTable(id="open", config=config)), Accepted)
        taken = await lobby.command("T1", "lobby", TakeSeat(id="seat", player="ann", buy_in=2_000))
        assert isinstance(taken, Accepted)
        await house.picture(lobby, "T1", _seated)
        *_, seated = await commits(house, taken.n + 1)
        (append,) = await collector.until(appends(collector, seated))
        assert append.facts["fact"] == "player_seated"
        assert lineage(collector, append) == [
            *("table command", "table append"),
            *("cashier post_entries", "cashier append"),
            *("table command", "table append"),
        ]
        posted = next(span for span in collector.of_trace(append.trace) if span.said == "cashier append")
        assert (posted.facts["ledger"], posted.facts["fact"]) == ("real-USD", "chips_bought")


def _seated(seen: PublicTable) -> bool:
    return bool(seen.seats)


async def test_a_refusal_is_told_by_its_code(tmp_path: Path) -> None:
    async with a_collector() as collector, traced_room(tmp_path, collector.url) as house:
        lobby = await house.caller("lobby")
        await house.open(lobby, "T1", ())
        for body in (encode(TakeSeat(id="seat", player="ann", buy_in=7)), b"{}"):
            await lobby.send("T1", "lobby", body)
        found = await collector.until(lambda: _outcomes(collector, 3))
        assert sorted(map(str, found)) == ["accepted", "buy_in_out_of_range", "malformed"]


def _outcomes(collector: Collector, count: int) -> list[str | int] | None:
    asked = [span.facts["outcome"] for span in collector.spans.values() if span.name == "command"]
    return asked if len(asked) == count else None


@pytest.mark.parametrize("mode", ["away", "slow", "refusing"])
async def test_a_collector_that_fails_harms_nobody(tmp_path: Path, mode: Literal["away", "slow", "refusing"]) -> None:
    """A hand is played and every service stops, whatever becomes of the spans."""
    async with a_collector("refusing" if mode == "away" else mode) as collector:
        url = "http://127.0.0.1:9" if mode == "away" else collector.url
        async with traced_room(tmp_path, url) as house:
            lobby, players = await house.caller("lobby"), await house.caller("players", "player")
            await house.open(lobby, "T1", ("P1", "P2"))
            n = await act(house, lobby, players, "fold")
            if mode != "away":
                await collector.until(lambda: collector.asked or None)
            await commits(house, n + 4)
            assert await house.faults("T1") == []
