"""No-limit betting: from a full bet or raise up to all one's chips (R52 to R57)."""

from contracts.cards import Street
from contracts.data import Chips, Seat
from contracts.events.state import Betting, HandPlayer
from contracts.games import TableConfig
from services.aggregate.table import Hand


def opening(config: TableConfig, street: Street) -> Betting:
    """Where the betting stands when a street after the flop opens: the least bet is the big blind (R52)."""
    return Betting(full_raise=config.stakes.big_blind)


def posted(config: TableConfig, level: Chips, straddle: Chips) -> Betting:
    """Where the betting stands after the blinds; `straddle` is 0 without one (R26, R147)."""
    return Betting(level=level, full_raise=max(config.stakes.big_blind, straddle))


def is_open(config: TableConfig, hand: Hand, player: HandPlayer) -> bool:
    """Whether `player` may raise: a first action on this street, or facing a full raise since the last (R55, R56)."""
    return not player.acted or hand.betting.level - player.seen >= hand.betting.full_raise


def minimum(config: TableConfig, hand: Hand, player: HandPlayer) -> Chips:
    """The lowest street total of a full bet or raise: the level and the last full raise (R52, R53, R57).

    Blinds 50/100, raise to 350: the next raise is at least to 600.
    """
    return hand.betting.level + hand.betting.full_raise


def maximum(config: TableConfig, hand: Hand, player: HandPlayer) -> Chips:
    """The highest street total: all the player's chips (R54)."""
    return player.street_total + player.stack


def raised(config: TableConfig, hand: Hand, seat: Seat, to: Chips) -> Betting:
    """Where the betting stands after a bet or raise to `to`; a short all-in leaves the full raise as it was (R55)."""
    betting = hand.betting
    return Betting(level=to, full_raise=max(betting.full_raise, to - betting.level), aggressor=seat)
