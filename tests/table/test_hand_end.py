"""What the end of a hand says to the cashier, and what a cancelled one does not (R106, R121, R136)."""

from typing import Any

from msgspec.structs import replace

from contracts.commands import LeaveTable, TopUp, VoidHand
from contracts.events.rake import RakeTaken
from contracts.events.seats import StackToppedUp, TopUpQueued, TopUpReleased, TopUpRequested
from contracts.events.table import HandEnded, HandVoided, PlayerLeft
from contracts.games import RakeBand, RakeSchedule, TableConfig
from services.aggregate.movements import moves_chips
from tests.table.cash import at_the_table, cash, does, paid
from tests.table.stories import Game, call, check, raise_to

RAKE = RakeSchedule(id="r", version=1, mode="percent", bands=(RakeBand(players=(2, 10), basis_points=500),))


def dealt(table: TableConfig) -> Game:
    """Button 3, blinds 50/100 from seats 1 and 2."""
    return Game(replace(table, rake=RAKE)).given({1: 5000, 2: 5000, 3: 5000}, button=3)


def checked_down(table: TableConfig) -> Game:
    """A pot of 900, of which 45 are the house's."""
    game = dealt(table).when(raise_to(3, 300), call(1), call(2))
    for _ in ("flop", "turn", "river"):
        game.when(check(1), check(2), check(3))
    assert game.last(RakeTaken).total == 45
    return game


def test_the_end_of_a_hand_says_what_the_house_took_where_the_chips_are_the_cashiers() -> None:
    """R136: the cashier credits it to the house; what is at the table is less by it."""
    game = checked_down(cash())
    assert game.last(HandEnded).rake == 45
    assert at_the_table(game) == 15_000 - 45
    assert moves_chips(game.last(HandEnded))


def test_where_the_chips_are_the_lobbys_nobody_is_told() -> None:
    """R136: logs without a cashier stay as they are."""
    assert checked_down(replace(cash(), bankroll="lobby")).last(HandEnded).rake == 0


def test_a_hand_without_rake_moves_no_chips_of_an_account() -> None:
    """R110: no flop, no drop."""
    game = dealt(cash()).when(raise_to(3, 300))
    game.when(*(_fold(seat) for seat in (1, 2)))
    assert game.last(HandEnded).rake == 0
    assert not moves_chips(game.last(HandEnded))


def _fold(seat: int) -> Any:
    return seat, "fold", None


def test_a_cancelled_hand_leaves_what_the_cashier_was_asked_for() -> None:
    """R121, R136: a paid top-up comes in, one that is not answered stays asked for, and who leaves gives it up."""
    game = dealt(cash(rules=2)).when(raise_to(3, 300))
    for seat, amount in ((1, 700), (2, 800), (3, 900)):
        does(game, "lobby", "L1", TopUp(id="", player=f"P{seat}", amount=amount))
    requests = {event.seat: event.request for event in game.events if isinstance(event, TopUpRequested)}
    paid(game, requests[1])
    assert game.last(TopUpQueued).seat == 1
    does(game, "player", "P3", LeaveTable(id=""))
    voided, *brought = does(game, "operator", "O1", VoidHand(id="", reason="a misdeal"))
    assert isinstance(voided, HandVoided)
    assert not moves_chips(voided)
    assert brought == [
        StackToppedUp(seat=1, amount=700, stack=5700, player="P1"),
        TopUpReleased(seat=3, player="P3", request=requests[3], reason="left"),
        PlayerLeft(seat=3, player="P3", stack=5000, at=game.at),
    ]
    assert (game.table.seats[2].request, game.table.seats[2].requested) == (requests[2], 800)
    assert at_the_table(game) == 5700 + 5000
    paid(game, requests[2])
    assert at_the_table(game) == 5700 + 5800
