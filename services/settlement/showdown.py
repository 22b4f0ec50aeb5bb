"""Who must show at the showdown, and who may muck (R84 to R86)."""

from collections.abc import Mapping, Sequence

from contracts.data import Seat
from contracts.events.state import Pot
from services.settlement.ranking import Worth


def must_show(order: Sequence[Seat], pots: Sequence[Pot], worths: Mapping[Seat, Worth]) -> frozenset[Seat]:
    """The seats that must show where losers may muck, asked one after the other in `order` (R84).

    The first must. So must everyone who, in a pot that is contested, ties or beats for high or for low every hand shown
    so far that is in it. Therefore every pot has a hand shown, and whoever wins any part of one has shown.
    """
    contested = [frozenset(pot.seats) for pot in pots if len(pot.seats) > 1]
    shown: list[Seat] = []
    for seat in order:
        rivals = ([worths[other] for other in shown if other in seats] for seats in contested if seat in seats)
        if not shown or any(_stands(worths[seat], best) for best in rivals):
            shown.append(seat)
    return frozenset(shown)


def _stands(hand: Worth, rivals: Sequence[Worth]) -> bool:
    return all(hand.high <= rival.high for rival in rivals) or (
        hand.has_low and all(hand.low <= rival.low for rival in rivals)
    )
