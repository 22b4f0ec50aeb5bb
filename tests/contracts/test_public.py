"""DESIGN 5: nothing of a seat that everybody may see is forgotten, and no more of it is shown.

The client's picture and the answer to `query.table` are both made of these: to compare them would show nothing wrong.
"""

from datetime import UTC, datetime, timedelta

from msgspec.structs import asdict

from contracts.events.state import HandPlayer, Reservation, SeatRecord, Turn
from contracts.lasting import NEVER
from contracts.public import public_reservation, public_seat, public_seat_in_hand, turn_ends

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
BOB = SeatRecord(
    seat=2, player="bob", stack=4000, sat=7, sitting_out=True, away=True, timed_out=True, leaving=True, removed=True,
    owes="missed_big", choice="post", top_up=700, request=9, requested=650, request_expires=NOON + timedelta(hours=2),
    connected=False, time_bank=12_000, bank_hands=3, sat_out_at=NOON, missed=4,
)  # fmt: skip
"""No field is as it is at first."""
PLAYING = HandPlayer(
    seat=2, player="bob", stack=3900, street_total=60, total=100, dead=25, folded=True, acted=True, seen=50,
    protected=True,
)  # fmt: skip
TURN = Turn(seat=2, check=False, act_ms=20_000, call=100, bank_ms=12_000)
SEEN = {
    "seat": 2, "player": "bob", "stack": 4000, "sitting_out": True, "in_hand": False, "folded": False,
    "street_total": 0, "connected": False, "protected": False, "time_bank": 12_000, "sat_out_at": NOON,
    "owes": "missed_big",
}  # fmt: skip


def test_a_seat_is_shown_with_all_that_everybody_may_see_of_it() -> None:
    assert asdict(public_seat(BOB)) == SEEN


def test_the_seat_of_who_is_dealt_in_is_shown_as_the_hand_has_it() -> None:
    played = {"stack": 3900, "in_hand": True, "folded": True, "street_total": 60, "protected": True}
    assert asdict(public_seat_in_hand(public_seat(BOB), PLAYING)) == SEEN | played


def test_a_reservation_is_shown_without_its_chips() -> None:
    kept = Reservation(seat=4, player="dan", number=9, expires=NOON, buy_in=8000, choice="post")
    assert asdict(public_reservation(kept)) == {"seat": 4, "player": "dan", "expires": NOON}


def test_a_turn_is_over_after_its_time_the_bank_and_the_time_for_who_is_disconnected() -> None:
    """R116 to R118: 20 s to act, 12 s of the bank, and 15 s more."""
    assert turn_ends(TURN, NOON, 0) == NOON + timedelta(seconds=32)
    assert turn_ends(TURN, NOON, 15_000) == NOON + timedelta(seconds=47)
    assert turn_ends(TURN, NEVER, 0) == NEVER


def test_a_turn_that_is_not_open_has_no_end() -> None:
    assert turn_ends(TURN, None, 15_000) is None
    assert turn_ends(None, NOON, 0) is None
