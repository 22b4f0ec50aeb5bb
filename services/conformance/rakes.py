"""The rake that a room took, as a schedule by which our rake service takes the same, or as the event itself."""

import re
from typing import Final, Literal

from contracts.events.rake import RakeTaken
from contracts.games import RakeBand, RakeSchedule
from services.aggregate.table import Table
from services.conformance.recorded import Recorded

EVERYBODY: Final = (2, 10)
RECORDED: Final = "recorded"
"""The id of a schedule that was made for one hand."""


def schedule(hand: Recorded) -> RakeSchedule | None:
    """A schedule that takes the recorded total from the recorded pot; None where nothing was taken, or is known.

    A percentage that the record names is taken as such; else the pot itself is the one break-point.
    """
    if not hand.rake or hand.total_pot is None:
        return None
    rate = re.match(r"(\d+) % of the pot", hand.rake_rule or "")
    band = (
        RakeBand(players=EVERYBODY, basis_points=int(rate[1]) * 100)
        if rate is not None
        else RakeBand(players=EVERYBODY, thresholds=((hand.total_pot, hand.rake),))
    )
    mode: Literal["percent", "breakpoints"] = "percent" if rate is not None else "breakpoints"
    allocation: Literal["main_first", "proportional"] = (
        "main_first" if "all from the main pot" in (hand.rake_rule or "") else "proportional"
    )
    return RakeSchedule(id=RECORDED, version=1, mode=mode, bands=(band,), no_flop_no_drop=False, allocation=allocation)


def in_its_place(hand: Recorded, table: Table) -> RakeTaken | None:
    """The rake of a room that divided it over the pots as no schedule of ours does; None where one does."""
    pots = [pot.amount for pot in table.hand.pots] if table.hand is not None else []
    by_pot = shares(hand, pots)
    if by_pot is None or hand.rake is None or table.hand is None:
        return None
    return RakeTaken(
        schedule=RECORDED,
        version=1,
        players=len(table.hand.players),
        base=sum(pots),
        computed=hand.rake,
        total=sum(by_pot),
        per_pot=tuple(by_pot),
    )


def shares(hand: Recorded, pots: list[int]) -> list[int] | None:
    """What the record says of the rake of each pot; None where a schedule of ours divides it in the same way."""
    rule = hand.rake_rule or ""
    if not hand.rake or len(pots) < 2:  # noqa: PLR2004
        return None
    by_pot = [0] * len(pots)
    if "remainder from the last pot" in rule:
        by_pot = [hand.rake * pot // sum(pots) for pot in pots]
        by_pot[-1] += hand.rake - sum(by_pot)
        return by_pot
    if "all from the last pot" in rule or "all from the side pot" in rule:
        by_pot[-1] = hand.rake
        return by_pot
    named = re.findall(r"(\d+) from (?:the )?(main|side) pot(?:[ -](\d+))?", rule)
    for amount, kind, number in named:
        by_pot[0 if kind == "main" else min(int(number or 1), len(pots) - 1)] += int(amount)
    return by_pot if named else None
