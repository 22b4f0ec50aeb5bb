"""So many in all, so many of one, and nothing is kept of whoever has none."""

import contextlib

from hypothesis import given
from hypothesis import strategies as st

from services.bus.shares import Shares


def test_one_gets_a_share_and_the_others_what_is_left() -> None:
    shares: Shares[str] = Shares(in_all=3, of_one=2)
    shares.comes("ann")
    shares.comes("ann")
    assert (shares.is_full("ann"), shares.is_full("bob"), shares.is_full(None)) == (True, False, False)
    shares.comes("bob")
    assert (shares.is_full("bob"), shares.is_full("cat"), shares.is_full(None)) == (True, True, True)
    shares.leaves("ann")
    assert (shares.is_full("ann"), shares.is_full("cat")) == (False, False)


def test_who_has_no_share_of_their_own_is_bound_by_the_whole_alone() -> None:
    shares: Shares[str] = Shares(in_all=3, of_one=1)
    for _ in range(3):
        assert not shares.is_full(None)
        shares.comes(None)
    assert shares.is_full(None)
    assert shares.holders == 0


@given(st.lists(st.sampled_from(["ann", "bob", None])))
def test_whoever_has_none_any_more_is_forgotten(came: list[str | None]) -> None:
    shares: Shares[str] = Shares(in_all=100, of_one=100)
    for whose in came:
        shares.comes(whose)
    assert (shares.count, shares.holders) == (len(came), len({*came} - {None}))
    for whose in came:
        shares.leaves(whose)
    assert (shares.count, shares.holders) == (0, 0)


def test_a_share_that_is_taken_is_given_back_whatever_happens() -> None:
    shares: Shares[str] = Shares(in_all=1, of_one=1)
    with contextlib.suppress(ZeroDivisionError), shares.taken("ann"):
        assert shares.is_full("ann")
        raise ZeroDivisionError
    assert not shares.is_full("ann")
