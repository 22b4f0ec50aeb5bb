"""The dealer: shuffles, deals and reveals; sends players their own cards and operators the keys of finished hands."""

import asyncio
import contextlib
import os
import secrets
from collections.abc import AsyncIterator, Iterable, Sequence
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import Final, TypeGuard

import msgspec
import structlog

from contracts import subjects
from contracts.codec import decode, decode_commit, encode
from contracts.commit import Commit
from contracts.data import Hex, Id, Instant
from contracts.events import AnyEvent
from contracts.events.dealer import DeckShuffled, HoleCardsDealt
from contracts.events.table import HandStarted
from contracts.outcomes import Rejected
from contracts.queries import HandKey, HandsQuery, KeyQuery, OwnCards, OwnHands
from contracts.subjects import QuerySubject
from services.aggregate.table import Table
from services.bus.aggregates import TABLES
from services.bus.application import Service, loop_of, unknown_table
from services.bus.faults import CannotServe
from services.bus.log import Log
from services.bus.loop import Role, TableLoop
from services.bus.private_file import read_or_make
from services.bus.process import Process
from services.bus.reader import NotFound, commits, from_hand
from services.bus.reading import Unreadable
from services.bus.recall import recall
from services.bus.replica import TableReplica
from services.bus.settings import Settings
from services.dealer import decider
from services.dealer.cards import own_cards
from services.dealer.decks import OpenedDecks, SealedDecks
from services.dealer.keys import reveal_key
from services.dealer.recalled import recorded_hands
from services.dealer.vault import SCRIPTED, CannotOpen, DeckDiffers, HandName, MasterKeys

logger: Final = structlog.get_logger(__name__)

ANSWERS: Final = ("table.hand_started", "table.street_closed", "table.betting_closed", "settlement.hands_shown")
KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
TABLES_ASKED_MAX: Final = 8
"""So many tables are asked for a hand that was dealt, when the dealer starts."""
RECALLING_MAX: Final = 4
"""So many records of players are read at the same time; the next is `busy`."""
TRIES_MAX: Final = 10
"""So often a key's fact is appended again because another commit came first."""


class KeyFile(msgspec.Struct):
    """The file of master keys: which one seals, and all that open, in hexadecimal."""

    current: Id
    keys: dict[Id, Hex]


class Dealer:
    """The dealer's hands: the master keys, and the decks that this process has open."""

    def __init__(self, masters: MasterKeys) -> None:
        self.masters = masters
        self.opened = OpenedDecks()
        self._closed: dict[tuple[Id, Id], tuple[Table, int, str]] = {}

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
        """Why the dealer is not ready: hands in progress whose decks it cannot open."""
        for key, (table, hand, _) in list(self._closed.items()):
            if table.hand is None or table.hand.number != hand:
                del self._closed[key]
        said = [
            f"hand {hand} at table {table.id} cannot be dealt on: {reason}"
            for table, hand, reason in self._closed.values()
        ]
        more = f"; and {len(said) - 1} others" if len(said) > 1 else ""
        return {"dealer.decks": f"{said[0]}{more}"} if said else {}

    def views(self, table: Table, commit: Commit) -> list[OwnCards]:
        """The cards to send to their players once this commit, of the dealer's own, is acknowledged."""
        if table.hand is None or table.hand.deal is None:  # the table is further than the commit that was acknowledged
            return []
        if not any(isinstance(event, HoleCardsDealt) for event in commit.events):
            return []
        deck = self.decks().deck(table)
        return [own_cards(table, seat, deck) for seat in table.hand.players]

    def cards_of(self, table: Table, player: Id) -> OwnCards | Rejected:
        """A player's own cards of the hand in progress."""
        record = table.seat_of(player)
        if record is None:
            message = f"{player} holds no seat at table {table.id}: cards are sent to those who do."
            return Rejected(code="not_seated", message=message, n=table.n, head=table.head)
        if table.hand is None or table.hand.deal is None or record.seat not in table.hand.players:
            return OwnCards(room=table.room, table=table.id, player=player, hand=table.hands, n=table.n)
        try:
            return own_cards(table, record.seat, self.decks().deck(table))
        except (CannotOpen, DeckDiffers) as fault:
            self._alarm(table, str(fault))
            message = f"The cards of hand {table.hands} at table {table.id} cannot be opened: the house is told."
            return Rejected(code="busy", message=message, n=table.n, head=table.head)


async def read_masters(settings: Settings, log: Log, replicas: Iterable[TableReplica]) -> MasterKeys:
    """The master keys of the settings' file, made where no hand has been dealt yet.

    `replicas` are folded to the tail. Raises `CannotServe` where the file is lost, or is another, and `Unavailable`.
    """
    path = settings.master_keys_path or settings.credentials_file.with_name("master-keys.json")
    played = [(table.at, table.id, table) for table in (each.state for each in replicas) if table.hands and table.at]
    tables = [table for _, _, table in sorted(played, key=itemgetter(0, 1), reverse=True)]
    dealt = await _last_dealt(log, tables)
    if dealt is not None and not path.exists():
        table, hand, key_id = dealt
        raise CannotServe(
            f"there is no file of master keys {path}, but hand {hand} at table {table} was dealt under the "
            f"master key {key_id!r}: put the file back, for no other opens what was dealt before; "
            f"to go on without it, void the hands in progress and write a file with a key of your own"
        )
    try:
        file = msgspec.json.decode(read_or_make(path, _new_key_file), type=KeyFile)
        masters = MasterKeys(file.current, {key_id: bytes.fromhex(key) for key_id, key in file.keys.items()})
    except (msgspec.MsgspecError, ValueError) as fault:
        raise CannotServe(f"{path} does not hold master keys: {fault}") from None
    _open_last(masters, tables, path)
    return masters


def _open_last(masters: MasterKeys, tables: Iterable[Table], path: Path) -> None:
    """Looks whether the keys open the last hand in progress. Raises `CannotServe`."""
    for table in tables:
        if table.hand is not None and _is_sealed(table.hand.deck):
            try:
                SealedDecks(masters, b"", b"").deck(table)
            except (CannotOpen, DeckDiffers) as fault:
                raise CannotServe(
                    f"the master keys in {path} do not open hand {table.hands} at table {table.id}, which is in "
                    f"progress: {fault}; put back the file by which it was dealt, or void the hand"
                ) from None
            return


async def _last_dealt(log: Log, tables: Sequence[Table]) -> tuple[Id, int, Id] | None:
    """A hand whose deck lies sealed in the log, of a table that was played at last: table, number, and key id."""
    for table in tables:
        if table.hand is not None and _is_sealed(table.hand.deck):
            return table.id, table.hands, table.hand.deck.seed.key_id
    for table in tables[:TABLES_ASKED_MAX]:
        stored = await log.last_of(table.room, table.id, "dealer", "hole_cards_dealt")
        if stored is None:
            continue
        try:
            commit = decode_commit(stored.data)
        except msgspec.MsgspecError:
            continue  # no part of the log
        for event in commit.events:
            if isinstance(event, DeckShuffled) and _is_sealed(event):
                return table.id, commit.hand, event.seed.key_id
    return None


def _is_sealed(deck: DeckShuffled | None) -> TypeGuard[DeckShuffled]:
    return deck is not None and deck.seed.key_id != SCRIPTED


def _new_key_file() -> bytes:
    """A key that is named after itself: two files never mean different keys by the same name."""
    key = secrets.token_bytes(KEY_BYTES)
    name = f"k-{sha256(key).hexdigest()[:8]}"
    return msgspec.json.encode(KeyFile(current=name, keys={name: key.hex()}))


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


def build(process: Process, dealer: Dealer | None = None) -> Service:
    """The service, ready to run in `process`; its master keys are read when it starts, unless it has a `dealer`."""
    service = Service("dealer", process)
    at_work: list[tuple[Dealer, TableLoop]] = []
    recalling = asyncio.Semaphore(RECALLING_MAX)

    @contextlib.asynccontextmanager
    async def running() -> AsyncIterator[None]:
        follower, log = service.connected()
        own = dealer or Dealer(await read_masters(process.settings, log, follower.replicas.values()))
        process.doubts.append(own.doubts)

        def appended(replica: TableReplica, commit: Commit) -> None:
            for view in own.views(replica.state, commit):
                service.publish(subjects.player_view(replica.state.room, view.table, view.player), encode(view))

        loop = loop_of(service, Role(TABLES, "dealer", own.owes, ANSWERS, appended))
        await loop.start()
        at_work.append((own, loop))
        yield
        await loop.stop()
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
        if recalling.locked():
            return Rejected(code="busy", message="Too many records are read at once; ask again.")
        async with recalling:
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
