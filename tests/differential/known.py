"""Where PokerKit 0.7.7 is no reference: each case as narrow as it can be told from the state of our hand.

A short big blind, which PokerKit counts at the chips posted, is not dealt at all: see `test_pokerkit.deals`. The cap on
bets before the flop, where PokerKit does not count the big blind, is set right in `oracle`.
"""

from contracts.events.settlement import PotAward, PotsAwarded
from contracts.events.state import Turn
from contracts.games import TableConfig
from services.aggregate.table import Hand
from services.table.betting.fixed_limit import unit


def short_bet_in_limit(config: TableConfig, hand: Hand) -> bool:
    """R70, R71: PokerKit adds a full bet to an all-in for less, and knows neither the half bet nor the completion."""
    return config.limit == "fixed_limit" and hand.betting.level % unit(config, hand.street) != 0


def reopened_by_short_all_in(hand: Hand, turn: Turn) -> bool:
    """R55, R57: PokerKit lets a player raise who faces less than a full bet or raise, as long as none was made.

    That is so after a check or a limp, and after a call of somebody's short all-in over them.
    """
    player, betting = hand.players[turn.seat], hand.betting
    entered = hand.posts[-1].amount if hand.street == "preflop" else 0
    return (
        turn.wager is None
        and player.acted
        and 0 < betting.level - player.seen < betting.full_raise
        and player.seen < entered + betting.full_raise
    )


def low_in_some_pots_only(awards: PotsAwarded) -> bool:
    """R97: PokerKit halves a side pot in which no low qualifies, because there is one in another pot (vector L15)."""
    contested = [pot for pot in awards.pots if len(pot.seats) > 1]
    with_low = [pot for pot in contested if pot.low is not None or pot.scooped_low]
    return 0 < len(with_low) < len(contested)


def odd_chips(awards: PotsAwarded) -> int:
    """How many chips lie elsewhere at most.

    R100: PokerKit gives all odd chips of a division to one player. R103: it halves a pot that the same players win both
    ways. R104: it joins pots, once beaten hands are gone, before it looks for odd chips.
    """
    return sum(_odd_chips(pot) for pot in awards.pots)


def _odd_chips(pot: PotAward) -> int:
    odd = sum(share.odd_chips for half in (pot.high, pot.low) if half is not None for share in half.shares)
    if pot.low is not None:
        odd += (pot.amount - pot.rake) % 2
    if pot.scooped_low:
        odd += len(pot.high.shares) - 1
    return odd
