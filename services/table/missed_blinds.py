"""Who owes a blind because it moved past the seat (R24, R28)."""

from collections.abc import Iterable

from contracts.data import Seat
from contracts.events.state import Owed, Positions, SeatRecord
from services.table.betting.turn import clockwise


def missed(record: SeatRecord, last: Positions | None, now: Positions) -> Owed:
    """All that a seated player owes once the blinds have moved from `last` to `now`; never more than one of each."""
    if last is None or not record.sitting_out or record.owes in ("new", "missed_both"):
        return record.owes
    big = record.owes in ("missed_big", "skipped") or _moved_past(record.seat, last.big_blind, now.big_blind)
    small = record.owes == "missed_small" or _moved_past(
        record.seat, _small(last, last.button), _small(now, last.big_blind)
    )
    if big and small:
        return "missed_both"
    if big:
        return "missed_big"
    return "missed_small" if small else "none"


def misses_big_blind(record: SeatRecord, last: Positions | None, now: Positions) -> bool:
    """Whether the big blind moves past a player who sits out; so many times, and the seat is lost (R11)."""
    return last is not None and record.sitting_out and _moved_past(record.seat, last.big_blind, now.big_blind)


def skipped(good: Iterable[Seat], last: Positions, now: Positions) -> list[Seat]:
    """The players in good standing whose turn as big blind was passed over, because somebody left (R28)."""
    return [seat for seat in good if seat != now.big_blind and _moved_past(seat, last.big_blind, now.big_blind)]


def _small(positions: Positions, dead: Seat | None) -> Seat | None:
    """Where the small blind is, or would be if it is dead (R15); before rules 2 the log does not say where."""
    if positions.small_blind is not None:
        return positions.small_blind
    return positions.dead_small_blind if positions.dead_small_blind is not None else dead


def _moved_past(seat: Seat, last: Seat | None, now: Seat | None) -> bool:
    """Whether a blind went over this seat on its way from `last` to `now`, or would stand on it."""
    if last is None or now is None or last == now:
        return False
    return clockwise(seat, last) <= clockwise(now, last)
