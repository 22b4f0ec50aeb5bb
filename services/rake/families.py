"""Rake schedules as they are written down: a family of them, each for a range of stakes, or a schedule alone (R107).

A file is TOML. Either it is a family: `family`, `version`, for which `limits` and by which `stake` its `schedules` are
chosen, and what they share; or it is one schedule, as a table's configuration has it, for tables of every limit and
stake. Amounts are in the smallest chip unit.
"""

import tomllib
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from msgspec import Meta

from contracts.data import CHIPS_MAX, Chips, Data, Id
from contracts.games import Limit, Money, RakeBand, RakeSchedule, Stakes
from contracts.plain import Faulty, read

LIMITS: Final[tuple[Limit, ...]] = ("no_limit", "pot_limit", "fixed_limit")

type Mode = Literal["step", "percent", "breakpoints"]
type Players = Annotated[int, Meta(ge=2, le=10)]
type Version = Annotated[int, Meta(ge=1, le=CHIPS_MAX)]
type Unit = Annotated[int, Meta(ge=1, le=CHIPS_MAX)]

_RATES: Final[dict[Mode, tuple[str, ...]]] = {
    "step": ("step_pot", "step_rake"),
    "percent": ("basis_points",),
    "breakpoints": ("thresholds",),
}
"""The fields of a band that each mode reads, and must have."""


class Band(Data, frozen=True):
    """The rates for a number of players dealt in; only those of the schedule's mode are given (R107, R108)."""

    players: tuple[Players, Players]
    cap: Chips | None = None
    step_pot: Unit | None = None
    step_rake: Chips | None = None
    basis_points: Annotated[int, Meta(ge=0, le=10_000)] | None = None
    thresholds: tuple[tuple[Chips, Chips], ...] | None = None


class Alone(Data, frozen=True):
    """One schedule, with the fields that it has in a table's configuration."""

    id: Id
    version: Version
    mode: Mode
    bands: tuple[Band, ...]
    minimum: Chips = 0
    round_to: Unit = 1
    no_flop_no_drop: bool = True
    allocation: Literal["proportional", "main_first"] = "proportional"
    attribution: Literal["dealt", "weighted"] = "dealt"


class OfStakes(Data, frozen=True):
    """A schedule of a family: from the `lowest` stake on, to the `highest`, or to where the next one begins."""

    id: Id
    bands: tuple[Band, ...]
    lowest: Chips = 0
    highest: Chips | None = None


class Family(Data, frozen=True):
    """Schedules of one house, the lowest stakes first; all have the family's version and its other fields.

    `stake`: the amount of a table's stakes that `lowest` and `highest` bound. `source` says where it was published.
    """

    family: Id
    version: Version
    limits: tuple[Limit, ...]
    stake: Literal["small_bet", "big_blind"]
    mode: Mode
    schedules: tuple[OfStakes, ...]
    money: Literal["real"] = "real"
    minimum: Chips = 0
    round_to: Unit = 1
    no_flop_no_drop: bool = True
    allocation: Literal["proportional", "main_first"] = "proportional"
    attribution: Literal["dealt", "weighted"] = "dealt"
    source: str = ""

    def schedule(self, row: OfStakes) -> RakeSchedule:
        """One of the family's schedules, as a table has it."""
        return RakeSchedule(
            id=row.id,
            version=self.version,
            mode=self.mode,
            bands=tuple(map(_band, row.bands)),
            minimum=self.minimum,
            round_to=self.round_to,
            no_flop_no_drop=self.no_flop_no_drop,
            allocation=self.allocation,
            attribution=self.attribution,
        )

    def chosen(self, money: Money, limit: Limit, stakes: Stakes) -> RakeSchedule | None:
        """The schedule for a table; None for play money, which is never raked (R113), and where the family has none.

        Of the players dealt in a schedule itself takes the band, hand by hand (R108).
        """
        if money != self.money or limit not in self.limits:
            return None
        stake = self.stake_of(stakes)
        fitting = [
            row for row in self.schedules if row.lowest <= stake <= (stake if row.highest is None else row.highest)
        ]
        return self.schedule(fitting[-1]) if fitting else None

    def stake_of(self, stakes: Stakes) -> Chips:
        """The amount by which the family chooses. A small bet that is not given is the big blind (R66)."""
        return stakes.big_blind if self.stake == "big_blind" else stakes.small_bet or stakes.big_blind


def family_of(text: str) -> Family:
    """What a file says: a family, or a schedule alone as a family for all limits and stakes. Raises `Faulty`."""
    try:
        written = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise Faulty([f"this is not TOML: {error}"]) from error
    if "family" in written or "schedules" in written:
        family = read(written, Family)
        faults = [*_faults(family), *_faults_of_bands(family, "schedules[{}].bands[{}]")]
    else:
        family = _of_one(read(written, Alone))
        faults = list(_faults_of_bands(family, "bands[{1}]"))
    if faults:
        raise Faulty(faults)
    return family


def _of_one(alone: Alone) -> Family:
    return Family(
        family=alone.id,
        version=alone.version,
        limits=LIMITS,
        stake="big_blind",
        mode=alone.mode,
        schedules=(OfStakes(id=alone.id, bands=alone.bands),),
        minimum=alone.minimum,
        round_to=alone.round_to,
        no_flop_no_drop=alone.no_flop_no_drop,
        allocation=alone.allocation,
        attribution=alone.attribution,
    )


def _band(band: Band) -> RakeBand:
    return RakeBand(
        players=band.players,
        cap=band.cap,
        step_pot=band.step_pot or 0,
        step_rake=band.step_rake or 0,
        basis_points=band.basis_points or 0,
        thresholds=band.thresholds or (),
    )


def _faults(family: Family) -> Iterator[str]:
    """What each field alone does not show: how the schedules follow on each other."""
    if not family.limits:
        yield f"limits: an empty list is not accepted; one or more of {', '.join(map(repr, LIMITS))} are"
    if not family.schedules:
        yield "schedules: an empty list is not accepted; one or more are"
    before: OfStakes | None = None
    for index, row in enumerate(family.schedules):
        path = f"schedules[{index}]"
        if row.highest is not None and row.highest < row.lowest:
            yield f"{path}.highest: {row.highest} is not accepted; {row.lowest}, which is `lowest`, or more is"
        if before is not None and row.lowest <= (before.lowest if before.highest is None else before.highest):
            yield f"{path}.lowest: {row.lowest} is not accepted; more than the schedule before it reaches is"
        if any(row.id == other.id for other in family.schedules[:index]):
            yield f"{path}.id: {row.id!r} is not accepted twice; each schedule has an id of its own"
        before = row


def _faults_of_bands(family: Family, path: str) -> Iterator[str]:
    for index, row in enumerate(family.schedules):
        for number, band in enumerate(row.bands):
            yield from _faults_of_rates(path.format(index, number), family.mode, band)


def _faults_of_rates(path: str, mode: Mode, band: Band) -> Iterator[str]:
    for of, fields in _RATES.items():
        for field in fields:
            given = getattr(band, field)
            if of == mode and given in (None, ()):
                yield f"{path}.{field}: is missing; the mode {mode!r} needs it"
            if of != mode and given is not None:
                yield f"{path}.{field}: is not accepted; the mode {mode!r} goes by {' and '.join(_RATES[mode])}"
