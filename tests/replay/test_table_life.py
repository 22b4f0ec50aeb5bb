"""What verification and narration make of seats that are kept, time banks, protected players and cancelled hands."""

from datetime import UTC, datetime, timedelta

import msgspec
import pytest

from contracts.commit import Commit
from contracts.events import AnyEvent
from contracts.events.rake import RakeTaken
from contracts.events.seats import (
    PresenceChanged,
    SeatReleased,
    SeatReserved,
    StackAdjusted,
    StackToppedUp,
    TopUpQueued,
    TopUpReleased,
    TopUpRequested,
    WaitingListChanged,
)
from contracts.events.state import Betting, HandPlayer, Positions, Reservation, SeatOwed, SeatRecord, TableRecord, Turn
from contracts.events.table import (
    ActionTaken,
    HandEnded,
    HandStarted,
    HandVoided,
    OptionsChanged,
    PlayerLeft,
    PlayerProtected,
    PlayerSeated,
    TableClosed,
    TableOpened,
    TurnExtended,
)
from contracts.games import BuyIn, Options, Stakes, TableConfig
from services.aggregate.evolve import evolve
from services.aggregate.table import Table
from services.command_line.proof import Account
from services.replay.invariants import broken
from services.replay.phrases import phrases
from services.replay.picture import picture

replace = msgspec.structs.replace
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CONFIG = TableConfig(
    variant="holdem",
    limit="no_limit",
    stakes=Stakes(small_blind=50, big_blind=100),
    seats=6,
    buy_in=BuyIn(minimum=400),
    options=Options(act_ms=20_000, time_bank_ms=30_000, disconnect_ms=15_000),
)
ANN = SeatRecord(seat=1, player="ann", stack=5000, sat=1, time_bank=30_000)
BOB = SeatRecord(seat=2, player="bob", stack=4000, sat=2, time_bank=12_000, connected=False)
CAT = SeatRecord(seat=3, player="cat", stack=900, sat=3, sitting_out=True)
KEPT = Reservation(seat=4, player="dan", number=5, expires=NOON + timedelta(minutes=1), buy_in=8000, choice="post")
TURN = Turn(seat=1, check=False, act_ms=20_000, call=50, bank_ms=30_000)
BETTING = Betting(level=100, full_raise=100, full_level=100)
STARTED = HandStarted(
    number=1,
    rules=2,
    table=TableRecord(config=CONFIG, status="open", hands=0, sittings=3, seats=(ANN, BOB, CAT), reservations=(KEPT,)),
    positions=Positions(button=1, small_blind=1, big_blind=2),
    players=(
        HandPlayer(seat=2, player="bob", stack=3900, street_total=100, total=100),
        HandPlayer(seat=1, player="ann", stack=4950, street_total=50, total=50),
    ),
    posts=(),
    pot=150,
    betting=BETTING,
    turn=TURN,
)
SEATED: tuple[AnyEvent, ...] = (
    TableOpened(config=CONFIG),
    PlayerSeated(record=ANN),
    PlayerSeated(record=BOB),
    PlayerSeated(record=CAT),
    SeatReserved(reservation=KEPT),
)
CALLED = ActionTaken(
    seat=1,
    action="call",
    amount=50,
    street_total=100,
    total=100,
    stack=4900,
    pot=200,
    betting=BETTING,
    turn=replace(TURN, seat=2, check=True, call=None, bank_ms=12_000),
    took_ms=24_000,
    bank_ms=4000,
    bank_left=26_000,
)
VOIDED = HandVoided(
    number=1,
    seats=(ANN, BOB, CAT),
    last=None,
    started_at=NOON,
    voided_at=NOON + timedelta(seconds=90),
    rake_returned=(),
)


def after(*events: AnyEvent) -> Table:
    """The table after these events, one commit each; nothing of them may break an invariant."""
    table = Table(room="main", id="T1")
    for event in events:
        assert found(table, event) == [], event
        table.n, table.at = table.n + 1, NOON
        evolve(table, event)
        if table.hand is not None and table.hand.turn is not None:
            table.hand.turn_number, table.hand.turn_opened = table.n, NOON
    return table


def found(before: Table, event: AnyEvent, at: datetime = NOON) -> list[str]:
    """The invariants that an event breaks behind the table."""
    table = before.copy()
    table.n, table.at = table.n + 1, at
    evolve(table, event)
    return [difference.field for difference in broken(before, event, table)]


def said(before: Table, event: AnyEvent) -> list[str]:
    table = before.copy()
    table.n, table.at = table.n + 1, NOON
    evolve(table, event)
    return list(phrases(before, event, table))


@pytest.mark.parametrize(
    ("event", "field"),
    [
        (SeatReserved(reservation=replace(KEPT, seat=1, player="eve", number=6)), "seat 1 is free before it is kept"),
        (SeatReserved(reservation=replace(KEPT, seat=7, player="eve", number=6)), "seat 7 is free before it is kept"),
        (SeatReserved(reservation=replace(KEPT, seat=5, number=6)), "dan has no seat yet"),
        (SeatReserved(reservation=replace(KEPT, seat=5, player="eve")), "a reservation is numbered by its commit"),
        (SeatReserved(reservation=replace(KEPT, number=6)), "seat 4 is free before it is kept"),
        (SeatReleased(seat=4, player="dan", request=4, reason="refused"), "which reservation is released"),
        (
            SeatReleased(seat=4, player="dan", request=5, reason="expired"),
            "a reservation lasts as long as it was given",
        ),
        (PlayerSeated(record=replace(ANN, seat=4, player="eve", sat=4)), "for whom the seat was kept"),
        (PlayerSeated(record=replace(ANN, seat=4, player="dan"), request=5), "the buy-in that was paid for (R6)"),
        (PlayerSeated(record=replace(ANN, seat=5)), "ann holds no other seat"),
        (
            TopUpRequested(seat=1, player="ann", request=9, amount=5, expires=NOON),
            "a request is numbered by its commit",
        ),
        (TopUpReleased(seat=1, player="ann", request=6, reason="refused"), "which top-up was asked for"),
        (TopUpQueued(seat=1, amount=100, queued=300), "all that is queued (R7)"),
        (StackToppedUp(seat=1, amount=100, stack=5000), "stack of seat 1 (R7)"),
        (StackAdjusted(seat=1, player="ann", amount=-100, stack=5000), "stack of seat 1"),
        (PlayerLeft(seat=1, player="ann", stack=4000, at=NOON), "chips that are paid out (R9)"),
        (PresenceChanged(seat=1, connected=True), "presence changes"),
        (WaitingListChanged(players=("eve", "eve")), "nobody waits twice"),
    ],
)
def test_a_fact_about_seats_that_cannot_be_is_found(event: AnyEvent, field: str) -> None:
    """R4, R6, R7, R9, R124, R136."""
    assert field in found(after(*SEATED), event)


def test_facts_about_seats_as_they_should_be_break_nothing() -> None:
    after(
        *SEATED,
        PlayerSeated(record=replace(ANN, seat=4, player="dan", sat=4, stack=8000), request=5),
        TopUpRequested(seat=4, player="dan", request=7, amount=500, expires=NOON),
        StackToppedUp(seat=4, amount=400, stack=8400, unused=100, request=7, player="dan"),
        StackAdjusted(seat=4, player="dan", amount=-400, stack=8000),
        PlayerLeft(seat=4, player="dan", stack=8000, at=NOON),
        PresenceChanged(seat=1, connected=False),
        WaitingListChanged(players=("eve", "fay")),
        SeatReserved(reservation=Reservation(seat=5, player="eve", number=13, expires=NOON)),
        SeatReserved(reservation=Reservation(seat=5, player="eve", number=14, expires=NOON, buy_in=500)),
    )


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"bank_left": 30_000}, "what the time bank held (R117)"),
        ({"bank_left": None}, "time from a bank that is not touched (R117)"),
        ({"took_ms": 3000}, "no more than the time used comes from the bank (R117)"),
        ({"turn": replace(TURN, seat=2, bank_ms=30_000)}, "time bank of seat 2 in its turn (R117)"),
    ],
)
def test_a_time_bank_that_gives_more_than_it_holds_is_found(changes: dict[str, object], field: str) -> None:
    """R117: each use takes from the bank what was used, once."""
    table = after(*SEATED, STARTED)
    assert found(table, CALLED) == []
    assert found(table, replace(CALLED, **changes)) == [field]


def test_a_turn_is_extended_once_and_its_players_own() -> None:
    """R118."""
    table = after(*SEATED, STARTED, CALLED)
    assert found(table, TurnExtended(seat=1, extra_ms=15_000)) == ["whose turn is extended (R118)"]
    table = after(*SEATED, STARTED, CALLED, TurnExtended(seat=2, extra_ms=15_000))
    assert found(table, TurnExtended(seat=2, extra_ms=15_000)) == ["a turn is extended once (R118)"]


def test_a_turn_that_is_resumed_lasts_longer_than_before() -> None:
    """R123: however often; the fold has the whole of the extra time."""
    table = after(*SEATED, STARTED, CALLED, TurnExtended(seat=2, extra_ms=15_000))
    again = TurnExtended(seat=2, extra_ms=90_000, reason="resumed")
    assert found(table, again) == []
    assert found(table, replace(again, extra_ms=15_000)) == ["a resumed turn lasts longer than before (R123)"]


def test_who_counts_as_all_in_is_not_to_act_again() -> None:
    """R118: a protected player has no further decision in the hand."""
    protected = PlayerProtected(seat=2, betting=BETTING, turn=TURN, took_ms=47_000, bank_ms=12_000, bank_left=0)
    table = after(*SEATED, STARTED, CALLED, TurnExtended(seat=2, extra_ms=15_000))
    again = replace(protected, turn=replace(TURN, seat=2, bank_ms=0))
    assert found(table, replace(protected, turn=replace(TURN, bank_ms=26_000))) == []
    assert found(table, again) == ["seat 2 is able to act (R145)"]


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        (
            {"seats": (replace(ANN, stack=4900), replace(BOB, stack=4100), CAT)},
            "seat 1 as before the hand (R121, R122)",
        ),
        ({"seats": (replace(ANN, time_bank=26_000), BOB, CAT)}, "seat 1 as before the hand (R121, R122)"),
        ({"seats": (replace(ANN, owes="missed_big"), BOB, CAT)}, "seat 1 as before the hand (R121, R122)"),
        ({"seats": (ANN, BOB, replace(CAT, owes="new"))}, "seat 3, which was not dealt in"),
        ({"seats": (replace(ANN, stack=5900), BOB)}, "seats that are held"),
        ({"last": Positions(button=1)}, "button and blinds before the hand (R122)"),
        ({"number": 2}, "number of the hand that is cancelled"),
        ({"rake_returned": (5,)}, "rake that was taken from the pots (R121)"),
    ],
)
def test_a_cancelled_hand_that_does_not_give_all_back_is_found(changes: dict[str, object], field: str) -> None:
    """R121, R122: stacks, time banks, debts and button are as before, and no rake is kept."""
    table = after(*SEATED, STARTED, CALLED)
    assert found(table, VOIDED) == []
    assert field in found(table, replace(VOIDED, **changes))


def test_chips_that_a_cancelled_hand_makes_or_loses_are_found() -> None:
    """R143."""
    table = after(*SEATED, STARTED, CALLED)
    assert "chips on the table (R143)" in found(table, replace(VOIDED, seats=(replace(ANN, stack=5001), BOB, CAT)))


def test_wishes_that_came_up_in_a_cancelled_hand_stay() -> None:
    """R122: what its players asked for is not the hand's."""
    table = after(*SEATED, STARTED, CALLED, TopUpQueued(seat=1, amount=500, queued=500))
    asked = replace(ANN, leaving=True, away=True, top_up=500, connected=False)
    assert found(table, replace(VOIDED, seats=(asked, BOB, CAT))) == []


def test_who_was_not_dealt_into_a_cancelled_hand_owes_what_was_owed_before_it() -> None:
    """R24, R122: the blinds of the hand moved past seat 3, which sits out."""
    seats = (ANN, BOB, replace(CAT, owes="missed_both", missed=1))
    passed = replace(STARTED, table=replace(STARTED.table, seats=seats), owed=(SeatOwed(seat=3, owes="none"),))
    table = after(*SEATED, passed, CALLED)
    assert found(table, VOIDED) == []
    assert found(table, replace(VOIDED, seats=seats)) == ["seat 3, which was not dealt in"]


def test_time_is_told_with_what_the_bank_gave() -> None:
    """R116, R117: a timed-out action says so, with the time used."""
    table = after(*SEATED, STARTED)
    state = "pot 200, 4900 behind, after 24.0 s, 4.0 s of it from the time bank, which holds 26.0 s"
    assert said(table, CALLED) == [f"ann (seat 1) calls 50; {state}"]
    folded = replace(
        CALLED,
        action="fold",
        amount=0,
        pot=150,
        stack=4950,
        timed_out=True,
        took_ms=50_000,
        bank_ms=30_000,
        bank_left=0,
    )
    state = "pot 150, 4950 behind, after 50.0 s, 30.0 s of it from the time bank, which holds 0.0 s"
    assert said(table, folded) == [f"ann (seat 1) ran out of time: the table folds; {state}"]


def test_a_disconnected_player_is_told_of_until_the_hand_goes_on_without() -> None:
    """R118."""
    table = after(*SEATED, STARTED, CALLED)
    assert said(table, TurnExtended(seat=2, extra_ms=15_000)) == [
        "bob (seat 2) is disconnected and has 15 s more for this decision"
    ]
    protected = PlayerProtected(seat=2, betting=BETTING, turn=None, took_ms=47_000, bank_ms=12_000, bank_left=0)
    used = "after 47.0 s, 12.0 s of it from the time bank, which holds 0.0 s"
    stays = "bob (seat 2) ran out of time while disconnected, and counts as all-in for what is wagered"
    assert said(table, protected) == [f"{stays}, {used}"]


def test_a_turn_that_begins_anew_is_told_with_why() -> None:
    """R123."""
    resumed = TurnExtended(seat=2, extra_ms=600_000, reason="resumed")
    assert said(after(*SEATED, STARTED, CALLED), resumed) == [
        "The time of bob (seat 2) ran out while nobody was there to see it, and begins anew"
    ]


def test_a_cancelled_hand_is_told_with_all_that_it_gives_back() -> None:
    """R121."""
    table = after(*SEATED, STARTED, CALLED)
    assert said(table, replace(VOIDED, rake_returned=(9, 1))) == [
        "hand 1 is cancelled after 90.0 s: all is as it was before it, and its cards are void",
        "10 of rake are not due any more",
        "ann (seat 1) has 5000 again",
        "bob (seat 2) has 4000 again",
    ]


def test_seats_are_told_with_why_they_are_lost() -> None:
    """R9, R11."""
    table = after(*SEATED)
    told = {
        "asked": "ann leaves seat 1 with 5000",
        "removed": "ann is removed from seat 1 with 5000",
        "sat_out": "ann sat out too long and loses seat 1, paid out with 5000",
        "table_closed": "ann leaves seat 1, for the table closes, with 5000",
    }
    for reason, text in told.items():
        left = PlayerLeft(seat=1, player="ann", stack=5000, at=NOON, reason=reason)  # type: ignore[arg-type]
        assert said(table, left) == [text]
    assert said(table, TableClosed(reason="broken")) == ["the table is closed: too few had played for too long"]


def test_options_that_change_are_told_one_by_one() -> None:
    bigger = replace(CONFIG, stakes=Stakes(small_blind=100, big_blind=200), seats=9)
    assert said(after(*SEATED), OptionsChanged(config=bigger)) == [
        "the table's options change from the next hand on",
        "  stakes.small_blind: 50 becomes 100",
        "  stakes.big_blind: 100 becomes 200",
        "  seats: 6 becomes 9",
    ]


def test_a_state_tells_reservations_presence_and_the_end_of_a_turn() -> None:
    table = after(*SEATED, STARTED, CALLED, TurnExtended(seat=2, extra_ms=15_000), WaitingListChanged(players=("eve",)))
    lines = list(picture(table))
    turn = next(line for line in lines if line.startswith("Turn"))
    assert turn.endswith("ends 2026-01-01 12:00:47.000 UTC with 12 s of time bank and 15 s of extra time")
    assert "Seat 4: kept for dan until 2026-01-01 12:01:00.000 UTC, the cashier is asked for 8000 (request 5)" in lines
    assert "Waiting for a seat: eve" in lines
    bob = next(line for line in lines if line.startswith("Seat 2"))
    assert bob.endswith("disconnected, time bank 12 s")


def test_chips_in_are_chips_out_and_the_rake_of_hands_that_were_settled() -> None:
    """R121, R124, R136: the rake of a cancelled hand is nobody's, and corrections come in or go out."""
    account = Account()
    raked = RakeTaken(schedule="s", version=1, players=2, base=200, computed=10, cap=None, total=10, per_pot=(10,))
    ended = HandEnded(number=2, stacks=(), started_at=NOON, ended_at=NOON)
    story: tuple[AnyEvent, ...] = (
        *SEATED,
        raked,
        VOIDED,
        raked,
        ended,
        StackAdjusted(seat=1, player="ann", amount=70, stack=0),
        StackAdjusted(seat=1, player="ann", amount=-30, stack=0),
        PlayerLeft(seat=1, player="ann", stack=5030, at=NOON),
    )
    for n, event in enumerate(story, 1):
        account.count(Commit(v=1, table="T1", n=n, hand=0, by="table", at=NOON, prev="0" * 64, events=(event,)))
    counted = (account.chips_in, account.chips_out, account.rake, account.hands, account.voided)
    assert counted == (9970, 5060, 10, 1, 1)
