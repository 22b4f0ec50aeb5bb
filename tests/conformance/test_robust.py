"""Whatever a line says, it agrees, differs, is not covered or cannot be read; the checker itself never breaks down."""

import json
from functools import cache
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from services.conformance.findings import Skipped
from services.conformance.judging import check_case
from services.conformance.recorded import Recorded
from tests.conformance.cases import SAMPLES, lines

VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 12),
    st.sampled_from([0, -1, 10**6, 2**53 - 1, 2**53, 2**63, 2**70]),
    st.sampled_from(["", "As", "7d", "fold", "raise", "river", "ante", "plo8", "straddle"]),
    st.lists(st.integers(-1, 11), max_size=3),
    st.dictionaries(st.sampled_from(["0", "1", "7", "seat"]), st.integers(-1, 100), max_size=2),
)


@cache
def hands() -> list[str]:
    return [json.dumps(hand) for path in SAMPLES for hand in lines(path)]


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a JSON value."""
    found = [path] if path else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        found += places(inner, (*path, key))
    return found


@given(data=st.data())
def test_a_hand_altered_anywhere_is_judged(data: st.DataObject) -> None:
    hand = json.loads(data.draw(st.sampled_from(hands())))
    for _ in range(data.draw(st.integers(1, 3))):
        *path, last = data.draw(st.sampled_from(places(hand)))
        inner = hand
        for key in path:
            inner = inner[key]
        if data.draw(st.booleans()):
            inner[last] = data.draw(VALUES)
        else:
            del inner[last]
    try:
        case = msgspec.json.decode(json.dumps(hand).encode(), type=Recorded)
        check_case(case)
    except (msgspec.MsgspecError, Skipped):
        return
