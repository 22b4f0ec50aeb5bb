"""The games that bots play, by their short names: stakes, buy-ins and rake as a small cash room has them."""

from typing import Final, Literal

from contracts.games import BuyIn, Limit, Options, RakeSchedule, Stakes, TableConfig, Variant

GAMES: Final[dict[str, tuple[Variant, Limit]]] = {
    "nlhe": ("holdem", "no_limit"),
    "plo": ("omaha", "pot_limit"),
    "lo": ("omaha", "fixed_limit"),
    "lo8": ("omaha8", "fixed_limit"),
    "plo8": ("omaha8", "pot_limit"),
    "lhe": ("holdem", "fixed_limit"),
    "plhe": ("holdem", "pot_limit"),
    "nlo": ("omaha", "no_limit"),
    "nlo8": ("omaha8", "no_limit"),
}
SHOWN: Final = ("nlhe", "plo", "lo", "lo8", "plo8", "lhe", "plhe")
"""The seven games of the demo."""
BIG_BLIND: Final = 200
SEATS: Final = 6


def stakes_of(game: str) -> Stakes:
    """$1/$2, or a $2/$4 limit."""
    if GAMES[game][1] == "fixed_limit":
        return Stakes(small_blind=BIG_BLIND // 2, big_blind=BIG_BLIND, small_bet=BIG_BLIND, big_bet=2 * BIG_BLIND)
    return Stakes(small_blind=BIG_BLIND // 2, big_blind=BIG_BLIND)


def config_of(
    game: str,
    rake: RakeSchedule | None,
    bankroll: Literal["lobby", "cashier"] = "lobby",
    options: Options = Options(),  # noqa: B008 - it cannot be changed
) -> TableConfig:
    """A table of one of these games. Raises KeyError for another name."""
    variant, limit = GAMES[game]
    return TableConfig(
        variant=variant,
        limit=limit,
        stakes=stakes_of(game),
        seats=SEATS,
        buy_in=BuyIn(minimum=10 * BIG_BLIND, maximum=100 * BIG_BLIND),
        rake=rake,
        options=options,
        bankroll=bankroll,
    )
