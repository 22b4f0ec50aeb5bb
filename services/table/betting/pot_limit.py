"""Pot-limit betting: a raise may be as large as the pot after calling (R58 to R64)."""

from typing import Final

from contracts.data import Chips
from contracts.events.state import HandPlayer, PostKind
from contracts.games import TableConfig
from services.aggregate.table import Hand
from services.table.betting.behind import behind
from services.table.betting.no_limit import is_open, minimum, opening, posted, raised

__all__ = ["is_open", "maximum", "minimum", "opening", "posted", "raised"]

_FULL_BLINDS: Final[dict[PostKind, int]] = {"big_blind": 1, "new_player_blind": 1, "straddle": 2}
"""What a live post is nominally, in big blinds."""


def maximum(config: TableConfig, hand: Hand, player: HandPlayer) -> Chips:
    """The highest street total that `player` may reach: the level, and the pot after the call (R58, R59).

    Pot 200, bet 150, call 150: the next player may make it 800.
    """
    level = hand.betting.level
    return level + _pot(config, hand, player) + level - player.street_total


def _pot(config: TableConfig, hand: Hand, player: HandPlayer) -> Chips:
    pot = hand.pot if config.options.pl_pot_basis == "all_pots" else _active_pot(config, hand)
    if hand.street != "preflop":
        return pot
    if config.options.pl_short_blind == "nominal":
        pot += _missing_of_short_blinds(config, hand)
    if config.options.pl_sb_as_bb:
        pot += _missing_of_small_blind(config, hand, player)
    return pot


def _active_pot(config: TableConfig, hand: Hand) -> Chips:
    """The newest side pot and this street's wagers, once somebody is all-in from before this street (R63)."""
    players = hand.players.values()
    earlier = [p.total for p in players if not p.folded and p.street_total == 0 and behind(config, p) == 0]
    if not earlier:
        return hand.pot
    main = max(earlier)
    return sum(max(0, p.total - p.street_total - main) + p.street_total for p in players)


def _missing_of_short_blinds(config: TableConfig, hand: Hand) -> Chips:
    """What short all-in blinds lack of their full size (R61)."""
    missing = 0
    for post in hand.posts:
        if post.all_in and post.live:
            big_blinds = _FULL_BLINDS.get(post.kind, 0)
            full = big_blinds * config.stakes.big_blind if big_blinds else config.stakes.small_blind
            missing += max(0, full - post.amount)
    return missing


def _missing_of_small_blind(config: TableConfig, hand: Hand, player: HandPlayer) -> Chips:
    """What the small blind lacks of a big blind, until the big blind has acted (R62); its owner calls it anyway."""
    small, big = hand.positions.small_blind, hand.positions.big_blind
    if small is None or small == player.seat or (big is not None and hand.players[big].acted):
        return 0
    return max(0, config.stakes.big_blind - hand.players[small].street_total)
