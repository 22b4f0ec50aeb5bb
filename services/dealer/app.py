"""The dealer: shuffles, deals and reveals; sends players their own cards and operators the keys of finished hands."""

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

import msgspec
import structlog

from contracts import subjects
from contracts.codec import decode, encode
from contracts.commit import Commit
from contracts.data import Id, Instant
from contracts.events import AnyEvent
from contracts.events.dealer import DeckShuffled, HoleCardsDealt
from contracts.events.table import HandStarted
from contracts.outcomes import Rejected
from contracts.queries import HandKey, HandsQuery, KeyQuery, OwnCards, OwnHands
from contracts.subjects import QuerySubject
from services.aggregate.table import Table
from services.bus.aggregates import TABLES
from services.bus.answering import Sender, sender_of
from services.bus.application import Service, loop_of, unknown_table
from services.bus.log import Log, Stored
from services.bus.loop import TableLoop
from services.bus.process import Process
from services.bus.reader import NotFound, commits, from_hand
from services.bus.reading import Unreadable
from services.bus.recall import recall
from services.bus.replica import TableReplica
from services.bus.role import Role
from services.bus.settings import Settings
from services.bus.shares import Shares
from services.bus.showing import Sent, Showing
from services.bus.shown import Glance, shown
from services.dealer import decider
from services.dealer.cards import own_cards
from services.dealer.custody import Custody, custody_of
from services.dealer.decks import OpenedDecks, SealedDecks
from services.dealer.keys import reveal_key
from services.dealer.recalled import recorded_hands
from services.dealer.vault import KEY_BYTES, NONCE_BYTES, CannotOpen, DeckDiffers, HandName, MasterKeys

logger: Final = structlog.get_logger(__name__)

ANSWERS: Final = ("table.hand_started", "table.street_closed", "table.betting_closed", "settlement.hands_shown")
RECALLING_MAX: Final = 4
"""So many records of players are read at the same time; the next is `busy`."""
PLAYER_RECALLING_MAX: Final = 1
"""So many of one player: a record takes long, and who asks for many leaves the others theirs."""
TRIES_MAX: Final = 10
"""So often a key's fact is appended again because another commit came first."""


class Dealer:
    """The dealer's hands: the master keys, and the decks that this process has open."""

    def __init__(self, custody: Custody) -> None:
        self.custody = custody
        self.opened = OpenedDecks()
        self._closed: dict[tuple[Id, Id], tuple[Table, int, str]] = {}

    @property
    def masters(self) -> MasterKeys:
        """The master keys as they are now."""
        return self.custody.masters

    def decks(self) -> SealedDecks:
        """Decks for one decision, with entropy of their own."""
        return SealedDecks(self.masters, secrets.token_bytes(KEY_BYTES), secrets.token_bytes(NONCE_BYTES), self.opened)

    def owes(self, table: Table, at: Instant) -> tuple[AnyEvent, ...]:
        """What the dealer owes at a table; nothing of a deck that it cannot open, which is an alarm."""
        try:
            events = decider.owes(table, at, self.decks())
        except (CannotOpen, DeckDiffers) as fault:
            self._alarm(table, str(fault))
            return ()
        self._closed.pop((table.room, table.id), None)
        return events

    def _alarm(self, table: Table, reason: str) -> None:
        known = self._closed.get((table.room, table.id))
        if known is None or known[1] != table.hands:
            logger.critical("deck_not_opened", room=table.room, table=table.id, hand=table.hands, reason=reason)
        self._closed[table.room, table.id] = (table, table.hands, reason)

    def doubts(self) -> dict[str, str]:
        """Why the dealer is not ready: its keys are in danger, or hands in progress have decks that it cannot open."""
        found: dict[str, str] = {}
        if (doubt := self.custody.doubt()) is not None:
            found["dealer.keys"] = doubt
        for key, (table, hand, _) in list(self._closed.items()):
            if table.hand is None or table.hand.number != hand:
                del self._closed[key]
        said = [
            f"hand {hand} at table {table.id} cannot be dealt on: {reason}"
            for table, hand, reason in self._closed.values()
        ]
        if said:
            more = f"; and {len(said) - 1} others" if len(said) > 1 else ""
            found["dealer.decks"] = f"{said[0]}{more}"
        return found

    def cards_to_send(self, table: Table, hand: int, player: Id) -> OwnCards | None:
        """The cards that a hand has dealt to a player; None where there are none, or the hand is over by now."""
        if table.hand is None or table.hand.number != hand:
            return None
        answer = self.cards_of(table, player)
        return answer if isinstance(answer, OwnCards) and answer.cards is not None else None

    def cards_of(self, table: Table, player: Id) -> OwnCards | Rejected:
        """A player's own cards of the hand in progress."""
        record = table.seat_of(player)
        if record is None:
            message = f"{player} holds no seat at table {table.id}: cards are sent to those who do."
            return Rejected(code="not_seated", message=message, n=table.n, head=table.head)
        if table.hand is None or table.hand.deal is None or record.seat not in table.hand.players:
            return OwnCards(room=table.room, table=table.id, player=player, hand=table.hands, n=table.n)
        try:
            return own_cards(table, record.seat, SealedDecks(self.masters, b"", b"", self.opened).deck(table))
        except (CannotOpen, DeckDiffers) as fault:
            self._alarm(table, str(fault))
            message = f"The cards of hand {table.hands} at table {table.id} cannot be opened: the house is told."
            return Rejected(code="busy", message=message, n=table.n, head=table.head)


async def deck_of(log: Log, room: Id, table: Id, hand: int) -> tuple[HandName, DeckShuffled | None]:
    """What the log says of a hand's deck. Raises `NotFound`, `Unreadable` or `Unavailable`."""
    start = await from_hand(log, room, table, hand)
    name, shuffled = HandName(table, hand, 0), None
    async for commit, _ in commits(log, start, hand):
        for event in commit.events:
            if isinstance(event, HandStarted):
                name = HandName(table, hand, event.rules)
            if isinstance(event, DeckShuffled):
                return name, event
    return name, shuffled


async def give_key(loop: TableLoop, dealer: Dealer, replica: TableReplica, hand: int, to: Id) -> HandKey | Rejected:
    """The key of a hand for an operator, once the log says that it was given; or why there is none.

    Raises `Refused` or `Unavailable` where the log takes or gives nothing.
    """
    await loop.follower.catch_up(replica)
    if not replica.ready:
        return Rejected(code="halted", message=replica.halted or "The table's log is not read to its end.")
    try:
        name, shuffled = await deck_of(loop.log, *replica.key, hand)
    except NotFound:
        name, shuffled = HandName(replica.state.id, hand, 0), None
    for _ in range(TRIES_MAX):
        async with replica.turnstile("dealer"):
            decision = reveal_key(replica.state, name, shuffled, dealer.masters, to)
            if isinstance(decision, Rejected):
                return decision
            event, answer = decision
            if await loop.append(replica, (event,), loop.follower.clock.now()) is not None:
                return answer
    return Rejected(code="busy", message="The table is busy; ask again.")


async def own_hands(log: Log, masters: MasterKeys, asked: QuerySubject, last: int) -> OwnHands | Rejected:
    """The record of the last hands of the player who asks (R128). Raises `Unavailable`."""
    try:
        found = await recall(log, asked.room, asked.table, asked.name, last)
    except NotFound:
        return unknown_table(asked)
    except Unreadable as error:
        return Rejected(code="halted", message=str(error))
    over = recorded_hands(asked.table, found.hands, masters)
    return OwnHands(room=asked.room, table=asked.table, player=asked.name, since=found.since, hands=over)


type Key = tuple[Id, Id, Id]
"""Room, table and player."""


class Cards:
    """Own cards as they are sent: by whoever dealt them, and by another dealer where that one did not."""

    def __init__(self, dealer: Dealer, showing: Showing[Key]) -> None:
        self._dealer = dealer
        self._showing = showing

    def note(self, replica: TableReplica, commit: Commit, _: Stored) -> None:
        """Has the cards that a commit deals be sent by somebody."""
        if deals(commit):
            self.again(replica)

    def again(self, replica: TableReplica) -> None:
        """Has the cards of a hand in progress be sent, unless they just were: their dealer may have died before."""
        table = replica.state
        if table.hand is not None and table.hand.deal is not None:
            for player in table.hand.players.values():
                sent = partial(self._sent, replica, table.hand.number, player.player)
                self._showing.due(
                    (*replica.key, player.player), table.n, sent, _now(), standing=True, trace=replica.trace
                )

    def appended(self, replica: TableReplica, commit: Commit) -> None:
        """Sends the cards that a commit of this dealer's own deals."""
        hand = replica.state.hand
        if deals(commit) and hand is not None:
            for player in hand.players.values():
                self._showing.show((*replica.key, player.player), commit.n, _now())

    def _sent(self, replica: TableReplica, hand: int, player: Id) -> Sent | None:
        cards = self._dealer.cards_to_send(replica.state, hand, player)
        return (subjects.player_view(*replica.key, player), encode(cards)) if cards is not None else None


def deals(commit: Commit) -> bool:
    """Whether a commit deals hole cards: each player is sent the own ones then."""
    return any(isinstance(event, HoleCardsDealt) for event in commit.events)


def _now() -> float:
    return asyncio.get_running_loop().time()


def heard(subject: str, body: bytes) -> tuple[Key, int] | None:
    """Whose cards a replica of the dealer has sent, and as of which commit."""
    address = subjects.read_view(subject)
    if address is None or address.player is None:
        return None
    return (address.room, address.table, address.player), decode(body, Glance).n


def build(process: Process, dealer: Dealer | None = None) -> Service:
    """The service, ready to run in `process`; its master keys are read when it starts, unless it has a `dealer`."""
    service = Service("dealer", process)
    at_work: list[tuple[Dealer, TableLoop]] = []
    recalling: Shares[Sender] = Shares(RECALLING_MAX, PLAYER_RECALLING_MAX)

    @contextlib.asynccontextmanager
    async def running() -> AsyncIterator[None]:
        follower, log = service.connected()
        own = dealer or Dealer(await custody_of(process.settings, log, follower.replicas.values()))
        process.doubts.append(own.doubts)
        async with shown(service, map(subjects.player_views, follower.rooms), heard) as showing:
            sending = Cards(own, showing)
            follower.watchers.append(sending.note)
            for replica in list(follower.replicas.values()):
                sending.again(replica)
            loop = loop_of(service, Role(TABLES, "dealer", own.owes, ANSWERS, sending.appended))
            await loop.start()
            at_work.append((own, loop))
            yield
            await loop.stop()
            follower.watchers.remove(sending.note)
        process.doubts.remove(own.doubts)

    async def cards(asked: QuerySubject, body: bytes) -> msgspec.Struct:
        own, loop = at_work[-1]
        known = loop.follower.replicas.get((asked.room, asked.table))
        if known is None:
            return unknown_table(asked)
        return own.cards_of(known.state, asked.name)

    async def hands(asked: QuerySubject, body: bytes) -> msgspec.Struct:
        own, loop = at_work[-1]
        query = decode(body, HandsQuery)
        if recalling.is_full(sender_of(asked)):
            return Rejected(code="busy", message="Too many records are read at once; ask again.")
        with recalling.taken(sender_of(asked)):
            return await own_hands(loop.log, own.masters, asked, query.last)

    async def key(asked: QuerySubject, body: bytes) -> msgspec.Struct:
        own, loop = at_work[-1]
        known = loop.follower.replicas.get((asked.room, asked.table))
        if known is None:
            return unknown_table(asked)
        return await give_key(loop, own, known, decode(body, KeyQuery).hand, asked.name)

    service.during(running)
    service.query("cards", cards)
    service.query("hands", hands)
    service.query("key", key)
    return service


app = build(Process(Settings.from_environment(os.environ))).app
