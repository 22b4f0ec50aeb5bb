"""Rake schedules as rule vectors write them."""

from typing import Literal

import msgspec

from contracts.games import RakeBand, RakeSchedule


class VectorBand(msgspec.Struct, frozen=True):
    """The rates for a number of players dealt in."""

    players: tuple[int, int]
    cap: int | None = None
    step_pot: int = 0
    step_rake: int = 0
    bp: int = 0
    breakpoints: tuple[tuple[int, int], ...] = ()


class VectorSchedule(msgspec.Struct, frozen=True):
    """A rake schedule."""

    mode: Literal["step", "percent", "breakpoints"]
    bands: tuple[VectorBand, ...]
    id: str = "vector"
    min_rake: int = 0
    no_flop_no_drop: bool = True
    play_money: bool = False

    def ours(self, allocation: Literal["proportional", "main_first"], *, no_flop_no_drop: bool) -> RakeSchedule:
        """The same schedule as a table of ours has it."""
        bands = tuple(
            RakeBand(
                players=band.players,
                cap=band.cap,
                step_pot=band.step_pot,
                step_rake=band.step_rake,
                basis_points=band.bp,
                thresholds=band.breakpoints,
            )
            for band in self.bands
        )
        return RakeSchedule(
            id=self.id,
            version=1,
            mode=self.mode,
            bands=bands,
            minimum=self.min_rake,
            no_flop_no_drop=no_flop_no_drop and self.no_flop_no_drop,
            allocation=allocation,
        )
