"""Decks arranged by a script, for tests and checks: the cards that a story needs lie where they will be dealt."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from contracts.cards import DECK, Card
from contracts.data import Seat
from contracts.dealing import BOARD_STREETS, board_positions, hole_positions
from contracts.events.dealer import DeckShuffled, SealedSeed
from contracts.games import HOLE_CARDS
from services.aggregate.table import Table
from services.dealer.deck import CARDS, Deck
from services.dealer.decks import hand_in_progress
from services.dealer.shuffle import SALT_BYTES
from services.dealer.vault import SCRIPTED


class Unplayable(ValueError):
    """A script that does not fit the hand: a card twice, too many cards, or cards for a seat that is not dealt in."""


@dataclass(frozen=True, slots=True)
class Script:
    """The cards that a story needs: hole cards by seat, board cards from the flop on. The rest of the deck fills up."""

    hole: Mapping[Seat, Sequence[Card]] = field(default_factory=dict)
    board: Sequence[Card] = ()


@dataclass(frozen=True, slots=True)
class ScriptedDecks:
    """Arranged decks, by hand number, for tests and checks; a hand without a script gets cards in canonical order.

    The hashes are good. The sealed seed is empty under the key id `scripted`, by which a verifier knows such hands.
    """

    scripts: Mapping[int, Script]

    def shuffle(self, table: Table) -> DeckShuffled:
        """Publishes the arranged deck."""
        hashes = self.deck(table).hashes(table.id, hand_in_progress(table).number)
        return DeckShuffled(hashes=hashes, seed=SealedSeed(key_id=SCRIPTED, nonce="", ciphertext=""))

    def deck(self, table: Table) -> Deck:
        """The arranged deck. Raises `Unplayable`."""
        return Deck(arranged(table, self.scripts.get(hand_in_progress(table).number, Script())), _FIXED_SALTS)


_FIXED_SALTS: Final = tuple(f"{position:0{2 * SALT_BYTES}x}" for position in range(CARDS))


def arranged(table: Table, script: Script) -> tuple[Card, ...]:
    """The deck, top card first, from which the table's hand deals the cards of the script (R33 to R36).

    Raises `Unplayable`.
    """
    fixed = _places(table, script)
    if len(set(fixed.values())) != len(fixed):
        raise Unplayable("a script has a card twice")
    rest = iter(card for card in DECK if card not in fixed.values())
    return tuple(fixed[position] if position in fixed else next(rest) for position in range(CARDS))


def _places(table: Table, script: Script) -> dict[int, Card]:
    if table.config is None:
        raise ValueError(f"table {table.id} has not been opened")
    seats, cards_each = tuple(hand_in_progress(table).players), HOLE_CARDS[table.config.variant]
    holes = hole_positions(seats, cards_each)
    burn = table.config.options.burn_cards
    streets = (board_positions(street, len(seats) * cards_each, burn=burn) for street in BOARD_STREETS)
    board = [position for street in streets for position in street.cards]
    if stray := sorted(set(script.hole) - set(holes)):
        raise Unplayable(f"a script has cards for seats {stray}, which are not in the hand")
    if len(script.board) > len(board) or any(len(cards) > cards_each for cards in script.hole.values()):
        raise Unplayable("a script has more cards than are dealt")
    fixed = dict(zip(board, script.board, strict=False))
    for seat, cards in script.hole.items():
        fixed.update(zip(holes[seat], cards, strict=False))
    return fixed
