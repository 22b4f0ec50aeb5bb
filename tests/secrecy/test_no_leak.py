"""Nobody is told what is not theirs to know: every message of thousands of hands against the truth of the decks."""

from collections import Counter

import pytest

from services.bots.games import SHOWN
from tests.secrecy.evening import Evening, evening
from tests.secrecy.truth import told_of

EVENINGS, HANDS = 2, 50
MANY_EVENINGS, MANY_HANDS = 12, 100


def assert_everything_happened(evenings: list[Evening]) -> None:
    """So that nothing is found where there is nothing to be found: each of these was there to be told of."""
    happened = sum((each.happened for each in evenings), Counter[str]())
    told = {
        *("hands_shown", "hands_mucked", "hands_revealed", "board_dealt", "hand_voided", "table_restated"),
        *("leave_requested", "sit_out_requested", "top_up_queued", "seat_reserved", "waiting_list_changed"),
        *("top_up_requested", "seat_released", "command_refused", "presence_changed", "stack_topped_up"),
    }
    assert told <= {event for event, times in happened.items() if times > 2}, happened
    read = sum((each.read for each in evenings), Counter[str]())
    kinds = {"view", "picture", "cards sent", "cards asked for", "narration", "record", "refusal"}
    assert kinds == {kind for kind, times in read.items() if times > 100}, read


def test_nobody_is_told_what_is_not_theirs_to_know() -> None:
    """R88, DESIGN 5: no hidden, folded or mucked card, no salt of one, no seed and no key, and no card before its time.

    What the views add up to is what the fold of the log says, after every commit.
    """
    evenings = [evening(game, seed, HANDS) for game in SHOWN for seed in range(EVENINGS)]
    assert told_of(finding for each in evenings for finding in each.findings) == {}
    assert_everything_happened(evenings)


@pytest.mark.slow
@pytest.mark.parametrize("game", SHOWN)
def test_nobody_is_told_it_in_a_thousand_hands_of_each_game(game: str) -> None:
    """The same over many more evenings."""
    evenings = [evening(game, seed, MANY_HANDS) for seed in range(100, 100 + MANY_EVENINGS)]
    assert told_of(finding for each in evenings for finding in each.findings) == {}
