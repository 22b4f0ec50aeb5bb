"""DESIGN 3: whoever only listens sees every commit, and gets the own cards, while those who show them are killed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Final

import pytest
from nats.aio.msg import Msg

from contracts.client.sight import Sight
from contracts.codec import decode
from contracts.data import Id
from contracts.events.dealer import HoleCardsDealt
from contracts.events.table import HandEnded
from contracts.queries import OwnCards, PublicTable
from contracts.subjects import player_views, public_views
from contracts.views import PublicView
from services.bus import reader
from services.bus.aggregates import TABLES
from services.bus.connection import Line, connect, settle
from services.bus.credentials import Credentials
from services.bus.reading import Reading
from services.bus.settings import Settings
from services.command_line.proof import replay_log
from services.views.public import public_table
from tests.processes.fleet import Fleet
from tests.processes.playing import ROOM, TURN_S, a_server, measured, plans, play, played_and_sound, proofs

pytestmark = [pytest.mark.server, pytest.mark.slow, pytest.mark.xdist_group("processes")]

NOTICED_S: Final = 2.0
"""Cards of a hand that is over sooner may not be shown any more: the other dealer waits to hear of them, and those of
the next hand take their place."""


class Listener:
    """Listens to a room, and never asks: each table as it was seen, and whose cards came and were due when."""

    def __init__(self) -> None:
        self.sights: dict[Id, Sight] = {}
        self.came: dict[tuple[Id, int, Id], float] = {}
        self.due: dict[tuple[Id, int, Id], float] = {}
        self.over: dict[tuple[Id, int], float] = {}
        self.views = self.early = self.again = 0
        self.latest_s = 0.0
        self.changed = asyncio.Event()

    async def view(self, message: Msg) -> None:
        """Takes a public view; `early` ones come before their predecessor, and others came before."""
        view = decode(message.data, PublicView)
        sight = self.sights.setdefault(view.table, Sight())
        self.views += 1
        self.again += view.n <= sight.n
        self.early += view.previous > sight.n
        sight.take(view)
        self.changed.set()
        while (next_one := sight.follow()) is not None:
            assert sight.table is not None
            self.latest_s = max(self.latest_s, (datetime.now(UTC) - next_one.at).total_seconds())
            for event in next_one.events:
                match event:
                    case HoleCardsDealt():
                        self._dealt(sight.table, event)
                    case HandEnded():
                        self.over[view.table, next_one.hand] = asyncio.get_running_loop().time()

    def _dealt(self, seen: PublicTable, event: HoleCardsDealt) -> None:
        for seat in seen.seats:
            if seat.seat in event.seats:
                self.due[seen.table, seen.hand, seat.player] = asyncio.get_running_loop().time()

    async def cards(self, message: Msg) -> None:
        """Takes a player's own cards."""
        cards = decode(message.data, OwnCards)
        assert cards.cards is not None
        self.came.setdefault((cards.table, cards.hand, cards.player), asyncio.get_running_loop().time())

    def longest_s(self) -> float:
        """How long a player waited for cards whose deal was seen; those that came first did not wait."""
        return max(self.came[key] - due_s for key, due_s in self.due.items() if key in self.came)

    def missed(self) -> dict[tuple[Id, int, Id], float]:
        """Whose cards never came, and how long the hand lasted for which they were."""
        return {key: self.over[key[:2]] - due_s for key, due_s in self.due.items() if key not in self.came}


@asynccontextmanager
async def a_listener(settings: Settings) -> AsyncIterator[Listener]:
    """Listens to everything that people may see."""
    listener, line = Listener(), Line("players")
    client = await connect(settings, Credentials.read(settings.credentials_file), line)
    await client.subscribe(public_views(ROOM), cb=listener.view)
    await client.subscribe(player_views(ROOM), cb=listener.cards)
    await settle(client)
    yield listener
    line.ending = True
    await client.close()


async def in_the_log(settings: Settings, table: Id) -> PublicTable | None:
    """The picture of a table that its whole log gives."""
    async with replay_log(settings) as log:
        start = await reader.from_the_beginning(TABLES, log, ROOM, table)
        reading = Reading(TABLES, start.state)
        async for commit, data in reader.commits(log, start):
            reading.fold(commit, data)
    return public_table(reading.state)


@pytest.mark.timeout(180)
async def test_who_listens_misses_nothing_while_views_and_dealers_are_killed(tmp_path: Path) -> None:
    """Killed between being picked and showing a commit, or between dealing cards and sending them, among all else."""
    wanted = plans(tables=4, hands=30, bots=4)
    crews = [("table", "rake", "settlement"), ("views",), ("views",), ("dealer",), ("dealer",)]
    async with a_server(tmp_path) as settings, Fleet(settings, crews) as fleet, a_listener(settings) as listener:
        async with fleet.under_fire(every_s=0.3, random=Random(11)):
            await play(settings, wanted)
        found = await proofs(settings, [plan.table for plan in wanted])
        pictures = {plan.table: await in_the_log(settings, plan.table) for plan in wanted}
        async with asyncio.timeout(TURN_S):
            while {table: sight.table for table, sight in listener.sights.items()} != pictures:
                listener.changed.clear()
                await listener.changed.wait()
        missed = listener.missed()
        measured(
            f"{len(fleet.kills)} kills, {listener.views} views, {listener.again} again, {listener.early} early, "
            f"the latest after {listener.latest_s:.2f} s, the latest cards {listener.longest_s():.2f} s after "
            f"the deal was seen, {len(missed)} of {len(listener.due)} hands of cards not at all",
        )
        played_and_sound(found, wanted)
        assert fleet.kills
        assert listener.came.keys() <= listener.due.keys()
        assert len(missed) <= len(listener.due) / 10
        assert all(lasted_s < NOTICED_S for lasted_s in missed.values()), missed
        assert max(listener.latest_s, listener.longest_s()) < TURN_S
