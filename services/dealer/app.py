"""The dealer: shuffles, deals and reveals; sends players their own cards and operators the keys of finished hands."""

import os
import secrets
from typing import Final

import msgspec
import structlog

from contracts import subjects
from contracts.codec import encode
from contracts.commit import Commit
from contracts.data import Hex, Id, Instant
from contracts.events import AnyEvent
from contracts.events.dealer import HoleCardsDealt
from contracts.outcomes import Rejected
from contracts.queries import OwnCards
from services.aggregate.table import Table
from services.bus.application import Process, Service, run_loop
from services.bus.loop import Role
from services.bus.private_file import read_or_make
from services.bus.replica import Replica
from services.bus.settings import Settings
from services.dealer import decider
from services.dealer.cards import own_cards
from services.dealer.decks import OpenedDecks, SealedDecks
from services.dealer.vault import CannotOpen, DeckDiffers, MasterKeys

logger: Final = structlog.get_logger(__name__)

ANSWERS: Final = ("table.hand_started", "table.street_closed", "table.betting_closed", "settlement.hands_shown")
KEY_BYTES: Final = 32
NONCE_BYTES: Final = 12


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
        if table.hand is None or not any(isinstance(event, HoleCardsDealt) for event in commit.events):
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


def build(process: Process, dealer: Dealer | None = None) -> Service:
    """The service, ready to run in `process`; its master keys are read when it starts."""
    service = Service("dealer", process)
    own: list[Dealer] = [] if dealer is None else [dealer]

    def at_work() -> Dealer:
        if not own:
            own.append(Dealer(read_masters(process.settings)))
        return own[0]

    def owes(table: Table, at: Instant) -> tuple[AnyEvent, ...]:
        return at_work().owes(table, at)

    def appended(replica: Replica, commit: Commit) -> None:
        for view in at_work().views(replica.table, commit):
            service.publish(subjects.player_view(replica.table.room, view.table, view.player), encode(view))

    def cards(subject: str, reply: str, body: bytes) -> None:
        asked = subjects.read_query(subject)
        if asked is None or asked.kind != "player":
            return
        follower, _ = service.connected()
        known = follower.replicas.get((asked.room, asked.table))
        if known is None:
            message = f"There is no table {asked.table} in room {asked.room}."
            service.publish(reply, encode(Rejected(code="unknown_table", message=message)))
            return
        try:
            service.publish(reply, encode(at_work().cards_of(known.table, asked.name)))
        except (CannotOpen, DeckDiffers):
            logger.exception("deck_not_opened", table=asked.table, hand=known.table.hands)

    service.during(run_loop(service, Role("dealer", owes, ANSWERS, appended)))
    service.answer("query.cards.{room}.*.*.*", cards)
    return service


app = build(Process(Settings.from_environment(os.environ))).app
