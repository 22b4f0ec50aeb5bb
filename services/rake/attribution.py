"""To whom a hand's rake is counted, for bonuses and reports alone: no payout depends on it (R115)."""

from collections.abc import Mapping

from contracts.cards import SeatAmount
from contracts.data import Chips, Seat


def attributed(total: Chips, weights: Mapping[Seat, int]) -> tuple[SeatAmount, ...]:
    """Counts `total` to the seats by their weights; `weights` is in dealing order, the first left of the button first.

    Each gets the floor of an exact part; what remains goes one unit each to the largest fractions, among equal ones to
    the first left of the button. Seats to which nothing is counted are left out. 7 by 1:1:1 is 3, 2, 2.
    """
    whole = sum(weights.values())
    if total == 0 or whole == 0:
        return ()
    floors = {seat: total * weight // whole for seat, weight in weights.items()}
    by_fraction = sorted(weights, key=lambda seat: total * weights[seat] % whole, reverse=True)
    rounded_up = set(by_fraction[: total - sum(floors.values())])
    amounts = ((seat, floor + (seat in rounded_up)) for seat, floor in floors.items())
    return tuple(SeatAmount(seat=seat, amount=amount) for seat, amount in amounts if amount)
