"""How much rake a schedule takes from a hand, and from which of its pots (R107 to R111)."""

from typing import NamedTuple

from contracts.data import Chips
from contracts.games import RakeBand, RakeSchedule

_WHOLE_BASIS_POINTS = 10_000


class Rake(NamedTuple):
    """What the schedule gives (`computed`), what the band takes at most, and what is taken in the end."""

    computed: Chips
    cap: Chips | None
    total: Chips


NO_RAKE = Rake(computed=0, cap=None, total=0)


def rake_of(schedule: RakeSchedule, players: int, base: Chips, *, flop: bool) -> Rake:
    """The rake of a hand: `players` were dealt in, its pots sum up to `base`, the flop was dealt or not.

    Nothing without a flop where the schedule says so (R110), nor where no band covers the players. The cap comes before
    the minimum (R107, R109), and no rake exceeds the pots.
    """
    band = band_of(schedule, players)
    if band is None or (schedule.no_flop_no_drop and not flop):
        return NO_RAKE
    computed = computed_rake(schedule, band, base)
    capped = computed if band.cap is None else min(computed, band.cap)
    total = min(capped, base) if capped >= schedule.minimum else 0
    return Rake(computed, band.cap, total)


def band_of(schedule: RakeSchedule, players: int) -> RakeBand | None:
    """The rates for this number of players dealt in (R108): of the first band that covers it."""
    return next((band for band in schedule.bands if band.players[0] <= players <= band.players[1]), None)


def computed_rake(schedule: RakeSchedule, band: RakeBand, base: Chips) -> Chips:
    """What the mode gives before cap and minimum (R107): pot 3700 by steps of 50 for 1000 is 150."""
    if schedule.mode == "step":
        return base // band.step_pot * band.step_rake if band.step_pot else 0
    if schedule.mode == "percent":
        exact = base * band.basis_points // _WHOLE_BASIS_POINTS
        return exact - exact % schedule.round_to
    reached = [rake for pot, rake in band.thresholds if pot <= base]
    return reached[-1] if reached else 0


def allocated(schedule: RakeSchedule, total: Chips, pots: tuple[Chips, ...]) -> tuple[Chips, ...]:
    """How much of `total`, which is at most the sum of `pots`, leaves each pot, main pot first (R111)."""
    return _main_first(total, pots) if schedule.allocation == "main_first" else _proportional(total, pots)


def _proportional(total: Chips, pots: tuple[Chips, ...]) -> tuple[Chips, ...]:
    """By size, rounded down; what remains is taken one unit a pot from the main pot on."""
    base = sum(pots)
    shares = [total * pot // base if base else 0 for pot in pots]
    for index, pot in enumerate(pots):
        if sum(shares) < total and shares[index] < pot:
            shares[index] += 1
    return tuple(shares)


def _main_first(total: Chips, pots: tuple[Chips, ...]) -> tuple[Chips, ...]:
    shares: list[Chips] = []
    for pot in pots:
        shares.append(min(pot, total - sum(shares)))
    return tuple(shares)
