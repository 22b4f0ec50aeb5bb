"""PartyPoker's published rake schedules (RULES 9.1), in cents: one for each range of stakes, with an id of its own."""

from typing import Final, NamedTuple

from contracts.data import Chips, Id
from contracts.games import Limit, RakeBand, RakeSchedule, Stakes

PARTY_MINIMUM: Final[Chips] = 10
"""Pot-limit and no-limit: a rake below ten cents is not taken (R109)."""


class _Rates(NamedTuple):
    """`rake` for every full `pot`, at most `cap`, with `players` dealt in."""

    players: tuple[int, int]
    rake: Chips
    pot: Chips
    cap: Chips


class _Range(NamedTuple):
    """The rates of a range of stakes, and the lowest stake that belongs to it."""

    name: Id
    lowest: Chips
    rates: tuple[_Rates, ...]


_FIXED_LIMIT: Final = (  # by the lower of the two bets
    _Range("party-fl-002-015", 2, (_Rates((2, 10), 1, 20, 50),)),
    _Range("party-fl-025-1", 25, (_Rates((2, 10), 5, 100, 100),)),
    _Range(
        "party-fl-2",
        200,
        (_Rates((2, 2), 25, 500, 100), _Rates((3, 4), 25, 500, 200), _Rates((5, 10), 25, 500, 300)),
    ),
    _Range(
        "party-fl-3-10",
        300,
        (_Rates((2, 2), 50, 1000, 100), _Rates((3, 4), 50, 1000, 200), _Rates((5, 10), 50, 1000, 300)),
    ),
    _Range(
        "party-fl-15-30",
        1500,
        (_Rates((2, 2), 50, 2000, 100), _Rates((3, 4), 100, 2000, 200), _Rates((5, 10), 100, 2000, 300)),
    ),
    _Range("party-fl-50-250", 5000, (_Rates((2, 3), 100, 10000, 200), _Rates((4, 10), 100, 10000, 500))),
)
_POT_AND_NO_LIMIT: Final = (  # by the big blind
    _Range("party-pl-nl-002-010", 2, (_Rates((2, 10), 1, 20, 100),)),
    _Range(
        "party-pl-nl-025-25",
        25,
        (_Rates((2, 2), 1, 20, 100), _Rates((3, 4), 1, 20, 200), _Rates((5, 10), 1, 20, 300)),
    ),
    _Range("party-pl-nl-30-200", 3000, (_Rates((2, 3), 5, 100, 200), _Rates((4, 10), 5, 100, 500))),
    _Range("party-pl-nl-400", 40000, (_Rates((2, 2), 5, 100, 200), _Rates((3, 10), 5, 100, 500))),
)


def party(limit: Limit, stakes: Stakes) -> RakeSchedule:
    """PartyPoker's schedule for a table. Fixed limit goes by the lower bet, pot-limit and no-limit by the big blind.

    Stakes that the chart leaves out belong to the range below them, the very smallest to the first range.
    """
    if limit == "fixed_limit":
        return _schedule(_range_of(_FIXED_LIMIT, stakes.small_bet), minimum=0)
    return _schedule(_range_of(_POT_AND_NO_LIMIT, stakes.big_blind), minimum=PARTY_MINIMUM)


def _range_of(chart: tuple[_Range, ...], stake: Chips) -> _Range:
    reached = [row for row in chart if row.lowest <= stake]
    return reached[-1] if reached else chart[0]


def _schedule(row: _Range, minimum: Chips) -> RakeSchedule:
    bands = tuple(
        RakeBand(players=rates.players, cap=rates.cap, step_pot=rates.pot, step_rake=rates.rake) for rates in row.rates
    )
    return RakeSchedule(id=row.name, version=1, mode="step", bands=bands, minimum=minimum)
