"""How a pot is divided among the best hands (R99 to R105, R112, R152)."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from contracts.data import Chips, Seat
from contracts.events.settlement import Division, PotAward, Share
from contracts.events.state import Pot
from contracts.games import Options
from services.settlement.ranking import Worth

SEATS_MAX = 10
"""Seats go round: after this one comes seat 1."""


class OddChips(msgspec.Struct, frozen=True):
    """Who gets the chips that cannot be shared (R100, R102, R152).

    `unit`: the smallest chip. `button_first`: the button before all others, else the first to its left. `to_high`: the
    high hand gets the odd chip of a low half that several share.
    """

    button: Seat
    unit: Chips = 1
    button_first: bool = False
    to_high: bool = False

    @classmethod
    def by(cls, options: Options, button: Seat) -> "OddChips":
        """As the table's options have it."""
        return cls(
            button=button,
            unit=options.odd_chip_unit,
            button_first=options.odd_chip_order == "button_first",
            to_high=options.odd_quarter_chip == "high",
        )

    def order(self, seats: Iterable[Seat]) -> list[Seat]:
        """Seats in the order in which they get odd chips: clockwise from the left of the button (R100)."""
        first = self.button if self.button_first else self.button + 1
        return sorted(seats, key=lambda seat: (seat - first) % SEATS_MAX)


def award(pot: Pot, rake: Chips, worths: Mapping[Seat, Worth], odd: OddChips) -> PotAward:
    """Pays one pot, by itself (R104), after its rake has left it (R112).

    A pot that one seat alone contests goes to it unseen (R78, R79); `worths` must know every seat of any other.
    """
    amount = pot.amount - rake
    if len(pot.seats) == 1:
        return PotAward(
            amount=pot.amount,
            rake=rake,
            seats=pot.seats,
            high=_division(amount, pot.seats, odd),
            uncontested=True,
        )
    highs, lows = _best_high(pot.seats, worths), _best_low(pot.seats, worths)
    high_words = worths[highs[0]].high_words()
    low_words = (worths[lows[0]].low_words() or "") if lows else ""
    if not lows or lows == highs:  # R97: no low qualifies; R103: the same winners both ways share once
        return PotAward(
            amount=pot.amount,
            rake=rake,
            seats=pot.seats,
            high=_division(amount, highs, odd, high_words),
            scooped_low=low_words,
        )
    high_half, low_half = halves(amount, len(lows), odd)
    return PotAward(
        amount=pot.amount,
        rake=rake,
        seats=pot.seats,
        high=_division(high_half, highs, odd, high_words),
        low=_division(low_half, lows, odd, low_words),
    )


def halves(amount: Chips, lows: int, odd: OddChips) -> tuple[Chips, Chips]:
    """The high and the low half of a pot whose low `lows` players share: the odd chip goes to the high half (R101)."""
    half = amount // 2
    indivisible = odd.unit * lows if odd.to_high else odd.unit
    low_half = half - half % indivisible
    return amount - low_half, low_half


def shares(amount: Chips, winners: Sequence[Seat], unit: Chips = 1) -> tuple[Share, ...]:
    """Equal shares in whole units; one unit more for each of the first in the order given, until none is left (R100).

    Chips that make no whole unit, which rake can leave (R152), go to the next in that order: no two shares differ by
    more than a unit.
    """
    units, loose = divmod(amount, unit)
    each, over = divmod(units, len(winners))
    odd = [*(unit for _ in range(over)), loose, *(0 for _ in winners)]
    return tuple(
        Share(seat=seat, amount=each * unit + more, odd_chips=more) for seat, more in zip(winners, odd, strict=False)
    )


def _division(amount: Chips, winners: Sequence[Seat], odd: OddChips, hand: str = "") -> Division:
    return Division(amount=amount, shares=shares(amount, odd.order(winners), odd.unit), hand=hand)


def _best_high(seats: Sequence[Seat], worths: Mapping[Seat, Worth]) -> list[Seat]:
    best = min(worths[seat].high for seat in seats)
    return [seat for seat in seats if worths[seat].high == best]


def _best_low(seats: Sequence[Seat], worths: Mapping[Seat, Worth]) -> list[Seat]:
    best = min(worths[seat].low for seat in seats)
    return [seat for seat in seats if worths[seat].low == best and worths[seat].has_low]
