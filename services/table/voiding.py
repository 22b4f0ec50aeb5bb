"""A hand is cancelled as a whole: everything is as it was before it, and the next one is dealt anew (R121, R122, R124).

What a hand changes between its start and its end is its own and is taken back: chips, blinds owed, time banks. What
came up at the table meanwhile is not: who is connected, wants to leave or sit out, came, or asked for chips. Hands that
were started by rules older than 2 do not say what was owed before them: what they wiped is then not owed any more.
"""

from contracts.commands import VoidHand
from contracts.commit import Cause
from contracts.data import Instant
from contracts.events import AnyEvent
from contracts.events.state import SeatRecord
from contracts.events.table import HandVoided
from contracts.outcomes import Allowed, Rejected
from services.aggregate.evolve import replace
from services.aggregate.table import Hand, Table
from services.table.hands import brought
from services.table.refusals import refuse


def void_hand(table: Table, cause: Cause, command: VoidHand, at: Instant) -> tuple[AnyEvent, ...] | Rejected:
    """Cancels the hand that the command names, which has to be in progress: a settled hand is final (R124)."""
    hand, named = table.hand, command.hand
    if named == 0 and hand is None:
        message = "No hand is in progress; only such a hand can be cancelled."
        return refuse(table, cause, "no_hand", message, Allowed(hand=table.hands))
    if named == 0:
        message = f"The command names no hand; hand {table.hands} is in progress."
        return refuse(table, cause, "stale", message, Allowed(hand=table.hands))
    if hand is None or named < hand.number:
        message = f"Hand {named} is over and stays as it is; between hands adjust_stack corrects a stack."
        return refuse(table, cause, "hand_settled", message, Allowed(actions=("adjust_stack",), hand=table.hands))
    return voided(table, hand, at)


def voided(table: Table, hand: Hand, at: Instant) -> tuple[AnyEvent, ...]:
    """The hand is cancelled; then, as at its end, those who asked to leave or to sit out do, and top-ups come in."""
    before = {record.seat: record for record in hand.before}
    seats = tuple(
        _as_before(record, before[record.seat], hand) if _was_there(record, before) else record
        for record in table.seats.values()
    )
    event = HandVoided(
        number=hand.number,
        seats=seats,
        last=hand.last_before,
        started_at=hand.started_at,
        voided_at=at,
        rake_returned=hand.rake.per_pot if hand.rake is not None else (),
    )
    return event, *brought(table, seats, at)


def _was_there(record: SeatRecord, before: dict[int, SeatRecord]) -> bool:
    return record.seat in before and before[record.seat].sat == record.sat


def _as_before(now: SeatRecord, before: SeatRecord, hand: Hand) -> SeatRecord:
    """The seat without what the hand changed; chips of players who were not dealt in are not the hand's."""
    dealt = now.seat in hand.players
    return replace(
        now,
        stack=before.stack if dealt else now.stack,
        owes=before.owes,
        choice=before.choice if dealt else now.choice,
        missed=min(now.missed, before.missed),  # who came back during the hand begins to count anew
        time_bank=before.time_bank,
        bank_hands=before.bank_hands,
    )
