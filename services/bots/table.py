"""A table full of bots: a lobby that opens it and seats them; each bot plays by itself."""

import asyncio
import secrets
from random import Random
from typing import Final

import msgspec
import structlog

from contracts.client import Client, Following, Seen
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
from contracts.data import Chips
from contracts.events.table import HandEnded, HandVoided
from contracts.games import TableConfig
from contracts.outcomes import Accepted, Outcome, Rejected
from contracts.queries import PublicTable
from contracts.subjects import ActorKind
from contracts.views import PublicView
from services.bots.bank import Bank
from services.bots.incidents import Incident, Moment, Script
from services.bots.people import People
from services.bots.player import Bot

logger: Final = structlog.get_logger(__name__)

LOOK_S: Final = 2.0
"""After so long without a view the lobby looks at the table all the same: chips may not have come."""
TOP_UP_S: Final = 2.0
"""So long a player without chips waits for those that were asked for; then more are asked for."""
LEAVES_ONE_IN: Final = 40
BROKE: Final = "broke"
"""Who has an account with nothing in it."""


class Plan(msgspec.Struct, frozen=True):
    """What bots do at a table: how many of them, how many hands, the seed of their choices, and what befalls them.

    `refuses`: before them somebody wants to sit down who cannot pay. A bot thinks for `think_s` before it acts.
    """

    room: str
    table: str
    config: TableConfig
    bots: int
    hands: int
    seed: int
    incidents: tuple[Incident, ...] = ()
    refuses: bool = False
    think_s: float = 0.0


class BotTable:
    """Plays one table to its end. `table` is what the lobby sees of it, `ended` and `voided` count hands.

    Where the table's chips are the cashier's, the players' accounts are with `bank`. An `operator` is needed for what
    befalls a table by an operator's hand.
    """

    def __init__(
        self,
        plan: Plan,
        lobby: Client,
        people: People,
        operator: Client | None = None,
        bank: Bank | None = None,
    ) -> None:
        self.plan = plan
        self.table: PublicTable | None = None
        self.ended = 0
        self.voided = 0
        self.slowest_s = 0.0
        self._bank = bank
        self._lobby = lobby
        self._people = people
        self._operator = operator
        self._bots: dict[str, asyncio.Task[None]] = {}
        self._script = Script(plan.incidents, plan.hands)
        self._one_at_a_time = asyncio.Lock()
        self._random = Random(f"{plan.seed}|{plan.table}")  # noqa: S311 - choices of bots, not cards
        self._run = secrets.token_hex(4)
        self._commands = 0
        self._newcomers = 0
        self._asked_n = 0
        self._topping_up: dict[str, float] = {}

    @property
    def hand(self) -> int:
        """The number of the last hand that was seen."""
        return self.table.hand if self.table is not None else 0

    @property
    def config(self) -> TableConfig:
        """How the table is played: as it is, or is to be opened."""
        return self.table.config if self.table is not None else self.plan.config

    @property
    def bank(self) -> Bank | None:
        """Who pays for chips; None where nobody has to."""
        return self._bank if self.config.bankroll == "cashier" else None

    async def play(self) -> None:
        """Opens the table, plays the plan's hands, and closes it. Raises what a client raises."""
        await self._ask(OpenTable(id=self._id(), config=self.plan.config))
        if self.plan.refuses:
            await self._refused()
        async with asyncio.TaskGroup() as bots, self._lobby.follow(self.plan.room, self.plan.table) as following:
            for _ in range(self.plan.bots):
                await self._seat(bots)
            while self.table is None or self.table.status != "closed":
                await self._look(following)
                if not following.waiting and self.table is not None:
                    await self._mind(following, self.table, bots)
            for bot in self._bots.values():
                bot.cancel()

    async def _look(self, following: Following) -> None:
        """Waits for news."""
        clock = asyncio.get_running_loop()
        began = clock.time()
        try:
            async with asyncio.timeout(LOOK_S):
                self._see(await anext(following))
        except TimeoutError:
            pass
        self.slowest_s = max(self.slowest_s, clock.time() - began)
        self.table = following.table

    def _see(self, seen: Seen) -> None:
        if isinstance(seen, PublicView):
            self.ended += sum(isinstance(event, HandEnded) for event in seen.events)
            self.voided += sum(isinstance(event, HandVoided) for event in seen.events)

    async def _mind(self, following: Following, table: PublicTable, bots: asyncio.TaskGroup) -> None:
        """Does what there is to do for a lobby, at a table as it is now."""
        if table.n < self._asked_n or table.status == "closed":  # all that was asked for is to be seen
            return
        asked: Outcome | None = None
        if table.status == "open" and table.hand >= self.plan.hands:
            asked = await self._ask(PauseTable(id=self._id(), hand=table.hand))
        elif table.status == "paused":
            if not table.in_hand:
                asked = await self._ask(CloseTable(id=self._id(), hand=table.hand))
        else:
            asked = await self._care(table)
            if not table.in_hand:
                await self._come_and_go(table, bots)
        if isinstance(asked, Rejected):
            following.look_again()

    async def _care(self, table: PublicTable) -> Outcome | None:
        """Buys for who has no chips, and brings back who sits out."""
        outcome = None
        for seat in sorted((seat for seat in table.seats if seat.sitting_out), key=lambda seat: seat.seat):
            if seat.stack == 0:
                await self._buy(seat.player)
            else:
                command = ReturnToPlay(id=self._id(), hand=table.hand, player=seat.player, choice="post")
                outcome = await self._ask(command)
        return outcome

    async def _come_and_go(self, table: PublicTable, bots: asyncio.TaskGroup) -> None:
        """Between hands: somebody leaves, or a free seat is taken."""
        players = sorted(seat.player for seat in table.seats)
        for gone in self._bots.keys() - {*players, *(kept.player for kept in table.reservations)}:
            self._bots.pop(gone).cancel()
        if players and self._random.randrange(LEAVES_ONE_IN) == 0:
            await self._ask(LeaveTable(id=self._id(), hand=table.hand, player=self._random.choice(players)))
        elif len(players) + len(table.reservations) < self.plan.bots:
            await self._seat(bots)

    async def _buy(self, player: str) -> None:
        """Asks for chips, once for as long as they may be on their way."""
        now = asyncio.get_running_loop().time()
        if now > self._topping_up.get(player, 0.0):
            await self._ask(TopUp(id=self._id(), hand=self.hand, player=player, amount=self._buy_in()))
            self._topping_up[player] = now + TOP_UP_S

    async def _seat(self, bots: asyncio.TaskGroup) -> None:
        """Seats a new bot, which then plays by itself."""
        name = self._newcomer()
        outcome = await self._take_seat(name, self._buy_in())
        if isinstance(outcome, Rejected) and outcome.code == "buy_in_out_of_range" and outcome.allowed.minimum:
            outcome = await self._take_seat(name, outcome.allowed.minimum)  # R10: no less than was taken away
        if isinstance(outcome, Accepted):
            await self._begin(name, bots)

    async def _take_seat(self, name: str, amount: Chips) -> Outcome:
        return await self._ask(TakeSeat(id=self._id(), hand=self.hand, player=name, buy_in=amount, choice="post"))

    def _newcomer(self) -> str:
        """Who sits down next."""
        self._newcomers += 1
        return f"bot{self._newcomers}"

    async def _begin(self, name: str, bots: asyncio.TaskGroup) -> None:
        """Has a bot play by itself."""
        random = Random(f"{self.plan.seed}|{self.plan.table}|{name}")  # noqa: S311 - choices, not cards
        client, where = await self._people.player(name), (self.plan.room, self.plan.table)
        bot = Bot(client, where, random, self._id, self._happens, self.plan.think_s)
        self._bots[name] = bots.create_task(bot.play(), name=f"{self.plan.table}-{name}")

    async def _refused(self) -> None:
        """Somebody wants to sit down with chips that nobody has paid for."""
        if self.bank is not None:
            await self.bank.open(BROKE)
        await self._send(self._lobby, TakeSeat(id=self._id(), player=BROKE, buy_in=self._buy_in()))

    def _buy_in(self) -> Chips:
        """Often short, sometimes deep."""
        buy_in = self.config.buy_in
        low, high = buy_in.minimum, buy_in.maximum or buy_in.minimum * 5
        return self._random.choice((low, self._random.randint(low, high), high))

    async def _ask(self, command: AnyCommand) -> Outcome:
        """Sends a command as the lobby; what buys chips of the cashier is paid for before."""
        if self.bank is not None and isinstance(command, TakeSeat):
            await self.bank.fund(command.player, command.buy_in)
        elif self.bank is not None and isinstance(command, TopUp):
            await self.bank.fund(command.player, command.amount)
        outcome = await self._send(self._lobby, command)
        if isinstance(outcome, Accepted):
            self._asked_n = max(self._asked_n, outcome.n)  # answers overtake each other
        return outcome

    async def _send(self, client: Client, command: AnyCommand) -> Outcome:
        outcome = await client.command(self.plan.room, self.plan.table, command)
        if isinstance(outcome, Rejected):
            where = {"room": self.plan.room, "table": self.plan.table, "command": command.id}
            kind, why = type(command).__name__, outcome.message
            logger.debug("refused", **where, kind=kind, code=outcome.code, message=why)
        return outcome

    async def _happens(self, moment: Moment) -> bool:
        """Lets happen what is due at a turn; tells whether its player still acts."""
        async with self._one_at_a_time:
            return await self._script.turn(moment, self._accepted)

    async def _accepted(self, kind: ActorKind, name: str, command: AnyCommand) -> bool:
        """Sends what befalls the table; one that nobody can send is not accepted."""
        if kind == "lobby":
            return isinstance(await self._ask(command), Accepted)
        client = await self._people.player(name) if kind == "player" else self._operator
        return client is not None and isinstance(await self._send(client, command), Accepted)

    def _id(self) -> str:
        self._commands += 1
        return f"{self._run}.{self._commands}"
