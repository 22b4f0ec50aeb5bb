"""Who may know what: the truth of every deck, and what of it each reader may have seen at each moment."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from contracts.cards import Position
from contracts.commit import Commit
from contracts.data import Id, Seat
from contracts.dealing import hole_positions
from contracts.events import AnyEvent
from contracts.events.dealer import BoardDealt, DeckShuffled, HoleCardsDealt
from contracts.events.settlement import HandsShown
from contracts.events.table import HandStarted
from services.dealer.deck import Deck
from services.dealer.vault import HandName, MasterKeys, open_hand, unseal

PUBLIC: Final = ""
"""In the place of a player: what anybody may see."""

_CARD: Final = re.compile(rb"\b[2-9TJQKA][cdhs]\b")
_TOKEN: Final = re.compile(rb"[0-9a-f]{16,}")
_SEAT_RECORD: Final = frozenset({"seat", "player", "stack", "sat"})
_RESERVATION: Final = frozenset({"seat", "player", "number", "expires"})
HIDDEN_OF_SEATS: Final = frozenset(
    {"away", "timed_out", "leaving", "top_up", "request", "requested", "request_expires"}
)
HIDDEN_OF_RESERVATIONS: Final = frozenset({"buy_in", "choice"})
HIDDEN_OF_TABLES: Final = frozenset({"accepted", "departures"})
HIDDEN_EVENTS: Final = frozenset({
    "hands_revealed", "hand_key_revealed", "sit_out_requested", "leave_requested",
    "top_up_queued", "top_up_requested", "top_up_released", "command_refused",
})  # fmt: skip


@dataclass
class Dealt:
    """A hand's deck, whose places are whose, and which of them all have seen. `shown`: the seats that showed."""

    deck: Deck
    positions: dict[Seat, tuple[Position, ...]] = field(default_factory=dict)
    seats: dict[Id, Seat] = field(default_factory=dict)
    seen: set[Position] = field(default_factory=set)
    shown: set[Seat] = field(default_factory=set)
    dealt: bool = False

    def known_to(self, reader: Id) -> set[Position]:
        """The places whose cards a reader may know by now: the own, once they are dealt, and those that all saw."""
        seat = self.seats.get(reader)
        return self.seen.union(self.positions.get(seat, ())) if seat is not None and self.dealt else self.seen


class Truth:
    """What is true of the hands of one table: the deck itself says it, and the log says what was laid open when."""

    def __init__(self, table: Id, masters: MasterKeys) -> None:
        self._table = table
        self._masters = masters
        self._started: dict[int, HandStarted] = {}
        self.hands: dict[int, Dealt] = {}
        self._secrets: dict[bytes, tuple[int, str]] = {
            key.hex().encode(): (0, "a master key") for key in masters.keys.values()
        }
        self._salts: dict[bytes, tuple[int, Position]] = {}

    def take(self, commit: Commit) -> None:
        """Learns from a commit, before anything is sent that tells of it."""
        for event in commit.events:
            self._take(commit.hand, event)

    def _take(self, number: int, event: AnyEvent) -> None:
        match event:
            case HandStarted():
                self._started[number] = event
            case DeckShuffled():
                self._open(number, event)
            case HoleCardsDealt():
                hand = self.hands[number]
                hand.positions = dict(hole_positions(event.seats, event.cards_each))
                hand.seats = {each.player: each.seat for each in self._started[number].players}
                hand.dealt = True
            case BoardDealt():
                self.hands[number].seen.update(dealt.position for dealt in event.cards)
            case HandsShown():
                hand = self.hands[number]
                for shown in event.hands:
                    hand.seen.update(hand.positions[shown.seat])
                    hand.shown.add(shown.seat)
            case _:
                pass

    def _open(self, number: int, event: DeckShuffled) -> None:
        name = HandName(self._table, number, self._started[number].rules)
        key = self._masters.hand_key(name, event.seed)
        deck = open_hand(key, name, event)
        self.hands[number] = Dealt(deck)
        self._secrets |= {
            key.hex().encode(): (number, "the hand key"),
            unseal(key, name, event).hex().encode(): (number, "the seed"),
            event.seed.ciphertext.encode(): (number, "the sealed seed"),
            event.seed.nonce.encode(): (number, "the sealed seed"),
        }
        self._salts |= {salt.encode(): (number, position) for position, salt in enumerate(deck.salts)}

    def leaks(self, reader: Id, data: bytes, hand: int) -> Iterator[str]:
        """What a message about a hand tells `reader` that this reader may not know by now."""
        for token in _TOKEN.findall(data):
            if token in self._secrets:
                of, what = self._secrets[token]
                yield f"{what} of hand {of}"
            elif token in self._salts:
                of, position = self._salts[token]
                if position not in self.hands[of].known_to(reader):
                    yield f"the salt of a hidden card of hand {of}"
        found = _CARD.findall(data)
        if found:
            dealt = self.hands.get(hand)
            known = {dealt.deck.cards[position] for position in dealt.known_to(reader)} if dealt is not None else set()
            yield from (f"a hidden card of hand {hand}" for card in found if card.decode() not in known)

    def worded(self, data: bytes, hand: int) -> Iterator[str]:
        """Of which hands that were never shown a message says in words what they are worth."""
        dealt = self.hands.get(hand)
        for each in _dicts(msgspec.json.decode(data)):
            if "shares" in each and each.get("hand"):
                for share in each["shares"]:
                    if dealt is None or share["seat"] not in dealt.shown:
                        yield f"what a hidden hand of hand {hand} is worth"


def wishes(data: bytes) -> Iterator[str]:
    """What a public message tells of what players have in mind, or have asked for, and of commands."""
    for each in _dicts(msgspec.json.decode(data)):
        keys = each.keys()
        if keys >= _SEAT_RECORD:
            yield from (f"the hidden {key} of a seat" for key in keys & HIDDEN_OF_SEATS)
        if keys >= _RESERVATION:
            yield from (f"the hidden {key} of a reservation" for key in keys & HIDDEN_OF_RESERVATIONS)
        yield from (f"the hidden {key} of a table" for key in keys & HIDDEN_OF_TABLES)
        if each.get("type") in HIDDEN_EVENTS:
            yield f"the hidden event {each['type']}"


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for inner in value.values():
            yield from _dicts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _dicts(inner)


def told_of(findings: Iterable[tuple[str, str, str]]) -> dict[tuple[str, str], int]:
    """How often which kind of message told what."""
    counted: dict[tuple[str, str], int] = defaultdict(int)
    for kind, _, what in findings:
        counted[kind, what] += 1
    return counted
