"""Chips that wait for the end of a hand in which the table's options change (R7, R8)."""

import pytest
from msgspec.structs import replace

from contracts.commands import ChangeOptions, TopUp, VoidHand
from contracts.events.seats import StackToppedUp
from contracts.games import BuyIn
from services.dealer.scripted import Script
from tests.table.cash import does
from tests.table.stories import Game, all_in, call, config, fold_


@pytest.mark.parametrize(("rules", "stack"), [(1, 20_000), (2, 20_000), (3, 8000)])
@pytest.mark.parametrize("ends", ["played", "cancelled"])
def test_a_top_up_that_was_queued_obeys_the_options_that_the_next_hand_is_played_by(
    rules: int, stack: int, ends: str
) -> None:
    """R7: the maximum falls from 20000 to 8000 in the hand that 15000 wait for; before rules 3 the old one counts."""
    table = config(buy_in=BuyIn(minimum=4000, maximum=20_000), rules=rules)
    game = Game(table).given({1: 5000, 2: 5000, 3: 5000}, button=3)
    does(game, "lobby", "L1", TopUp(id="", player="P3", amount=15_000))
    lower = replace(table, buy_in=BuyIn(minimum=4000, maximum=8000))
    does(game, "operator", "O1", ChangeOptions(id="", config=lower, reason="smaller stacks"))
    if ends == "played":
        game.when(fold_(3), fold_(1))
    else:
        does(game, "operator", "O1", VoidHand(id="", reason="a misdeal"))
    added = stack - 5000
    assert game.last(StackToppedUp) == StackToppedUp(seat=3, amount=added, stack=stack, unused=15_000 - added)


@pytest.mark.parametrize(("rules", "stack"), [(2, 4000), (3, 0)])
def test_who_lost_everything_needs_the_least_that_the_next_hand_is_played_for(rules: int, stack: int) -> None:
    """R8: the minimum rises to 5000 while 4000 wait."""
    table = config(buy_in=BuyIn(minimum=4000), rules=rules)
    script = Script({1: ("As", "Ad"), 3: ("2c", "7d")}, ("Ac", "Kd", "9h", "8s", "3c"))
    game = Game(table, script).given({1: 5000, 2: 5000, 3: 200}, button=3)
    does(game, "lobby", "L1", TopUp(id="", player="P3", amount=4000))
    higher = replace(table, buy_in=BuyIn(minimum=5000))
    does(game, "operator", "O1", ChangeOptions(id="", config=higher, reason="larger stacks"))
    game.when(all_in(3), call(1), fold_(2))
    assert game.last(StackToppedUp) == StackToppedUp(seat=3, amount=stack, stack=stack, unused=4000 - stack)
    assert game.table.seats[3].sitting_out is (stack == 0)
