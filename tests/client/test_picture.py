"""DESIGN 5: who follows the public views sees the table as it is, and can check every card that is shown."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.games import TableConfig
from tests.client.watching import Shown
from tests.table.test_cash_properties import somebody, tables
from tests.table.test_properties import chosen

STEPS = 60
EXAMPLES = 25


def played(table: TableConfig, seed: int) -> Shown:
    """Hands at a table around which all kinds of things happen."""
    game, chance = Shown(table), Random(seed)
    for _ in range(STEPS):
        turn = game.turn
        if turn is not None and chance.random() < 0.8:
            game.send("player", game.table.seats[turn.seat].player, chosen(game, turn, chance))
        elif game.table.status != "closed":
            somebody(game, chance)
        game.wait(chance.choice((0, 1, 100, 1000, 6000)))
        for _ in range(STEPS):
            if not game.owed():
                break
    return game


@settings(max_examples=EXAMPLES)
@given(table=tables(), seed=st.integers(0, 2**32))
def test_after_every_view_the_picture_is_the_one_that_is_answered_for_the_whole(table: TableConfig, seed: int) -> None:
    played(table, seed)
