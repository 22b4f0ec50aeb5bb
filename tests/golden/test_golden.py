"""Logs that a release wrote are read by every later one: the same states, and nothing found in them."""

from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from contracts.codec import decode_commit
from contracts.commands import Connected, Disconnected
from contracts.commit import Commit
from contracts.events import EMITTERS, AnyEvent, fact_of
from contracts.events.seats import SeatReleased, StackToppedUp
from contracts.events.settlement import PotsAwarded
from contracts.events.table import (
    ActionTaken,
    BettingClosed,
    HandStarted,
    HandVoided,
    PlayerLeft,
    PlayerSeated,
    TableClosed,
)
from services.aggregate.table import Table
from services.bus.aggregates import TABLES
from services.bus.reading import Reading
from services.replay import files
from services.replay.verification import Verification, verify
from tests.golden.logs import ROOM, logs, messages_of, recorded_keys, recorded_states, states_of

NAMES = [f"{log.parent.name}/{log.stem}" for log in logs()]
NOT_PLAYED = {"table_restated", "blinds_missed", "post_chosen"}
"""Facts that no golden log holds."""


def events_of(log: Path) -> list[AnyEvent]:
    return [event for _, data in messages_of(log) for event in decode_commit(data).events]


@pytest.mark.parametrize("log", logs(), ids=NAMES)
def test_an_old_log_folds_to_the_same_states(log: Path) -> None:
    """DESIGN 2: evolve only assigns, so an old log folds the same after any rule fix."""
    assert states_of(messages_of(log), files.table_of(log)) == recorded_states(log)


@pytest.mark.parametrize("log", logs(), ids=NAMES)
def test_an_old_log_is_derived_again(log: Path) -> None:
    """Every decision, and with the hand keys every card; a rule that changes takes a new rules version."""
    last = recorded_states(log)[-1]
    table = Table(room=ROOM, id=files.table_of(log))
    verification = Verification(table, exported=True, heads={last.n: last.head}, keys=recorded_keys(log))
    assert list(verify(messages_of(log), verification)) == []
    assert verification.hands == len(recorded_keys(log))


def test_the_golden_logs_hold_what_is_hard() -> None:
    """Side pots, all-ins before the board and time-outs; halves, odd chips and scoops; comings and goings."""
    seen: Counter[str] = Counter()
    for log in logs():
        for event in events_of(log):
            seen[fact_of(event)] += 1
            match event:
                case ActionTaken():
                    seen.update({"all in": event.all_in, "timed out": event.timed_out})
                case BettingClosed():
                    seen.update({"tabled": event.tabled, "side pots": len(event.pots) > 1})
                case PotsAwarded():
                    for pot in event.pots:
                        seen["low"] += pot.low is not None
                        seen["scooped"] += pot.scooped_low != ""
                        seen["odd chips"] += any(
                            share.odd_chips for half in (pot.high, pot.low) if half is not None for share in half.shares
                        )
                        seen["split"] += len(pot.high.shares) > 1
                case _:
                    pass
    hard = {
        "all in",
        "timed out",
        "tabled",
        "side pots",
        "low",
        "scooped",
        "split",
        "odd chips",
        "player_left",
        "stack_topped_up",
    }
    assert {what for what in hard if not seen[what]} == set()
    assert {fact for fact in EMITTERS if not seen[fact]} <= NOT_PLAYED


@pytest.mark.parametrize("version", ["v2", "v3"])
def test_the_golden_logs_since_version_2_hold_the_life_around_the_hands(version: str) -> None:
    """R11, R116 to R118, R120, R121, R124: who loses a seat and why, time that comes from a bank, hands cancelled."""
    seen: Counter[str] = Counter()
    for log in logs():
        if log.parent.name == version:
            for event in events_of(log):
                match event:
                    case PlayerLeft():
                        seen[f"left: {event.reason}"] += 1
                    case SeatReleased():
                        seen[f"released: {event.reason}"] += 1
                    case ActionTaken():
                        seen["time bank"] += event.bank_ms > 0
                        seen["timed out"] += event.timed_out
                    case HandVoided():
                        seen["rake returned"] += sum(event.rake_returned) > 0
                        seen["voided"] += 1
                    case TableClosed():
                        seen[f"closed: {event.reason}"] += 1
                    case PlayerSeated():
                        seen["paid by the cashier"] += event.request is not None
                    case _:
                        pass
    lived = {
        *("left: asked", "left: removed", "left: sat_out", "left: table_closed", "released: expired"),
        *("released: refused", "time bank", "timed out", "voided", "closed: asked", "closed: broken"),
        "paid by the cashier",
    }
    assert {what for what in lived if not seen[what]} == set()


def test_the_golden_logs_of_version_3_hold_what_its_rules_changed() -> None:
    """R7, R10, R29, DESIGN 4: each of them is there at least once, and could not be in a log of rules 2."""
    seen: set[str] = set()
    for log in logs():
        if log.parent.name == "v3":
            reading = Reading(TABLES, Table(room=ROOM, id=files.table_of(log)))
            presence: set[str] = set()
            for message in messages_of(log):
                before = reading.state.copy()
                commit = reading.take(message)
                assert commit is not None
                if commit.cause is not None and isinstance(commit.cause.command, Connected | Disconnected):
                    presence.add(commit.cause.command.id)
                seen.update(what for event in commit.events for what in changed(before, commit, event, presence))
    assert seen == {"presence passes", "the last departure", "all debts", "the options of the next hand"}


def changed(before: Table, commit: Commit, event: AnyEvent, presence: set[str]) -> Iterator[str]:
    """What rules 3 have changed that an event shows."""
    config, then = before.config, before.next_config
    match event:
        case HandStarted(table=stated):
            dealt, after = {player.seat for player in event.players}, {record.seat: record for record in stated.seats}
            if any(known.id in presence and known.at is None for known in stated.accepted):
                yield "presence passes"
            if any(after[owed.seat].owes == "none" != owed.owes for owed in event.owed if owed.seat not in dealt):
                yield "all debts"
        case PlayerSeated(record=record) if config is not None and config.limit != "fixed_limit":
            lasting = timedelta(milliseconds=config.options.rathole_ms)
            left = [each for each in before.departures if each.player == record.player]
            if any(each.stack > record.stack and commit.at < each.at + lasting for each in left):
                yield "the last departure"
        case StackToppedUp() if config is not None and then is not None:
            if event.unused and event.stack == then.buy_in.maximum != config.buy_in.maximum:
                yield "the options of the next hand"
        case _:
            pass
