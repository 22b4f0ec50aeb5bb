"""Which place in the deck goes where: the worked examples D01 to D03, and every table size."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.dealing import BOARD_STREETS, board_positions, hole_positions

VECTORS = json.loads((Path(__file__).parent.parent / "rules" / "vectors.json").read_text())["vectors"]
DEALS = [vector for vector in VECTORS if vector["kind"] == "deal"]


@pytest.mark.parametrize("vector", DEALS, ids=[vector["id"] for vector in DEALS])
def test_the_deck_is_dealt_as_the_rule_book_shows(vector: dict[str, Any]) -> None:
    """R33, R34, R35, R36."""
    deal, expected = vector["input"], vector["expect"]
    deck, order = deal["deck_top_first"], deal["order"]
    holes = hole_positions(order, deal["hole_cards"])
    streets = [board_positions(street, len(order) * deal["hole_cards"], burn=deal["burn"]) for street in BOARD_STREETS]
    used = [*(place for places in holes.values() for place in places)]
    used += [place for street in streets for place in (street.burn, *street.cards) if place is not None]
    assert {
        "hole": {str(seat): [deck[place] for place in places] for seat, places in holes.items()},
        "burns": [deck[street.burn] for street in streets if street.burn is not None],
        "board": [deck[place] for street in streets for place in street.cards],
        "cards_left": len(deck) - len(used),
    } == expected


def test_the_rule_book_has_three_deals() -> None:
    assert [vector["id"] for vector in DEALS] == ["D01", "D02", "D03"]


@given(players=st.integers(2, 10), cards_each=st.sampled_from([2, 4]), burn=st.booleans())
def test_cards_come_off_the_top_one_after_the_other(players: int, cards_each: int, burn: bool) -> None:  # noqa: FBT001
    """R2, R31, R35: no place is used twice and none is passed over, also with ten players and four cards each."""
    holes = hole_positions(range(1, players + 1), cards_each)
    streets = [board_positions(street, players * cards_each, burn=burn) for street in BOARD_STREETS]
    used = sorted(place for places in holes.values() for place in places)
    for street in streets:
        used += [*(() if street.burn is None else (street.burn,)), *street.cards]
    assert used == list(range(players * cards_each + 5 + 3 * burn))
    assert used[-1] < 52


def test_no_board_is_dealt_before_the_flop() -> None:
    """R36."""
    with pytest.raises(ValueError, match="no board cards are dealt preflop"):
        board_positions("preflop", 4, burn=True)
