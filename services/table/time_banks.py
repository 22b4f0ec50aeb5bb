"""Time banks: what a player's holds, how much of it a decision uses, and when it is filled up (R117)."""

from collections.abc import Iterable, Mapping

from contracts.data import Milliseconds, Seat
from contracts.events.state import SeatRecord, Turn
from contracts.games import Options
from services.aggregate.evolve import replace
from services.aggregate.table import Hand

type Banks = Mapping[Seat, Milliseconds]
"""What the time banks hold, by seat; a seat that is not there has none."""


def banks(options: Options, records: Iterable[SeatRecord]) -> Banks:
    """What these players' time banks hold; nothing at a table without time banks."""
    if options.time_bank_ms == 0:
        return {}
    return {record.seat: record.time_bank for record in records}


def banked(turn: Turn | None, held: Banks) -> Turn | None:
    """The turn as it is named: with what its player's time bank holds at that moment."""
    if turn is None or not held.get(turn.seat):
        return turn
    return replace(turn, bank_ms=held[turn.seat])


def used_ms(hand: Hand, took_ms: Milliseconds) -> Milliseconds:
    """How much of the time bank a decision uses up that took so long: it runs once the turn's own time is over (R116).

    30 s to act and 20 s of extra time for a disconnected player; after 61 s the bank has lost 11 s.
    """
    turn = hand.open_turn
    if turn is None:
        return 0
    return min(turn.bank_ms, max(0, took_ms - turn.act_ms - hand.extra_ms))


def dealt_in(record: SeatRecord, options: Options) -> SeatRecord:
    """The record of a player who is dealt in: a first bank is full, and once in so many hands it is filled up.

    30 s at most, 10 s in 5 hands: who used 25 s in the first hand has 15 s in the sixth.
    """
    if options.time_bank_ms == 0:
        return replace(record, time_bank=0, bank_hands=0) if record.time_bank or record.bank_hands else record
    if record.bank_hands == 0:  # the first hand since the player sat down, or since the table has time banks
        return replace(record, time_bank=options.time_bank_ms, bank_hands=1)
    bank, hands = record.time_bank, record.bank_hands
    if options.time_bank_refill_hands:
        hands += 1
        if hands > options.time_bank_refill_hands:
            bank, hands = bank + options.time_bank_refill_ms, 1
    return replace(record, time_bank=min(bank, options.time_bank_ms), bank_hands=hands)
