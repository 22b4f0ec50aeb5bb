"""The secrets of a log, by the master keys: seeds, hand keys, and the salt of every card that was never laid open."""

from typing import NamedTuple

from contracts.data import Id
from contracts.events.dealer import BoardDealt, DeckShuffled, HandsRevealed
from contracts.events.settlement import HandsShown
from contracts.events.table import HandStarted
from services.bus import reader
from services.bus.aggregates import TABLES
from services.bus.log import Log
from services.dealer.vault import HandName, MasterKeys, open_hand, unseal
from tests.processes.playing import ROOM


class Secrets(NamedTuple):
    """What of a log's hands is secret: whole keys by their names, and the names of salts by their values.

    `unseen` are salts of folded, burnt and undealt cards; `mucked` those of hands that the dealer laid open to the
    house, and the table never saw; `hand_keys` those by table and hand.
    """

    seeds: dict[str, bytes]
    hand_keys: dict[tuple[Id, int], bytes]
    unseen: dict[str, str]
    mucked: dict[str, str]

    def add(self, name: HandName, shuffled: DeckShuffled, masters: MasterKeys, hand: "Opened") -> None:
        """Adds a hand."""
        key = masters.hand_key(name, shuffled.seed)
        salts = open_hand(key, name, shuffled).salts
        self.seeds[f"seed of {name}"] = unseal(key, name, shuffled)
        self.hand_keys[name.table, name.hand] = key
        for position, salt in enumerate(salts):
            if position not in hand.revealed:
                self.unseen[salt] = f"unseen card {position} of {name}"
            elif position in hand.hidden():
                self.mucked[salt] = f"mucked card {position} of {name}"


class Opened:
    """Which places of a deck were laid open, and whose hands were shown."""

    def __init__(self) -> None:
        self.revealed: set[int] = set()
        self.of_seat: dict[int, set[int]] = {}
        self.shown: set[int] = set()

    def take(self, event: object) -> None:
        """Notes what an event lays open."""
        match event:
            case BoardDealt():
                self.revealed |= {card.position for card in event.cards}
            case HandsRevealed():
                for hand in event.hands:
                    self.of_seat[hand.seat] = {card.position for card in hand.cards}
                    self.revealed |= self.of_seat[hand.seat]
            case HandsShown():
                self.shown |= {hand.seat for hand in event.hands}
            case _:
                pass

    def hidden(self) -> set[int]:
        """Places that only the house saw."""
        return {place for seat, places in self.of_seat.items() if seat not in self.shown for place in places}


async def secrets_of(log: Log, masters: MasterKeys) -> Secrets:
    """The secrets of every hand in a room."""
    found = Secrets({}, {}, {}, {})
    for table in await log.tables(ROOM):
        start = await reader.from_the_beginning(TABLES, log, ROOM, table)
        dealt: tuple[HandName, DeckShuffled] | None = None
        hand, rules = Opened(), 0
        async for commit, _ in reader.commits(log, start):
            for event in commit.events:
                if isinstance(event, HandStarted):
                    if dealt is not None:
                        found.add(*dealt, masters, hand)
                    dealt, hand, rules = None, Opened(), event.rules
                elif isinstance(event, DeckShuffled):
                    dealt = HandName(table, commit.hand, rules), event
                hand.take(event)
        if dealt is not None:
            found.add(*dealt, masters, hand)
    return found
