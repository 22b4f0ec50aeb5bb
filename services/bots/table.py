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
from contracts.subjects import ActorKind
from contracts.views import PublicView
from services.bots.bank import Bank
from services.bots.client import RoomClient
from services.bots.incidents import Incident, Moment, Script
from services.bots.picture import Picture
from services.bots.strategy import TEMPERS, decide

logger: Final = structlog.get_logger(__name__)

SILENCE_S: Final = 2.0
"""After so long without a view the whole picture is asked for."""
TOP_UP_S: Final = 2.0
"""So long a player without chips waits for those that were asked for; then more are asked for."""
LEAVES_ONE_IN: Final = 40
BROKE: Final = "broke"
"""Who has an account with nothing in it."""


class Plan(msgspec.Struct, frozen=True):
    """What bots do at a table: how many of them, how many hands, the seed of their choices, and what befalls them.

    `refuses`: before them somebody wants to sit down who cannot pay.
    """

    room: str
    table: str
    config: TableConfig
    bots: int
    hands: int
    seed: int
    incidents: tuple[Incident, ...] = ()
    refuses: bool = False


class BotTable:
    """Plays one table to its end; the picture's counts tell what went through it.

    Where the table's chips are the cashier's, the players' accounts are with `bank`. An `operator` is needed for what
    befalls a table by an operator's hand.
    """

    def __init__(
        self,
        plan: Plan,
        lobby: RoomClient,
        players: RoomClient,
        operator: RoomClient | None = None,
        bank: Bank | None = None,
    ) -> None:
        self.plan = plan
        self.picture = Picture()
        self.slowest_s = 0.0
        self._senders = {client.kind: client for client in (lobby, players, operator) if client is not None}
        self.bank = bank if plan.config.bankroll == "cashier" else None
        self._script = Script(plan.incidents, plan.hands)
        self._random = Random(f"{plan.seed}|{plan.table}")  # noqa: S311 - choices of bots, not cards
        self._changed = asyncio.Event()
        self._acted = 0
        self._command = 0
        self._newcomers = 0
        self._asked_n = 0
        self._topping_up: dict[str, float] = {}

    def show(self, view: PublicView) -> None:
        """Takes a public view of the table."""
        self.picture.show(view)
        self._changed.set()

    async def play(self) -> None:
        """Opens the table, plays the plan's hands, and closes it. Raises `NoOutcome`."""
        await self._ask(OpenTable(id=self._id(), config=self.plan.config))
        if self.plan.refuses:
            await self._refused()
        for _ in range(self.plan.bots):
            await self._seat()
        pausing = False
        while not (pausing and not self.picture.playing):
            await self._look()
            if self.picture.hand >= self.plan.hands and not pausing:
                pausing = True
                await self._ask(PauseTable(id=self._id(), hand=self.picture.hand))
            await self._act()
            if not pausing and self.picture.n >= self._asked_n:  # all that was asked for is to be seen
                await self._care()
                if not self.picture.playing:
                    await self._come_and_go()
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
        table = await self._senders["lobby"].table(self.plan.room, self.plan.table, "lobby")
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
        moment = Moment(self.picture.hand, player, self.plan.config.buy_in.minimum, self._id)
        if not await self._script.turn(moment, self._accepted):
            self._acted = number
            return
        temper = TEMPERS[turn.seat % len(TEMPERS)]
        act = decide(turn, number, self.picture.hand, temper, self._random, self._id())
        outcome = await self._send("player", player, act)
        if isinstance(outcome, Rejected):  # the picture may be an old one: look again, or the turn runs out
            self.picture.missed = True
            self._changed.set()
        else:
            self._acted = number

    async def _care(self) -> None:
        """Buys for who has no chips, and brings back who sits out."""
        picture = self.picture
        out = [(picture.players[seat], picture.stacks[seat]) for seat in sorted(picture.sitting_out)]
        for player, stack in out:
            if stack == 0:
                await self._buy(player)
            else:
                await self._ask(ReturnToPlay(id=self._id(), hand=self.picture.hand, player=player, choice="post"))

    async def _come_and_go(self) -> None:
        """Between hands: somebody leaves, or a free seat is taken."""
        if self._random.randrange(LEAVES_ONE_IN) == 0:
            player = self._random.choice(sorted(self.picture.players.values()))
            await self._ask(LeaveTable(id=self._id(), hand=self.picture.hand, player=player))
        elif len(self.picture.players) + len(self.picture.reserved) < self.plan.bots:
            await self._seat()

    async def _buy(self, player: str) -> None:
        """Asks for chips, once for as long as they may be on their way."""
        now = asyncio.get_running_loop().time()
        if now > self._topping_up.get(player, 0.0):
            command = TopUp(id=self._id(), hand=self.picture.hand, player=player, amount=self._buy_in())
            await self._ask(command)
            self._topping_up[player] = now + TOP_UP_S

    async def _seat(self) -> None:
        self._newcomers += 1
        name, amount = f"bot{self._newcomers}", self._buy_in()
        await self._ask(TakeSeat(id=self._id(), hand=self.picture.hand, player=name, buy_in=amount, choice="post"))

    async def _refused(self) -> None:
        """Somebody wants to sit down with chips that nobody has paid for."""
        if self.bank is not None:
            await self.bank.open(BROKE)
        await self._send("lobby", "lobby", TakeSeat(id=self._id(), player=BROKE, buy_in=self._buy_in()))

    def _buy_in(self) -> int:
        """Often short, sometimes deep."""
        buy_in = self.plan.config.buy_in
        low, high = buy_in.minimum, buy_in.maximum or buy_in.minimum * 5
        return self._random.choice((low, self._random.randint(low, high), high))

    async def _ask(self, command: AnyCommand) -> Outcome:
        """Sends a command as the lobby; what buys chips of the cashier is paid for before."""
        if self.bank is not None and isinstance(command, TakeSeat):
            await self.bank.fund(command.player, command.buy_in)
        elif self.bank is not None and isinstance(command, TopUp):
            await self.bank.fund(command.player, command.amount)
        outcome = await self._send("lobby", "lobby", command)
        if isinstance(outcome, Accepted):
            self._asked_n = outcome.n
        return outcome

    async def _send(self, kind: ActorKind, name: str, command: AnyCommand) -> Outcome:
        outcome = await self._senders[kind].command(self.plan.room, self.plan.table, name, command)
        self._complain(command, outcome)
        return outcome

    async def _accepted(self, kind: ActorKind, name: str, command: AnyCommand) -> bool:
        """Sends what befalls the table; one that nobody can send is not accepted."""
        if kind == "lobby":
            return isinstance(await self._ask(command), Accepted)
        return kind in self._senders and isinstance(await self._send(kind, name, command), Accepted)

    def _complain(self, command: AnyCommand, outcome: Outcome) -> None:
        if isinstance(outcome, Rejected):
            where = {"room": self.plan.room, "table": self.plan.table, "command": command.id}
            kind, why = type(command).__name__, outcome.message
            logger.debug("refused", **where, kind=kind, code=outcome.code, message=why)

    def _id(self) -> str:
        self._command += 1
        return f"{self.plan.table}.{self._command}"
