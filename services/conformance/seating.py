"""Recorded seats at a table of ours: sources number from 0 to 10, Croupier from 1 to 10."""

import msgspec

from services.conformance.recorded import (
    Expected,
    ExpectedPot,
    OptionsAt,
    Recorded,
    RecordedAction,
    RecordedPost,
    RecordedReturn,
    RecordedSeat,
)
from services.conformance.soundness import SEAT_MAX


class TooManyPlaces(Exception):
    """Eleven places, the button's empty one included, do not fit a table of ten."""


def at_table(hand: Recorded) -> Recorded:
    """The same hand with seats from 1 to 10 in the same circle.

    Only the order around the table matters to any rule, so seat 0 is played as the free seat 10, or all seats are
    numbered anew. Raises `TooManyPlaces`.
    """
    places = sorted({hand.button, *(seated.seat for seated in hand.seats)})
    if places[0] > 0:
        return hand
    if SEAT_MAX not in places:
        return _renumbered(hand, {place: place or SEAT_MAX for place in places})
    if len(places) > SEAT_MAX:
        raise TooManyPlaces(f"{len(places)} places are in use, a table has {SEAT_MAX}")
    return _renumbered(hand, {place: number for number, place in enumerate(places, 1)})


def _renumbered(hand: Recorded, to: dict[int, int]) -> Recorded:
    return msgspec.structs.replace(
        hand,
        button=to[hand.button],
        seats=_seated(hand.seats, to),
        posts=_seated(hand.posts, to),
        actions=_seated(hand.actions, to),
        hole={to.get(seat, seat): cards for seat, cards in hand.hole.items()},
        uncalled=_returned(hand.uncalled, to),
        shown=_each(hand.shown, to),
        mucked=_each(hand.mucked, to),
        payouts=_keyed(hand.payouts, to),
        finishing=_keyed(hand.finishing, to),
        expect=_expected(hand.expect, to) if hand.expect else None,
    )


def _expected(expect: Expected, to: dict[int, int]) -> Expected:
    pots = expect.pots
    return msgspec.structs.replace(
        expect,
        options_at=_seated(expect.options_at, to),
        pots=None if pots is None else tuple(ExpectedPot(pot.amount, _each(pot.seats, to)) for pot in pots),
        payouts=_keyed(expect.payouts, to),
        uncalled=_returned(expect.uncalled, to),
    )


def _returned(uncalled: RecordedReturn | None, to: dict[int, int]) -> RecordedReturn | None:
    return None if uncalled is None else RecordedReturn(to.get(uncalled.seat, uncalled.seat), uncalled.amount)


def _seated[Named: (RecordedSeat, RecordedPost, RecordedAction, OptionsAt)](
    named: tuple[Named, ...], to: dict[int, int]
) -> tuple[Named, ...]:
    return tuple(msgspec.structs.replace(each, seat=to.get(each.seat, each.seat)) for each in named)


def _each(seats: tuple[int, ...], to: dict[int, int]) -> tuple[int, ...]:
    return tuple(to.get(seat, seat) for seat in seats)


def _keyed(amounts: dict[int, int] | None, to: dict[int, int]) -> dict[int, int] | None:
    return None if amounts is None else {to.get(seat, seat): amount for seat, amount in amounts.items()}
