"""Fixed-limit betting: one bet at a time, so many to a round (R65 to R72)."""

from contracts.cards import Street
from contracts.data import Chips, Seat
from contracts.events.state import Betting, HandPlayer
from contracts.games import TableConfig
from services.aggregate.table import Hand


def unit(config: TableConfig, street: Street) -> Chips:
    """The bet of a street: the small bet before and on the flop, the big bet afterwards (R65)."""
    stakes = config.stakes
    small = stakes.small_bet or stakes.big_blind
    return small if street in ("preflop", "flop") else stakes.big_bet or 2 * small


def opening(config: TableConfig, street: Street) -> Betting:
    """Where the betting stands when a street after the flop opens."""
    return Betting(full_raise=unit(config, street))


def posted(config: TableConfig, level: Chips, straddle: Chips) -> Betting:
    """Where the betting stands after the blinds: the big blind is the first bet (R67), a straddle the second (R147)."""
    return Betting(
        level=level, full_raise=unit(config, "preflop"), full_level=level, bets=2 if straddle else 1, capped=False
    )


def is_open(config: TableConfig, hand: Hand, player: HandPlayer) -> bool:
    """Whether `player` may raise: the round is not capped (R68, R69), and at least half a bet is faced (R70)."""
    if hand.betting.bets >= config.options.fl_cap and (
        config.options.fl_cap_headsup == "capped" or hand.betting.capped or len(hand.live()) > 2  # noqa: PLR2004
    ):
        return False
    return not player.acted or _counts(config, hand.street, hand.betting.level - player.seen)


def minimum(config: TableConfig, hand: Hand, player: HandPlayer) -> Chips:
    """The one street total of a bet or raise: a bet above the last full level (R67), or its completion (R71).

    10/20 on the flop: bet 1000, raise to 2000; bet 1000, all-in 1400: complete to 2000; all-in 1500: raise to 2500.
    """
    return hand.betting.full_level + unit(config, hand.street)


maximum = minimum
"""The same: there is only one size."""


def raised(config: TableConfig, hand: Hand, seat: Seat, to: Chips) -> Betting:
    """Where the betting stands after a bet or raise to `to`; half a bet all-in counts as a whole one (R70, R72)."""
    before = hand.betting
    full_level, bets, capped = before.full_level, before.bets, before.capped
    if _counts(config, hand.street, to - full_level):
        bets += 1
        add_bet = config.options.fl_raise_after_allin == "add_bet"
        full_level = to if add_bet else full_level + unit(config, hand.street)
        capped = capped or (bets >= config.options.fl_cap and len(hand.live()) > 2)  # noqa: PLR2004
    return Betting(
        level=to,
        full_raise=before.full_raise,
        full_level=full_level,
        bets=bets,
        capped=capped,
        aggressor=seat,
    )


def _counts(config: TableConfig, street: Street, faced: Chips) -> bool:
    """Whether so many chips more are as good as a bet: half of one, by option a whole one (R70)."""
    enough = unit(config, street)
    return (2 * faced if config.options.fl_allin_reopen == "half" else faced) >= enough
