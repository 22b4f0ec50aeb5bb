"""The rake schedules that houses have published (RULES 9.1): one TOML file beside this for each family of them."""

from functools import cache
from importlib.resources import files
from typing import Final

from contracts.data import Id
from contracts.games import Limit, RakeSchedule, Stakes
from services.rake.families import Family, family_of

NAMES: Final[tuple[Id, ...]] = ("party-fl", "party-pl-nl", "prima-fl", "bodog", "stars")
"""The families."""


@cache
def family(name: Id) -> Family:
    """A family by its name. Raises KeyError for one that is not in `NAMES`."""
    if name not in NAMES:
        raise KeyError(name)
    return family_of((files(__name__) / f"{name}.toml").read_text(encoding="utf-8"))


def party(limit: Limit, stakes: Stakes) -> RakeSchedule:
    """PartyPoker's schedule for a table. Fixed limit goes by the lower bet, pot-limit and no-limit by the big blind.

    Stakes that the chart leaves out belong to the range below them, the very smallest to the first range.
    """
    chosen = family("party-fl" if limit == "fixed_limit" else "party-pl-nl").chosen("real", limit, stakes)
    assert chosen is not None  # the two families are for every limit and stake
    return chosen
