"""A table full of bots: a lobby that opens it and seats them, and players who act at their turns."""

import asyncio
from random import Random
from typing import Final

import msgspec
import structlog

from contracts.commands import (
    AnyCommand,
    CloseTable,
    LeaveTable,
    OpenTable,
    PauseTable,
    ReturnToPlay,
    TakeSeat,
    TopUp,
)
from contracts.games import TableConfig
from contracts.outcomes import Accepted, Outcome, Rejected
from contracts.views import PublicView
from services.bots.client import RoomClient
from services.bots.picture import Picture
from services.bots.strategy import TEMPERS, decide

logger: Final = structlog.get_logger(__name__)

SILENCE_S: Final = 2.0
"""After so long without a view the whole picture is asked for."""
LEAVES_ONE_IN: Final = 40


class Plan(msgspec.Struct, frozen=True):
    """What bots do at a table: how many of them, how many hands, and the seed of their choices."""

    room: str
    table: str
    config: TableConfig
    bots: int
    hands: int
    seed: int


class BotTable:
    """Plays one table to its end; `chips_in` and the picture's counts tell what went through it."""

    def __init__(self, plan: Plan, lobby: RoomClient, players: RoomClient) -> None:
        self.plan = plan
        self.picture = Picture()
        self.chips_in = 0
        self.slowest_s = 0.0
        self._lobby = lobby
        self._players = players
        self._random = Random(f"{plan.seed}|{plan.table}")  # noqa: S311 - choices of bots, not cards
        self._changed = asyncio.Event()
        self._acted = 0
        self._command = 0
        self._newcomers = 0

    def show(self, view: PublicView) -> None:
        """Takes a public view of the table."""
        self.picture.show(view)
        self._changed.set()

    async def play(self) -> None:
        """Opens the table, plays the plan's hands, and closes it. Raises `NoOutcome`."""
        await self._ask(OpenTable(id=self._id(), config=self.plan.config))
        for _ in range(self.plan.bots):
            await self._seat()
        pausing = False
        while not (pausing and not self.picture.playing):
            await self._look()
            if self.picture.hand >= self.plan.hands and not pausing:
                pausing = True
                await self._ask(PauseTable(id=self._id(), hand=self.picture.hand))
            await self._act()
            if not self.picture.playing and not pausing:
                await self._between_hands()
        while self.picture.players:
            await self._ask(CloseTable(id=self._id(), hand=self.picture.hand))
            await self._look()

    async def _look(self) -> None:
        """Waits for news; asks for the whole picture when a view was missed or none comes."""
        clock = asyncio.get_running_loop()
        began = clock.time()
        while not self._changed.is_set():
            try:
                await asyncio.wait_for(self._changed.wait(), SILENCE_S)
            except TimeoutError:
                await self._restart()
                break
        self.slowest_s = max(self.slowest_s, clock.time() - began)
        self._changed.clear()
        if self.picture.missed:
            await self._restart()

    async def _restart(self) -> None:
        table = await self._lobby.table(self.plan.room, self.plan.table, "lobby")
        if table is not None:
            self.picture.restart(table)

    async def _act(self) -> None:
        turn, number = self.picture.turn, self.picture.number
        if turn is None or number is None or number <= self._acted:
            return
        player = self.picture.players.get(turn.seat)
        if player is None:  # the view in which somebody sat down was missed
            self.picture.missed = True
            return
        temper = TEMPERS[turn.seat % len(TEMPERS)]
        act = decide(turn, number, self.picture.hand, temper, self._random, self._id())
        outcome = await self._players.command(self.plan.room, self.plan.table, player, act)
        self._complain(act, outcome)
        if isinstance(outcome, Rejected):  # the picture may be an old one: look again, or the turn runs out
            self.picture.missed = True
            self._changed.set()
        else:
            self._acted = number

    async def _between_hands(self) -> None:
        for seat, stack in list(self.picture.stacks.items()):
            player = self.picture.players[seat]
            if stack == 0:
                await self._buy(player)
            if seat in self.picture.sitting_out:
                await self._ask(ReturnToPlay(id=self._id(), hand=self.picture.hand, player=player, choice="post"))
        if self._random.randrange(LEAVES_ONE_IN) == 0:
            await self._change_a_player()

    async def _buy(self, player: str) -> None:
        amount = self._buy_in()
        outcome = await self._ask(TopUp(id=self._id(), hand=self.picture.hand, player=player, amount=amount))
        if isinstance(outcome, Accepted):
            self.chips_in += amount

    async def _change_a_player(self) -> None:
        player = self._random.choice(sorted(self.picture.players.values()))
        await self._ask(LeaveTable(id=self._id(), hand=self.picture.hand, player=player))
        await self._seat()

    async def _seat(self) -> None:
        self._newcomers += 1
        name, amount = f"bot{self._newcomers}", self._buy_in()
        command = TakeSeat(id=self._id(), hand=self.picture.hand, player=name, buy_in=amount, choice="post")
        if isinstance(await self._ask(command), Accepted):
            self.chips_in += amount

    def _buy_in(self) -> int:
        """Often short, sometimes deep."""
        buy_in = self.plan.config.buy_in
        low, high = buy_in.minimum, buy_in.maximum or buy_in.minimum * 5
        return self._random.choice((low, self._random.randint(low, high), high))

    async def _ask(self, command: AnyCommand) -> Outcome:
        outcome = await self._lobby.command(self.plan.room, self.plan.table, "lobby", command)
        self._complain(command, outcome)
        return outcome

    def _complain(self, command: AnyCommand, outcome: Outcome) -> None:
        if isinstance(outcome, Rejected):
            kind, why = type(command).__name__, outcome.message
            logger.debug("refused", table=self.plan.table, command=kind, code=outcome.code, message=why)

    def _id(self) -> str:
        self._command += 1
        return f"{self.plan.table}.{self._command}"
