"""Bots that cost little: one decode a fact into what they need, one task that sends, no waiting task a command.

They see the facts as the replay service does, so that four services can be measured without the views.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from random import Random
from typing import Any, Final, Self

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts import subjects
from contracts.account_commands import AnyAccountCommand
from contracts.codec import encode
from contracts.commands import AnyCommand, OpenTable, ReturnToPlay, TakeSeat, TopUp
from contracts.events.state import Turn
from contracts.ledger import HOUSE
from services.bots.games import GAMES, SEATS, config_of, stakes_of
from services.bus.connection import settle
from services.bus.settings import Settings
from services.bus.subscribed import Subscribed
from services.rake.schedules import party
from tests.bench.choices import STACKS, choose
from tests.bench.written import connected

ROOM: Final = "main"
PLAYED: Final = ("nlhe", "plo", "plo8", "lo8")
AGAIN_S: Final = 0.5
"""A command without an answer is sent again after this long, the same bytes."""
WAITING_MAX: Final = 500
"""So many commands of one connection are unanswered when tables are opened."""

_OPENS: Final = frozenset({"hole_cards_dealt", "board_dealt"})


class Seen(msgspec.Struct):
    """Of an event, what a bot minds: `turn` names a turn, `reason` why a player sits out."""

    type: str
    turn: Turn | None = None
    seat: int = 0
    reason: str = ""


class Fact(msgspec.Struct):
    """Of a commit, what a bot minds."""

    n: int
    hand: int
    events: list[Seen]


class Sent(msgspec.Struct):
    """A command on its way: when it was first sent, and when last."""

    subject: str
    body: bytes
    first: float
    last: float


class Table:
    """A table as its bots see it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.turn: Turn | None = None
        self.commands = 0

    def player(self, seat: int) -> str:
        """Who sits there, from the beginning to the end."""
        return f"{self.name}-p{seat}"

    def named(self, event: str) -> str:
        """A new id for a command."""
        self.commands += 1
        return f"{event}.{self.commands}"


class Asker:
    """One user's connection: sends commands, and notes how long each took to be answered."""

    def __init__(self, client: Client) -> None:
        self.answered_s: list[float] = []
        self.refused = self.repeated = 0
        self._client = client
        self._inbox = client.new_inbox()
        self._number = 0
        self._waiting: dict[str, Sent] = {}
        self._queue: deque[tuple[str, Sent]] = deque()
        self._sending: asyncio.Task[None] | None = None
        self._room = asyncio.Event()

    @classmethod
    async def on(cls, client: Client) -> Self:
        """Asks on an open connection."""
        asker = cls(client)
        await Subscribed.to(client, f"{asker._inbox}.*", asker._take)
        await settle(client)
        return asker

    def ask(self, table: str, kind: subjects.ActorKind, name: str, command: AnyCommand) -> None:
        """Sends a command soon."""
        self._ask(subjects.command(ROOM, table, kind, name), encode(command))

    def ask_cashier(self, ledger: str, name: str, command: AnyAccountCommand) -> None:
        """Sends an account command of a lobby soon."""
        self._ask(subjects.command(HOUSE, ledger, "lobby", name, subjects.LEDGERS), encode(command))

    def _ask(self, subject: str, body: bytes) -> None:
        now = asyncio.get_running_loop().time()
        self._number += 1
        self._send(str(self._number), Sent(subject, body, now, now))

    async def room(self) -> None:
        """Returns when not too many commands are unanswered: those that wait too long are sent again, all of them."""
        if len(self._waiting) >= WAITING_MAX:
            self._room.clear()
            await self._room.wait()

    def again(self) -> None:
        """Sends what was not answered once more."""
        now = asyncio.get_running_loop().time()
        for token, sent in list(self._waiting.items()):
            if now - sent.last > AGAIN_S:
                self.repeated += 1
                sent.last = now
                self._send(token, sent)

    def _send(self, token: str, sent: Sent) -> None:
        self._waiting[token] = sent
        self._queue.append((token, sent))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.get_running_loop().create_task(self._publish())

    async def _publish(self) -> None:
        while self._queue:
            token, sent = self._queue.popleft()
            await self._client.publish(sent.subject, sent.body, f"{self._inbox}.{token}")

    def _take(self, message: Msg) -> None:
        token = message.subject.rpartition(".")[2]
        if message.data.startswith(b'{"type":"rejected"'):
            self.refused += 1
            if b'"code":"busy"' in message.data:
                return  # it is sent again
        sent = self._waiting.pop(token, None)
        if len(self._waiting) < WAITING_MAX:
            self._room.set()
        if sent is not None and message.data:
            self.answered_s.append(asyncio.get_running_loop().time() - sent.first)


class Bots:
    """Plays some tables for as long as it is open, thinking for `think_s` on average before each decision.

    `commits`, `bytes` and `hands` count what was seen, `dealt` the tables that were dealt a first hand.
    """

    def __init__(self, settings: Settings, tables: int, think_s: float = 0.0) -> None:
        self.commits = self.bytes = self.hands = self.dealt = 0
        self._think_s = think_s
        self.players: Asker | None = None
        self._settings = settings
        self._tables = {f"T{number}": Table(f"T{number}") for number in range(tables)}
        self._facts = msgspec.json.Decoder(Fact)
        self._random = Random(1)
        self._first = asyncio.Event()
        self._all = asyncio.Event()
        self._lobby: Asker | None = None
        self._open = AsyncExitStack()
        self._repeating: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        """Opens the tables and seats the bots."""
        players, lobby, watching = [
            await self._open.enter_async_context(connected(self._settings, user))
            for user in ("players", "lobby", "replay")
        ]
        self.players, self._lobby = await Asker.on(players), (lobby_asker := await Asker.on(lobby))
        await Subscribed.to(watching, subjects.fact_pattern(ROOM), self._see)
        await settle(watching)
        self._repeating = asyncio.create_task(self._repeat())
        for number, table in enumerate(self._tables.values()):
            game = PLAYED[number % len(PLAYED)]
            await lobby_asker.room()
            config = config_of(game, party(GAMES[game][1], stakes_of(game)))
            self._ask(table, OpenTable(id=table.named("open"), config=config))
            for seat in range(1, SEATS + 1):
                self._ask(
                    table,
                    TakeSeat(
                        id=table.named("seat"),
                        player=table.player(seat),
                        buy_in=STACKS[0][0],
                        seat=seat,
                        choice="post",
                        hand=0,
                    ),
                )
        return self

    async def __aexit__(self, *_: object) -> None:
        """Stops playing: the tables stay as they are."""
        if self._repeating is not None:
            self._repeating.cancel()
            self._repeating = None
        await self._open.aclose()

    async def first_deal(self) -> None:
        """Returns once cards were dealt somewhere."""
        await self._first.wait()

    async def all_dealt(self) -> None:
        """Returns once cards were dealt everywhere."""
        await self._all.wait()

    @property
    def asker(self) -> Asker:
        """The players' connection."""
        assert self.players is not None
        return self.players

    async def _repeat(self) -> None:
        while True:
            await asyncio.sleep(AGAIN_S / 2)
            for asker in (self.players, self._lobby):
                if asker is not None:
                    asker.again()

    def _ask(self, table: Table, command: AnyCommand) -> None:
        assert self._lobby is not None
        self._lobby.ask(table.name, "lobby", "lobby", command)

    def _see(self, message: Msg) -> None:
        *_, name, _, kind = message.subject.split(".")
        table, fact = self._tables[name], self._facts.decode(message.data)
        self.commits += 1
        self.bytes += len(message.data)
        for event in fact.events:
            self._mind(table, fact, event)
        if kind == "action_taken" or kind in _OPENS:
            self._act(table, fact)

    def _mind(self, table: Table, fact: Fact, event: Seen) -> None:
        match event.type:
            case "hand_started" | "action_taken" | "street_closed":
                table.turn = event.turn
            case "betting_closed":
                table.turn = None
            case "hole_cards_dealt":
                self._first.set()
                self.dealt += fact.hand == 1
                if self.dealt == len(self._tables):
                    self._all.set()
            case "hand_ended":
                self.hands += 1
            case "player_sat_out":
                self._bring_back(table, fact, event.seat)
            case _:
                pass

    def _bring_back(self, table: Table, fact: Fact, seat: int) -> None:
        player = table.player(seat)
        self._ask(table, TopUp(id=table.named("top"), hand=fact.hand, player=player, amount=STACKS[0][0]))
        back = ReturnToPlay(id=table.named("back"), hand=fact.hand, player=player, choice="post")
        self._ask(table, back)

    def _decided(self, ask: Callable[[], None]) -> None:
        """Says what was thought of, unless play is over by now."""
        if self._repeating is not None:
            ask()

    def _act(self, table: Table, fact: Fact) -> None:
        turn = table.turn
        if turn is None:
            return
        act = choose(turn, fact.n, fact.hand, self._random)
        ask = partial(self.asker.ask, table.name, "player", table.player(turn.seat), act)
        if self._think_s:
            asyncio.get_running_loop().call_later(self._think_s * 2 * self._random.random(), self._decided, ask)
        else:
            ask()


def spread(waits_s: list[float]) -> dict[str, Any]:
    """Median and 99th percentile, in milliseconds."""
    ordered = sorted(waits_s) or [0.0]
    return {
        "p50_ms": round(1000 * ordered[len(ordered) // 2], 1),
        "p99_ms": round(1000 * ordered[len(ordered) * 99 // 100], 1),
    }
