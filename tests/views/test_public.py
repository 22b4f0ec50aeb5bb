"""What everybody sees of seats, presence, clocks and cancelled hands, and what nobody does (DESIGN 5)."""

from datetime import UTC, datetime, timedelta

import pytest
from msgspec.structs import replace

from contracts.client.sight import Sight
from contracts.codec import encode
from contracts.commands import SitOut
from contracts.commit import Cause, Commit
from contracts.events import AnyEvent, fact_of
from contracts.events.dealer import HandKeyRevealed
from contracts.events.seats import (
    PresenceChanged,
    SeatReleased,
    SeatReserved,
    StackAdjusted,
    TopUpQueued,
    TopUpReleased,
    TopUpRequested,
    WaitingListChanged,
)
from contracts.events.state import (
    Actor,
    Allowed,
    Betting,
    HandPlayer,
    Positions,
    Reservation,
    SeatRecord,
    TableRecord,
    Turn,
)
from contracts.events.table import (
    ActionTaken,
    CommandRefused,
    HandStarted,
    HandVoided,
    LeaveRequested,
    OptionsChanged,
    PlayerProtected,
    PlayerSeated,
    SitOutRequested,
    TableOpened,
    TableRestated,
    TurnExtended,
)
from contracts.games import BuyIn, Options, Stakes, TableConfig
from contracts.queries import PublicReservation, PublicSeat, PublicTable
from services.aggregate.evolve import evolve
from services.aggregate.table import Table
from services.views.public import public_event, public_table, public_view

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CONFIG = TableConfig(
    variant="holdem",
    limit="no_limit",
    stakes=Stakes(small_blind=50, big_blind=100),
    seats=6,
    buy_in=BuyIn(minimum=400),
    options=Options(act_ms=20_000, time_bank_ms=30_000),
)
ANN = SeatRecord(seat=1, player="ann", stack=5000, sat=1, time_bank=30_000)
BOB = SeatRecord(
    seat=2, player="bob", stack=4000, sat=2, time_bank=12_000, away=True, timed_out=True, leaving=True, top_up=700
)
KEPT = Reservation(seat=4, player="dan", number=9, expires=NOON + timedelta(minutes=1), buy_in=8000, choice="post")
TURN = Turn(seat=2, check=False, act_ms=20_000, call=100, bank_ms=12_000)
RECORD = TableRecord(
    config=CONFIG, status="open", hands=0, sittings=2, seats=(ANN, BOB), reservations=(KEPT,), waiting=("eve", "fay")
)
STARTED = HandStarted(
    number=1,
    rules=2,
    table=RECORD,
    positions=Positions(button=1, small_blind=1, big_blind=2),
    players=(
        HandPlayer(seat=2, player="bob", stack=3900, street_total=100, total=100),
        HandPlayer(seat=1, player="ann", stack=4950, street_total=50, total=50),
    ),
    posts=(),
    pot=150,
    betting=Betting(level=100),
    turn=None,
)


def after(*events: AnyEvent) -> Table:
    """The table after these events, one commit each."""
    table = Table(room="main", id="T1")
    for event in events:
        table.n, table.at = table.n + 1, NOON
        evolve(table, event)
    return table


def picture(table: Table) -> PublicTable:
    shown = public_table(table)
    assert shown is not None
    return shown


HIDDEN: tuple[AnyEvent, ...] = (
    SitOutRequested(seat=2),
    SitOutRequested(seat=2, timed_out=True),
    SitOutRequested(seat=1),
    LeaveRequested(seat=2),
    LeaveRequested(seat=1),
    TopUpQueued(seat=2, amount=700, queued=700),
    TopUpRequested(seat=2, player="bob", request=7, amount=700, expires=NOON),
    TopUpReleased(seat=2, player="bob", request=7, reason="refused", message="bob has 3 left"),
    CommandRefused(code="table_full", message="All 6 seats are held.", allowed=Allowed(seats=(1, 2))),
    HandKeyRevealed(hand=1, to="floor"),
)
"""What gives away the next decision, what passes between a player and the cashier, and what only operators are told."""


@pytest.mark.parametrize("event", HIDDEN, ids=fact_of)
def test_what_gives_a_player_away_is_not_shown(event: AnyEvent) -> None:
    assert public_event(event) is None


@pytest.mark.parametrize("in_hand", [False, True], ids=["between hands", "at a turn"])
def test_the_views_of_all_that_is_hidden_are_alike(in_hand: bool) -> None:  # noqa: FBT001 - drawn by name
    """That something was written can be seen, and when; neither what it was nor by whom."""
    told = set()
    for number, event in enumerate(HIDDEN, 9):
        table = after(TableOpened(config=CONFIG), PlayerSeated(record=ANN), PlayerSeated(record=BOB))
        if in_hand:
            evolve(table, STARTED)
            assert table.hand is not None
            table.hand.turn, table.hand.turn_number, table.hand.turn_opened = TURN, 2, NOON
        evolve(table, event)
        table.n, table.head = number, f"{number:064}"
        at = NOON + timedelta(milliseconds=number)
        cause = Cause(actor=Actor(kind="player", name="bob"), arrived=at, command=SitOut(id=f"bob-{number}"))
        commit = Commit(
            v=1, table="T1", n=number, hand=1, by="table", at=at, cause=cause, prev="0" * 64, events=(event,)
        )
        view = public_view(table, commit)
        assert (view.n, view.previous, view.head, view.at) == (number, number - 1, table.head, at)
        told.add(encode(replace(view, n=0, previous=0, head="", at=NOON)))
    assert len(told) == 1


def test_a_kept_seat_is_shown_without_the_chips_that_are_asked_for() -> None:
    shown = public_event(SeatReserved(reservation=KEPT))
    bare = Reservation(seat=4, player="dan", number=9, expires=KEPT.expires)
    assert shown == SeatReserved(reservation=bare)
    refused = SeatReleased(seat=4, player="dan", request=9, reason="refused", message="dan has 12 USD left")
    assert public_event(refused) == SeatReleased(seat=4, player="dan", request=9, reason="refused")
    table = after(TableOpened(config=CONFIG), SeatReserved(reservation=KEPT), WaitingListChanged(players=("eve",)))
    assert picture(table).reservations == (PublicReservation(seat=4, player="dan", expires=KEPT.expires),)
    assert picture(table).waiting == ("eve",)


def test_statements_show_seats_and_reservations_without_what_is_hidden() -> None:
    """`hand_started`, `table_restated` and `hand_voided` restate whole seats."""
    asking = (ANN, BOB, SeatRecord(seat=3, player="cat", stack=900, sat=3, request=11, requested=650))
    record = TableRecord(config=CONFIG, status="open", hands=0, sittings=3, seats=asking, reservations=(KEPT,))
    voided = HandVoided(number=1, seats=asking, last=None, started_at=NOON, voided_at=NOON)
    for event in (TableRestated(table=record), voided):
        view = public_view(Table(room="main", id="T1", n=9), committed(event))
        text = encode(view).decode()
        hidden = ("8000", "700", "650", '"away"', '"leaving"', '"timed_out"', '"request"')
        assert not [word for word in hidden if word in text], text
        assert '"time_bank":12000' in text


def committed(event: AnyEvent) -> Commit:
    return Commit(v=1, table="T1", n=9, hand=1, by="table", at=NOON, prev="0" * 64, events=(event,))


def test_the_picture_tells_presence_time_banks_and_until_when_a_turn_lasts() -> None:
    """R117, R118, R135: the deadline is told, with the bank and the time for who is disconnected."""
    table = after(TableOpened(config=CONFIG), STARTED)
    assert table.hand is not None
    table.hand.turn, table.hand.turn_number, table.hand.turn_opened = TURN, 2, NOON
    for event in (PresenceChanged(seat=2, connected=False), TurnExtended(seat=2, extra_ms=15_000)):
        evolve(table, event)
    shown = picture(table)
    assert (shown.turn_extra_ms, shown.turn_ends) == (15_000, NOON + timedelta(seconds=47))
    assert shown.seats[1] == PublicSeat(
        seat=2, player="bob", stack=3900, in_hand=True, street_total=100, connected=False, time_bank=12_000
    )


def test_a_turn_of_who_has_asked_to_leave_looks_like_any_other() -> None:
    """R119, R120: the table acts at once for bob; that it will is hidden until it does."""
    table = after(TableOpened(config=CONFIG), STARTED)
    assert table.hand is not None
    table.hand.turn, table.hand.turn_number, table.hand.turn_opened = TURN, 2, NOON
    assert picture(table).turn_ends == NOON + timedelta(seconds=32)


def test_a_protected_player_is_shown_as_such() -> None:
    """R118."""
    protected = PlayerProtected(seat=2, betting=Betting(level=100), turn=None, bank_ms=12_000, bank_left=0)
    shown = picture(after(TableOpened(config=CONFIG), STARTED, protected)).seats[1]
    assert (shown.protected, shown.time_bank, shown.folded, shown.stack) == (True, 0, False, 3900)


def test_options_that_change_in_a_hand_are_shown_for_the_next_one() -> None:
    bigger = TableConfig(
        variant="holdem",
        limit="no_limit",
        stakes=Stakes(small_blind=100, big_blind=200),
        seats=6,
        buy_in=BuyIn(minimum=400),
    )
    shown = picture(after(TableOpened(config=CONFIG), STARTED, OptionsChanged(config=bigger)))
    assert (shown.config, shown.next_config) == (CONFIG, bigger)


STORY: tuple[AnyEvent, ...] = (
    TableOpened(config=CONFIG),
    PlayerSeated(record=ANN),
    PlayerSeated(record=BOB),
    SeatReserved(reservation=KEPT),
    WaitingListChanged(players=("eve", "fay")),
    PresenceChanged(seat=1, connected=False),
    StackAdjusted(seat=1, player="ann", amount=-300, stack=4700),
    STARTED,
    ActionTaken(
        seat=1, action="call", amount=50, street_total=100, total=100, stack=4900, pot=200, betting=Betting(level=100),
        turn=TURN, bank_ms=4000, bank_left=26_000,
    ),
    TurnExtended(seat=2, extra_ms=15_000),
    PlayerProtected(seat=2, betting=Betting(level=100), turn=None, bank_ms=12_000, bank_left=0),
    HandVoided(number=1, seats=(ANN, BOB), last=None, started_at=NOON, voided_at=NOON),
    SeatReleased(seat=4, player="dan", request=9, reason="expired"),
)  # fmt: skip


@pytest.mark.parametrize("until", range(1, len(STORY) + 1))
def test_who_follows_the_views_sees_the_picture(until: int) -> None:
    """A picture that was built from views alone is the one that views answers with."""
    table, seen = Table(room="main", id="T1"), Sight()
    for event in STORY[:until]:
        table.n, table.at = table.n + 1, NOON
        evolve(table, event)
        commit = Commit(
            v=1, table="T1", n=table.n, hand=table.hands, by="table", at=NOON, prev="0" * 64, events=(event,)
        )
        assert seen.take(public_view(table, commit))
        assert seen.follow() is not None
    assert seen.table == picture(table)
