"""What tables are drawn for a seed: games, stakes, and the house's choices about seats and time."""

from random import Random
from typing import Final, get_args

from contracts.games import BuyIn, Limit, Options, Stakes, TableConfig, Variant
from services.rake.schedules import party

RELEASED_RULES: Final = (1, 2, 3, 3)
"""The rules of tables that every replica knows."""


def drawn_config(random: Random, rules: int | None = None) -> TableConfig:
    """A game for one table, with stacks short enough to go all-in, and now and then with too few seats for everybody.

    `rules`: those of a newer release, if the table has them.
    """
    variant: Variant = random.choice(get_args(Variant.__value__))
    limit: Limit = random.choice(get_args(Limit.__value__))
    stakes = Stakes(small_blind=50, big_blind=100, ante=random.choice((0, 0, 10)))
    if limit == "fixed_limit":
        stakes = Stakes(small_blind=50, big_blind=100, small_bet=100, big_bet=200)
    return TableConfig(
        variant=variant,
        limit=limit,
        stakes=stakes,
        seats=random.choice((2, 3, 6, 6)),
        buy_in=BuyIn(minimum=400, maximum=random.choice((600, 2000, 10_000))),
        options=_drawn_options(random, rules if rules is not None else random.choice(RELEASED_RULES)),
        rake=random.choice((party(limit, stakes), None)),
    )


def _drawn_options(random: Random, rules: int) -> Options:
    bank_ms = random.choice((0, 600, 2000))
    return Options(
        button_mode=random.choice(("moving", "dead")),
        burn_cards=random.choice((True, False)),
        allin_reveal=random.choice(("all", "normal")),
        allin_expose_time=random.choice(("before_board", "at_showdown")),
        act_ms=random.choice((700, 2000, 4000)),
        hand_gap_ms=random.choice((0, 0, 300)),
        rules=rules,
        time_bank_ms=bank_ms,
        time_bank_refill_ms=random.choice((0, 300)) if bank_ms else 0,
        time_bank_refill_hands=random.choice((1, 2)) if bank_ms else 0,
        disconnect_ms=random.choice((0, 500, 2000)),
        disconnect_protection=random.choice(("none", "allin")),
        sit_out_ms=random.choice((0, 0, 3000)),
        sit_out_blinds=random.choice((0, 0, 1, 3)),
        reserve_ms=random.choice((300, 1000, 3000)),
        break_ms=random.choice((0, 0, 0, 8000)),
        rathole_ms=random.choice((0, 2000, 7_200_000)),
    )
