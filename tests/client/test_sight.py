"""DESIGN 5: views may be lost, doubled and overtaken, and the picture is true all the same."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from contracts.client.sight import HELD_MAX, Sight
from contracts.events.table import ActionTaken
from contracts.games import BuyIn
from contracts.views import PublicView
from tests.client.test_picture import played
from tests.client.watching import Shown
from tests.table.cash import cash

GAME = played(replace(cash(seats=4, act_ms=5_000, buy_in=BuyIn(minimum=200, maximum=2_000)), bankroll="lobby"), seed=5)
"""One game for all: what differs is what of it arrives."""


def drawn(sight: Sight) -> list[int]:
    """The numbers of all that is in order now, each held against the truth."""
    numbers = []
    while (view := sight.follow()) is not None:
        assert sight.table == GAME.pictures[view.n - 1]
        numbers.append(view.n)
    return numbers


def test_views_in_order_are_given_one_by_one() -> None:
    sight, numbers = Sight(), list[int]()
    for view in GAME.views:
        assert sight.take(view)
        assert sight.has_next
        numbers += drawn(sight)
        assert not sight.missing
    assert numbers == [view.n for view in GAME.views]


def test_a_view_that_was_overtaken_is_waited_for() -> None:
    sight = Sight()
    for view in (GAME.views[0], GAME.views[2]):
        assert sight.take(view)
    assert drawn(sight) == [1]
    assert (sight.missing, sight.known) == (True, 3)
    assert sight.take(GAME.views[1])
    assert drawn(sight) == [2, 3]
    assert not sight.missing


def test_a_view_that_came_before_is_not_taken_again() -> None:
    sight = Sight()
    assert sight.take(GAME.views[0])
    assert not sight.take(GAME.views[0])
    assert drawn(sight) == [1]
    assert not sight.take(GAME.views[0])
    assert drawn(sight) == []


def test_the_whole_picture_takes_the_place_of_what_was_lost_and_an_older_one_does_not() -> None:
    sight = Sight()
    assert sight.restart(GAME.pictures[4])
    assert sight.take(GAME.views[7])
    assert sight.missing
    assert not sight.restart(GAME.pictures[3])
    assert (sight.n, sight.missing) == (5, True)
    assert sight.restart(GAME.pictures[6])
    assert drawn(sight) == [8]
    assert not sight.restart(GAME.pictures[7])


def test_a_view_that_does_not_follow_on_the_picture_leaves_a_gap_until_there_is_a_newer_one() -> None:
    """A view of a table that nobody holds a seat at, say: whatever it is, the picture stays true."""
    sight = Sight()
    assert sight.restart(replace(GAME.pictures[9], n=10, seats=()))
    act = next(view for view in GAME.views if any(isinstance(event, ActionTaken) for event in view.events))
    assert sight.take(replace(act, n=11, previous=10))
    assert sight.follow() is None
    assert (sight.n, sight.missing) == (10, True)
    assert not sight.restart(replace(GAME.pictures[9], n=10))
    assert sight.missing
    assert sight.restart(replace(GAME.pictures[10], n=11))
    assert not sight.missing


def test_who_does_not_look_for_long_keeps_no_more_than_so_many_views() -> None:
    sight, last = Sight(), GAME.views[-1]
    for n in range(1, 3 * HELD_MAX):
        sight.take(replace(last, n=n, previous=n - 1))
    assert sight.missing
    assert sight.known == 3 * HELD_MAX - 1


@given(seed=st.integers(0, 2**32))
def test_whatever_is_lost_doubled_and_overtaken_the_picture_is_true(seed: int) -> None:
    """Each view late by a few places, twice, or never; now and then somebody answers, perhaps with an old picture."""
    chance, sight = Random(seed), Sight()
    arriving = [
        (view.n + chance.choice((0, 0, 0, 1, 3)), view)
        for view in GAME.views
        for _ in range(chance.choice((0, 1, 1, 1, 2)))
    ]
    shown: list[PublicView] = [view for _, view in sorted(arriving, key=lambda each: each[0])]
    numbers: list[int] = []
    for place, view in enumerate(shown):
        sight.take(view)
        numbers += drawn(sight)
        if sight.missing and chance.random() < 0.5:
            known = GAME.pictures[min(place, len(GAME.pictures) - 1) if chance.random() < 0.3 else sight.known - 1]
            sight.restart(known)
            assert sight.table is None or sight.table == GAME.pictures[sight.n - 1]
            numbers += drawn(sight)
    assert numbers == sorted(set(numbers))
    sight.restart(GAME.pictures[-1])
    assert (sight.table, sight.missing) == (GAME.pictures[-1], False)


def test_the_game_is_one_worth_looking_at() -> None:
    assert isinstance(GAME, Shown)
    kinds = {type(event).__name__ for view in GAME.views for event in view.events}
    assert {"HandStarted", "BoardDealt", "HandsShown", "HandEnded", "PlayerSeated"} <= kinds
