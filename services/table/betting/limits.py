"""What the three ways of betting have in common: each answers the same questions."""

from typing import Final, Protocol

from contracts.cards import Street
from contracts.data import Chips, Seat
from contracts.events.state import Betting, HandPlayer
from contracts.games import Limit, TableConfig
from services.aggregate.table import Hand
from services.table.betting import fixed_limit, no_limit, pot_limit


class Rules(Protocol):
    """How much may be bet, and what a wager does to the betting. All totals are those of the street."""

    def opening(self, config: TableConfig, street: Street) -> Betting:
        """Where the betting stands when a later street opens."""

    def posted(self, config: TableConfig, level: Chips, straddle: Chips) -> Betting:
        """Where the betting stands after the blinds."""

    def is_open(self, config: TableConfig, hand: Hand, player: HandPlayer) -> bool:
        """Whether the player may bet or raise at all."""

    def minimum(self, config: TableConfig, hand: Hand, player: HandPlayer) -> Chips:
        """The lowest street total of a bet or raise, whatever chips the player has."""

    def maximum(self, config: TableConfig, hand: Hand, player: HandPlayer) -> Chips:
        """The highest street total of a bet or raise, whatever chips the player has."""

    def raised(self, config: TableConfig, hand: Hand, seat: Seat, to: Chips) -> Betting:
        """Where the betting stands after a bet or raise to `to`."""


LIMITS: Final[dict[Limit, Rules]] = {
    "no_limit": no_limit,
    "pot_limit": pot_limit,
    "fixed_limit": fixed_limit,
}
