"""What must hold of time: what a time bank loses, and for how long a turn lasts (R116 to R118)."""

from collections.abc import Iterator

from contracts.events.table import ActionTaken, PlayerProtected, TurnExtended
from services.aggregate.table import Table
from services.replay.differences import Difference, equal


def bank(before: Table, event: ActionTaken | PlayerProtected) -> Iterator[Difference]:
    """A time bank loses what was used of it, once (R117)."""
    record = before.seats[event.seat]
    if event.bank_left is None:
        yield from equal("time from a bank that is not touched (R117)", event.bank_ms, 0)
        return
    yield from equal("what the time bank held (R117)", event.bank_left + event.bank_ms, record.time_bank)
    yield from equal("no more than the time used comes from the bank (R117)", event.bank_ms <= event.took_ms, must=True)


def extension(before: Table, event: TurnExtended) -> Iterator[Difference]:
    """A turn is extended for who is to act: once for who is disconnected (R118), or begins anew (R123)."""
    hand = before.hand
    turn = hand.open_turn if hand is not None else None
    yield from equal("whose turn is extended (R118)", event.seat, turn.seat if turn is not None else None)
    already = hand.extra_ms if hand is not None else 0
    if event.reason == "resumed":
        yield from equal("a resumed turn lasts longer than before (R123)", event.extra_ms > already, must=True)
    else:
        yield from equal("a turn is extended once (R118)", already, 0)


def turn(after: Table) -> Iterator[Difference]:
    """Whoever is to act has the time bank that is left, and no more (R117)."""
    named = after.hand.turn if after.hand is not None else None
    if named is not None and named.bank_ms:
        holds = after.seats[named.seat].time_bank
        yield from equal(f"time bank of seat {named.seat} in its turn (R117)", named.bank_ms, min(named.bank_ms, holds))
