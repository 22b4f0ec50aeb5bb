"""Players and the lobby that seats them: legal play by chance, with now and then a mistake, a pause or a farewell."""

import asyncio
from random import Random
from typing import Final

from contracts.commands import Act, LeaveTable, ReturnToPlay, SitOut, TakeSeat, TopUp
from contracts.events.state import SeatRecord, Turn
from services.aggregate.table import Table
from tests.simulation.judge import Judge
from tests.simulation.network import Network

THINK_S: Final = 0.4
MISTAKES: Final = 0.06
DREAMS: Final = 0.05


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

    async def _look(self, table: Table) -> None:
        if table.config is None:
            return
        record, random = table.seat_of(self.name), self._random
        if record is None:
            await self._sit_down(table)
        elif table.hand is not None and (turn := table.hand.open_turn) is not None and turn.seat == record.seat:
            await self._act(table, turn)
        elif random.random() < 0.02:
            await self._whim(table, record)
        elif record.stack == 0 and (table.hand is None or record.seat not in table.hand.players):
            await self._top_up(table, table.config.buy_in.minimum * 2)
        elif record.sitting_out and random.random() < 0.3:
            back = ReturnToPlay(id=self._network.new_id(), hand=table.hands, choice=random.choice(("wait", "post")))
            await self._network.ask(self.table, "player", self.name, back)

    async def _sit_down(self, table: Table) -> None:
        assert table.config is not None
        random, bounds = self._random, table.config.buy_in
        buy_in = random.randint(bounds.minimum, bounds.maximum or bounds.minimum)
        left = [each.stack for each in table.departures if each.player == self.name]
        take = TakeSeat(
            id=self._network.new_id(),
            hand=table.hands,
            player=self.name,
            buy_in=max([buy_in, *left[-1:]]),
            seat=random.choice((None, random.randint(1, table.config.seats))),
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
