"""Random hands of all nine games, played here and by PokerKit: legal ranges, pots and stacks come out the same.

`CROUPIER_DIFFERENTIAL_HANDS` sets how many hands are played in all, `--hypothesis-seed` which.
"""

import os
import random
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from contracts.cards import DECK
from contracts.events.settlement import PotsAwarded
from contracts.events.state import Turn
from contracts.games import Limit, Variant
from tests.differential import known
from tests.differential.duel import STAKES, Deal, Duel, chosen, decisions

HANDS: Final = int(os.environ.get("CROUPIER_DIFFERENTIAL_HANDS", "2250"))
VARIANTS: Final[tuple[Variant, ...]] = ("holdem", "omaha", "omaha8")
LIMITS: Final[tuple[Limit, ...]] = ("no_limit", "pot_limit", "fixed_limit")
GAMES: Final = len(VARIANTS) * len(LIMITS)
SHORT: Final = st.integers(1, 150)
STACKS: Final = st.one_of(st.integers(100, 1_000), st.integers(1_000, 5_000), SHORT, st.just(10_000))


@st.composite
def deals(draw: st.DrawFn, variant: Variant, limit: Limit) -> Deal:
    """Two to ten players, often short; the big blind has the blind in full (PokerKit counts what was posted)."""
    players = draw(st.integers(2, 10))
    ante = draw(st.sampled_from([0, 0, 10, 25]))
    stacks = draw(st.lists(STACKS, min_size=players, max_size=players))
    big_blind = 1 if players == 2 else 2
    stacks[big_blind] = max(stacks[big_blind], STAKES.big_blind + ante)
    deck = list(DECK)
    random.Random(draw(st.integers(0, 2**32))).shuffle(deck)
    done = draw(st.lists(st.integers(0, 99), max_size=60))
    return Deal(variant, limit, ante, tuple(stacks), tuple(deck), tuple(done))


@pytest.mark.slow
@pytest.mark.timeout(120 + HANDS)
@pytest.mark.filterwarnings("ignore::UserWarning:pokerkit")
@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_hand_comes_out_as_in_pokerkit(variant: Variant, limit: Limit) -> None:
    """R38 to R105, decision by decision, but for what `known` names."""

    @settings(max_examples=-(-HANDS // GAMES), suppress_health_check=list(HealthCheck), deadline=None)
    @given(deals(variant, limit))
    def play(deal: Deal) -> None:
        compare(deal)

    play()


@settings(max_examples=1, deadline=None)
@given(
    st.just(
        Deal(
            variant="omaha8",
            limit="pot_limit",
            ante=25,
            stacks=(127, 100, 10000, 126, 100, 10000),
            deck=(
                "9c",
                "5c",
                "Kd",
                "Qd",
                "Jh",
                "3s",
                "3d",
                "Jc",
                "2d",
                "Ad",
                "Td",
                "2c",
                "3c",
                "Ts",
                "7c",
                "5h",
                "As",
                "9d",
                "Th",
                "Kc",
                "Js",
                "4s",
                "Qh",
                "6d",
                "5s",
                "4h",
                "7d",
                "8s",
                "Ah",
                "7s",
                "2s",
                "Qs",
                "4d",
                "Ks",
                "3h",
                "Qc",
                "6h",
                "4c",
                "Kh",
                "5d",
                "Jd",
                "7h",
                "9h",
                "6s",
                "8d",
                "9s",
                "Tc",
                "6c",
                "2h",
                "8h",
                "Ac",
                "8c",
            ),
            decisions=(60, 0, 20, 60),
        )
    )
)
def test_after_a_call_of_a_short_all_in_another_one_reopens_nothing(deal: Deal) -> None:
    """R55: all-in for 101 over a limp, called, then all-in for 102: who called 101 may call 1 and not raise."""
    compare(deal)


def compare(deal: Deal) -> None:
    duel = Duel(deal)
    given_decisions = decisions(deal.decisions)
    while (turn := duel.turn) is not None:
        seat, ranges = _theirs(duel)
        assert turn.seat == seat
        raises = _compare_ranges(duel, turn, ranges)
        action, to = chosen(turn, next(given_decisions) if raises else next(given_decisions) % 60)
        duel.act(action, to)
    _let_the_last_player_check(duel)
    _compare_ends(duel)


def _theirs(duel: Duel) -> tuple[int, tuple[int, Any, Any]]:
    """Who is to act in PokerKit, the chips to call, and the range of a bet or raise."""
    state = duel.oracle.state
    assert state.actor_index is not None
    return duel.order[state.actor_index], (
        state.checking_or_calling_amount or 0,
        state.min_completion_betting_or_raising_to_amount,
        state.max_completion_betting_or_raising_to_amount,
    )


def _compare_ranges(duel: Duel, turn: Turn, theirs: tuple[int, Any, Any]) -> bool:
    """Compares what is offered; False where no raise may follow, because PokerKit would raise by other rules."""
    hand = duel.hand
    assert hand is not None
    assert (turn.call or 0) == theirs[0]
    if known.short_bet_in_limit(duel.config, hand):
        event("all-in for less than a full bet in limit: ranges of the round not compared")
        return False
    if known.reopened_by_short_all_in(hand, turn):
        event("short all-in over a check or a limp: PokerKit lets the player raise")
        return True
    assert (turn.minimum, turn.maximum) == theirs[1:]
    return True


def _let_the_last_player_check(duel: Duel) -> None:
    """R48: PokerKit asks the only player with chips, who has nothing to call, to check."""
    state = duel.oracle.state
    while state.actor_index is not None:
        assert state.checking_or_calling_amount == 0
        assert sum(stack > 0 for stack, live in zip(state.stacks, state.statuses, strict=True) if live) == 1
        duel.oracle.check_or_call()
    assert not state.status


def _compare_ends(duel: Duel) -> None:
    end = duel.end()
    assert end.closed is not None
    assert end.awards is not None
    assert end.stacks is not None
    theirs = {duel.order[index]: int(stack) for index, stack in enumerate(duel.oracle.state.stacks)}
    assert sum(theirs.values()) == sum(end.stacks.values())
    if len(end.contenders) > 1:
        pots = [(amount, {duel.order[index] for index in players}) for amount, players in duel.oracle.pots]
        assert [(pot.amount, set(pot.seats)) for pot in end.closed.pots] == pots
    _compare_stacks(end.stacks, theirs, end.awards)


def _compare_stacks(ours: dict[int, int], theirs: dict[int, int], awards: PotsAwarded) -> None:
    if known.low_in_some_pots_only(awards):
        event("a low qualifies in some pots only: stacks not compared")
        return
    odd = known.odd_chips(awards)
    event(f"odd chips: {min(odd, 3)}")
    assert all(abs(ours[seat] - theirs[seat]) <= odd for seat in ours), (ours, theirs, odd)
