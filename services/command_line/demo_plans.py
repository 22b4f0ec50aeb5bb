"""What a demo plays: a table for each game, whose chips they are, and what befalls it."""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Final

from contracts.games import RULES_VERSION, Options
from services.bots.games import GAMES, SEATS, config_of, stakes_of
from services.bots.incidents import INCIDENTS, Incident
from services.bots.table import Plan
from services.rake.schedules import party

ROOM: Final = "main"
LEDGER: Final = "real-USD"
"""Where the money is that the demo's tables play for."""
OF_THE_CASHIER: Final = Options(rules=RULES_VERSION, time_bank_ms=10_000, disconnect_ms=10_000)
HURRIED: Final = Options(rules=RULES_VERSION, act_ms=500, time_bank_ms=500, disconnect_ms=10_000)
"""Where a player's time runs out, nobody wants to wait for it."""


def games_of(names: str) -> tuple[str, ...]:
    """The games in a list with commas. Raises ValueError for one that is not played."""
    games = tuple(dict.fromkeys(name.strip() for name in names.split(",") if name.strip()))
    unknown = [game for game in games if game not in GAMES]
    if unknown or not games:
        raise ValueError(f"games are {', '.join(GAMES)}; not {', '.join(unknown) or 'none'}")
    return games


def plans(games: Sequence[str], hands: int, seed: int, taken: Iterable[str]) -> list[Plan]:
    """A table of each game. The players buy in at the cashier's, but for the last table, if there is another.

    What befalls a room is spread over the cashier's tables: one incident for each as long as there are enough of them.
    """
    names = set(taken)
    of_the_lobby = games[-1] if len(games) > 1 else None
    shared = [game for game in games if game != of_the_lobby]
    found = []
    for game in games:
        name = _free_name(game, names)
        if game == of_the_lobby:
            rake = party(GAMES[game][1], stakes_of(game))
            found.append(Plan(ROOM, name, config_of(game, rake), SEATS, hands, seed))
        else:
            place = shared.index(game)
            incidents = tuple(INCIDENTS)[place :: len(shared)]
            found.append(_plan_of_the_cashier(game, name, hands, seed, incidents, refuses=place == 0))
    return found


def _plan_of_the_cashier(
    game: str, name: str, hands: int, seed: int, incidents: tuple[Incident, ...], *, refuses: bool
) -> Plan:
    options = HURRIED if "times_out" in incidents else OF_THE_CASHIER
    config = config_of(game, party(GAMES[game][1], stakes_of(game)), "cashier", options)
    return Plan(ROOM, name, config, SEATS, hands, seed, incidents, refuses)


def _free_name(game: str, taken: set[str]) -> str:
    """A name that no table of an earlier demo over the same folder has."""
    return next(name for number in count(1) if (name := game if number == 1 else f"{game}-{number}") not in taken)
