"""Players and the lobby that seats them: legal play by chance, with now and then a mistake, a pause or a farewell."""

import asyncio
from random import Random
from typing import Final

from contracts.commands import (
    Act,
    Connected,
    Disconnected,
    JoinWaitingList,
    LeaveTable,
    LeaveWaitingList,
    ReleaseSeat,
    ReserveSeat,
    ReturnToPlay,
    SitOut,
    TakeSeat,
    TopUp,
)
from contracts.events.state import SeatRecord, Turn
from services.aggregate.debts import free_seats
from services.aggregate.table import Table
from tests.simulation.judge import Judge
from tests.simulation.network import Network

THINK_S: Final = 0.4
MISTAKES: Final = 0.06
DREAMS: Final = 0.05
DROPS: Final = 0.01
"""How often a look at the table ends with a lost connection."""
REMEMBERS: Final = 0.7
"""How often one who comes back brings as much as one left with, which a table asks for some time and then refuses."""
GONE_S_MAX: Final = 6.0


class Player:
    """Somebody who looks at the public table now and then, and acts on what was seen."""

    def __init__(self, name: str, table: str, network: Network, judge: Judge, random: Random) -> None:
        self.name = name
        self.table = table
        self.silent = False
        self.leaving = False
        self._network = network
        self._judge = judge
        self._random = random

    async def play(self) -> None:
        """Plays for ever."""
        while True:
            await asyncio.sleep(self._random.uniform(0, THINK_S))
            if not self.silent:
                await self._look(self._judge.table(self.table))
            if not self.silent and self._random.random() < DROPS:
                await self._drop()

    async def _look(self, table: Table) -> None:
        if table.config is None:
            return
        record, random = table.seat_of(self.name), self._random
        if record is None:
            await self._come(table)
        elif table.hand is not None and (turn := table.hand.open_turn) is not None and turn.seat == record.seat:
            await self._act(table, turn)
        elif random.random() < 0.02:
            await self._whim(table, record)
        elif record.stack == 0 and (table.hand is None or record.seat not in table.hand.players):
            await self._top_up(table, table.config.buy_in.minimum * 2)
        elif record.sitting_out and random.random() < 0.3:
            back = ReturnToPlay(id=self._network.new_id(), hand=table.hands, choice=random.choice(("wait", "post")))
            await self._network.ask(self.table, "player", self.name, back)

    async def _drop(self) -> None:
        """Loses the connection for a while, or for good: the lobby sees it."""
        table = self._judge.table(self.table)
        if table.seat_of(self.name) is None:
            return
        gone = Disconnected(id=self._network.new_id(), hand=table.hands, player=self.name)
        await self._network.ask(self.table, "lobby", "lobby", gone)
        await asyncio.sleep(self._random.uniform(0, GONE_S_MAX))
        if not self.silent:
            hand = self._judge.table(self.table).hands
            back = Connected(id=self._network.new_id(), hand=hand, player=self.name)
            await self._network.ask(self.table, "lobby", "lobby", back)

    async def _come(self, table: Table) -> None:
        """Sits down, has a seat kept first, or waits for one: whatever there is for who comes."""
        chance, new_id, hand = self._random.random(), self._network.new_id, table.hands
        kept = any(kept.player == self.name for kept in table.reservations.values())
        if kept and chance < 0.2:
            give_up = ReleaseSeat(id=new_id(), hand=hand)
            await self._network.ask(self.table, "player", self.name, give_up)
        elif kept and chance < 0.6:
            await self._sit_down(table, anywhere=True)
        elif kept:
            return  # thinks about it, maybe for too long
        elif self.name in table.waiting:
            if chance < 0.05:
                leave = LeaveWaitingList(id=new_id(), hand=hand)
                await self._network.ask(self.table, "player", self.name, leave)
        elif not free_seats(table) and chance < 0.5:
            join = JoinWaitingList(id=new_id(), hand=hand, player=self.name)
            await self._network.ask(self.table, "lobby", "lobby", join)
        elif free_seats(table) and chance < 0.2:
            reserve = ReserveSeat(id=new_id(), hand=hand, player=self.name)
            await self._network.ask(self.table, "lobby", "lobby", reserve)
        elif free_seats(table) or chance > 0.95:
            await self._sit_down(table)

    async def _sit_down(self, table: Table, *, anywhere: bool = False) -> None:
        assert table.config is not None
        random, bounds = self._random, table.config.buy_in
        buy_in = random.randint(bounds.minimum, bounds.maximum or bounds.minimum)
        left = [each.stack for each in table.departures if each.player == self.name]
        take = TakeSeat(
            id=self._network.new_id(),
            hand=table.hands,
            player=self.name,
            buy_in=max([buy_in, *left[-1:]]) if random.random() < REMEMBERS else buy_in,
            seat=None if anywhere else random.choice((None, random.randint(1, table.config.seats))),
            choice=random.choice(("wait", "post", "post")),
        )
        await self._network.ask(self.table, "lobby", "lobby", take)

    async def _top_up(self, table: Table, amount: int) -> None:
        command = TopUp(id=self._network.new_id(), hand=table.hands, player=self.name, amount=amount)
        await self._network.ask(self.table, "lobby", "lobby", command)

    async def _whim(self, table: Table, record: SeatRecord) -> None:
        whim = self._random.choice(("sit_out", "top_up", "top_up", "leave"))
        if whim == "top_up":
            await self._top_up(table, self._random.randint(0, 500))
        elif whim == "leave":
            leave = LeaveTable(id=self._network.new_id(), hand=table.hands)
            await self._network.ask(self.table, "player", self.name, leave)
        elif not record.sitting_out:
            sit_out = SitOut(id=self._network.new_id(), hand=table.hands)
            await self._network.ask(self.table, "player", self.name, sit_out)

    async def _act(self, table: Table, turn: Turn) -> None:
        random = self._random
        assert table.hand is not None
        assert table.hand.turn_number is not None
        number, hand = table.hand.turn_number, table.hands
        await asyncio.sleep(random.uniform(0, 0.05))  # what was seen may be history
        if random.random() < DREAMS:
            await asyncio.sleep(turn.act_ms / 1000 * random.uniform(0.9, 1.1))
        act = self._mistake(turn, number, hand) if random.random() < MISTAKES else self._legal(turn, number, hand)
        await self._network.ask(self.table, "player", self.name, act)

    def _legal(self, turn: Turn, number: int, hand: int) -> Act:
        random, new_id = self._random, self._network.new_id()
        options: list[Act] = []
        if turn.check:
            options += [Act(id=new_id, hand=hand, turn=number, action="check")] * 6
        if turn.call is not None:
            options += [Act(id=new_id, hand=hand, turn=number, action="call")] * 8
            options.append(Act(id=new_id, hand=hand, turn=number, action="fold"))
        if turn.wager is not None and turn.minimum is not None and turn.maximum is not None:
            to = random.choice((turn.minimum, random.randint(turn.minimum, turn.maximum)))
            options += [Act(id=new_id, hand=hand, turn=number, action=turn.wager, to=to)] * 2
            options.append(Act(id=new_id, hand=hand, turn=number, action="all_in"))
        return random.choice(options)

    def _mistake(self, turn: Turn, number: int, hand: int) -> Act:
        new_id = self._network.new_id()
        return self._random.choice(
            (
                Act(id=new_id, hand=hand, turn=max(0, number - 1), action="fold"),
                Act(id=new_id, hand=hand, turn=number + 1, action="fold"),
                Act(id=new_id, hand=hand, turn=number, action="raise", to=(turn.maximum or 10**6) + 1),
                Act(id=new_id, hand=hand, turn=number, action="bet", to=1),
                Act(id=new_id, hand=hand, turn=number, action="check" if not turn.check else "call"),
            )
        )
