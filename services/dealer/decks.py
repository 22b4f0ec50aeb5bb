"""Where decks come from: shuffled and sealed by the dealer, or opened again by their hand keys."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from contracts.events.dealer import DeckShuffled
from services.aggregate.table import Hand, Table
from services.dealer.deck import Deck, deck_from
from services.dealer.vault import HandName, MasterKeys, open_hand, seal

OPENED_MAX: Final = 10_000
"""Decks that one process keeps open at most: about 10 kB each."""


class Decks(Protocol):
    """Where the dealer takes the cards from."""

    def shuffle(self, table: Table) -> DeckShuffled:
        """Fixes the deck of a hand that has none yet."""
        ...

    def deck(self, table: Table) -> Deck:
        """The deck of the hand in progress, whose `deck_shuffled` is in the log.

        Raises CannotOpen where the seed cannot be opened, DeckDiffers where it is not the published deck's.
        """
        ...


def hand_in_progress(table: Table) -> Hand:
    """The table's hand. Raises ValueError where there is none."""
    if table.hand is None:
        raise ValueError(f"table {table.id} has no hand at commit {table.n}")
    return table.hand


def name_of(table: Table) -> HandName:
    """The name of the hand in progress. Raises ValueError where there is none."""
    hand = hand_in_progress(table)
    return HandName(table.id, hand.number, hand.rules)


def published(table: Table) -> DeckShuffled:
    """The hashes and the sealed seed of the hand in progress. Raises ValueError where there are none yet."""
    shuffled = hand_in_progress(table).deck
    if shuffled is None:
        raise ValueError(f"hand {name_of(table)} has no deck at commit {table.n}")
    return shuffled


class OpenedDecks:
    """Decks opened by this process, the latest of each table, so that a hand's seed is unsealed only once."""

    def __init__(self) -> None:
        self._decks: dict[tuple[str, str], tuple[DeckShuffled, Deck]] = {}

    def get(self, table: Table, shuffled: DeckShuffled) -> Deck | None:
        """The deck of exactly this shuffle: another replica's, which won the append, is not ours."""
        known = self._decks.get((table.room, table.id))
        return known[1] if known is not None and known[0] == shuffled else None

    def keep(self, table: Table, shuffled: DeckShuffled, deck: Deck) -> None:
        """Keeps a deck until the table has another; the one kept longest goes where there are too many."""
        self._decks.pop((table.room, table.id), None)
        self._decks[table.room, table.id] = (shuffled, deck)
        if len(self._decks) > OPENED_MAX:
            del self._decks[next(iter(self._decks))]


@dataclass(frozen=True, slots=True, repr=False)
class SealedDecks:
    """The real decks. The shell makes one for each call, with 32 bytes of seed and 12 of nonce fresh from the OS.

    They are used up by a new hand alone. `opened` is the same for all calls of a process.
    """

    masters: MasterKeys
    seed: bytes
    nonce: bytes
    opened: OpenedDecks = field(default_factory=OpenedDecks)

    def shuffle(self, table: Table) -> DeckShuffled:
        """Shuffles by the seed, and seals it."""
        name = name_of(table)
        deck = deck_from(self.seed)
        hashes = deck.hashes(name.table, name.hand)
        shuffled = DeckShuffled(hashes=hashes, seed=seal(self.masters, name, hashes, self.seed, self.nonce))
        self.opened.keep(table, shuffled, deck)
        return shuffled

    def deck(self, table: Table) -> Deck:
        """Opens the hand's sealed seed, unless this process has it open. Raises CannotOpen and DeckDiffers."""
        shuffled = published(table)
        deck = self.opened.get(table, shuffled)
        if deck is None:
            name = name_of(table)
            deck = open_hand(self.masters.hand_key(name, shuffled.seed), name, shuffled)
            self.opened.keep(table, shuffled, deck)
        return deck


class KnownHand(NamedTuple):
    """A hand's shuffle as it was recorded, and the deck behind it, opened by the hand key."""

    recorded: DeckShuffled
    deck: Deck


@dataclass(frozen=True, slots=True, repr=False)
class KnownDecks:
    """Hands that were opened by their keys, by hand number: from them each is dealt again as it was.

    Raises KeyError for a hand that is not among them.
    """

    hands: Mapping[int, KnownHand]

    def shuffle(self, table: Table) -> DeckShuffled:
        """The shuffle as it was recorded."""
        return self.hands[hand_in_progress(table).number].recorded

    def deck(self, table: Table) -> Deck:
        """The deck that it was."""
        return self.hands[hand_in_progress(table).number].deck
