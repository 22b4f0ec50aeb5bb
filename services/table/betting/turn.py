"""Who acts next, and what may be done (R42 to R50); nobody: the round is closed."""

from typing import Final

from contracts.data import Chips, Seat
from contracts.events.state import HandPlayer, Turn
from contracts.games import TableConfig
from services.aggregate.table import Hand
from services.table.betting.behind import behind
from services.table.betting.limits import LIMITS

CIRCLE: Final = 10
"""The highest number of a seat: seats are counted round a circle."""


def clockwise(seat: Seat, start: Seat) -> int:
    """How far `seat` lies clockwise from the seat after `start`; `start` itself comes last."""
    return (seat - start - 1) % CIRCLE


def first_turn(config: TableConfig, hand: Hand) -> Turn | None:
    """The turn that opens a street, or None where there is nothing to decide on it (R48).

    Before the flop the player after the big blind, or after the last straddle, is first (R42, R147); on later streets
    the first one left of the button who is able to act (R43).
    """
    order = list(hand.players.values())
    if hand.street == "preflop":
        straddles = [post.seat for post in hand.posts if post.kind == "straddle"]
        last = straddles[-1] if straddles else hand.positions.big_blind
        if last is not None:
            order.sort(key=lambda player: clockwise(player.seat, last))
    return _first_to_act(config, hand, order)


def next_turn(config: TableConfig, hand: Hand, after: Seat) -> Turn | None:
    """The turn that follows an action of the player on seat `after`, or None: the round is closed (R45, R47)."""
    order = list(hand.players.values())
    place = list(hand.players).index(after) + 1
    return _first_to_act(config, hand, order[place:] + order[:place])


def _first_to_act(config: TableConfig, hand: Hand, order: list[HandPlayer]) -> Turn | None:
    live = [player for player in order if not player.folded]
    if len(live) == 1:
        return None
    able = [player for player in live if player.stack and not player.protected]
    if config.options.cap_per_hand:
        able = [player for player in able if behind(config, player)]
    if len(able) == 1:
        return _lone_turn(config, hand, live, able[0])
    level = hand.betting.level
    for player in able:
        if not player.acted or player.street_total < level:
            return _turn(config, hand, player, able)
    return None


def _lone_turn(config: TableConfig, hand: Hand, live: list[HandPlayer], player: HandPlayer) -> Turn | None:
    """The turn of the only player with chips: to call what another one wagered, or to fold (R48, R50)."""
    wagered = max(other.street_total for other in live if other is not player)
    owed = min(hand.betting.level, wagered) - player.street_total
    if owed <= 0:
        return None
    call = min(owed, behind(config, player))
    return Turn(seat=player.seat, check=False, act_ms=config.options.act_ms, call=call)


def _turn(config: TableConfig, hand: Hand, player: HandPlayer, able: list[HandPlayer]) -> Turn:
    level = hand.betting.level
    owed, chips = level - player.street_total, behind(config, player)
    call = min(owed, chips) if owed > 0 else None
    rules = LIMITS[config.limit]
    if chips > owed and rules.is_open(config, hand, player) and _answerable(config, level, player, able):
        all_in = player.street_total + chips  # for less than the minimum it is a wager too (R52)
        least = min(rules.minimum(config, hand, player), all_in)
        most = min(max(rules.maximum(config, hand, player), least), all_in)  # never under the minimum (R64)
        return Turn(
            seat=player.seat,
            check=call is None,
            act_ms=config.options.act_ms,
            call=call,
            wager="raise" if level else "bet",
            minimum=least,
            maximum=most,
        )
    return Turn(seat=player.seat, check=call is None, act_ms=config.options.act_ms, call=call)


def _answerable(config: TableConfig, level: Chips, player: HandPlayer, able: list[HandPlayer]) -> bool:
    """Whether another player could put in more than the level: else a raise is pointless (R50, R148)."""
    return any(other is not player and other.street_total + behind(config, other) > level for other in able)
