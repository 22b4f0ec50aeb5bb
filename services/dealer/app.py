"""The dealer: shuffles, deals and reveals; sends players their own cards and operators the keys of finished hands."""

import contextlib
import os
import secrets
from collections.abc import AsyncIterator
from typing import Final

import msgspec

from contracts import subjects
from contracts.codec import decode, encode
from contracts.commit import Commit
from contracts.data import Hex, Id, Instant
from contracts.events import AnyEvent
from contracts.events.dealer import DeckShuffled, HoleCardsDealt
from contracts.events.table import HandStarted
from contracts.outcomes import Rejected
from contracts.queries import HandKey, KeyQuery, OwnCards
from contracts.subjects import QuerySubject
from services.aggregate.table import Table
from services.bus.application import Service, loop_of, unknown_table
from services.bus.log import Log
from services.bus.loop import Loop, Role
from services.bus.private_file import read_or_make
from services.bus.process import Process
from services.bus.reader import NotFound, commits, from_hand
from services.bus.replica import Replica
from services.bus.settings import Settings
from services.dealer import decider
from services.dealer.cards import own_cards
from services.dealer.decks import OpenedDecks, SealedDecks
from services.dealer.keys import reveal_key
from services.dealer.vault import HandName, MasterKeys

ANSWERS: Final = ("table.hand_started", "table.street_closed", "table.betting_closed", "settlement.hands_shown")
KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12
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

    def decks(self) -> SealedDecks:
        """Decks for one decision, with entropy of their own."""
        return SealedDecks(self.masters, secrets.token_bytes(KEY_BYTES), secrets.token_bytes(NONCE_BYTES), self.opened)

    def owes(self, table: Table, at: Instant) -> tuple[AnyEvent, ...]:
        """What the dealer owes at a table."""
        return decider.owes(table, at, self.decks())

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
        return own_cards(table, record.seat, self.decks().deck(table))


def read_masters(settings: Settings) -> MasterKeys:
    """The master keys of the settings' file. Raises OSError, ValueError or `msgspec.ValidationError`."""
    path = settings.master_keys_path or settings.credentials_file.with_name("master-keys.json")
    file = msgspec.json.decode(read_or_make(path, _new_key_file), type=KeyFile)
    return MasterKeys(file.current, {key_id: bytes.fromhex(key) for key_id, key in file.keys.items()})


def _new_key_file() -> bytes:
    return msgspec.json.encode(KeyFile(current="k1", keys={"k1": secrets.token_hex(KEY_BYTES)}))


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


async def give_key(loop: Loop, dealer: Dealer, replica: Replica, hand: int, to: Id) -> HandKey | Rejected:
    """The key of a hand for an operator, once the log says that it was given; or why there is none.

    Raises `Refused` or `Unavailable` where the log takes or gives nothing.
    """
    await loop.follower.catch_up(replica)
    try:
        name, shuffled = await deck_of(loop.log, *replica.key, hand)
    except NotFound:
        name, shuffled = HandName(replica.table.id, hand, 0), None
    for _ in range(TRIES_MAX):
        async with replica.turnstile("dealer"):
            decision = reveal_key(replica.table, name, shuffled, dealer.masters, to)
            if isinstance(decision, Rejected):
                return decision
            event, answer = decision
            if await loop.append(replica, (event,), loop.follower.clock.now()) is not None:
                return answer
    return Rejected(code="busy", message="The table is busy; ask again.")


def build(process: Process, dealer: Dealer | None = None) -> Service:
    """The service, ready to run in `process`; its master keys are read when it starts, unless it has a `dealer`."""
    service = Service("dealer", process)
    at_work: list[tuple[Dealer, Loop]] = []

    @contextlib.asynccontextmanager
    async def running() -> AsyncIterator[None]:
        own = dealer or Dealer(read_masters(process.settings))

        def appended(replica: Replica, commit: Commit) -> None:
            for view in own.views(replica.table, commit):
                service.publish(subjects.player_view(replica.table.room, view.table, view.player), encode(view))

        loop = loop_of(service, Role("dealer", own.owes, ANSWERS, appended))
        await loop.start()
        at_work.append((own, loop))
        yield
        await loop.stop()

    async def cards(asked: QuerySubject, body: bytes) -> msgspec.Struct:
        own, loop = at_work[-1]
        known = loop.follower.replicas.get((asked.room, asked.table))
        if known is None:
            return unknown_table(asked)
        return own.cards_of(known.table, asked.name)

    async def key(asked: QuerySubject, body: bytes) -> msgspec.Struct:
        own, loop = at_work[-1]
        known = loop.follower.replicas.get((asked.room, asked.table))
        if known is None:
            return unknown_table(asked)
        return await give_key(loop, own, known, decode(body, KeyQuery).hand, asked.name)

    service.during(running)
    service.query("cards", cards)
    service.query("key", key)
    return service


app = build(Process(Settings.from_environment(os.environ))).app
