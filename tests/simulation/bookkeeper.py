"""Keeps account of chips and time at every table by the book, and not by the rules of the services."""

from collections.abc import Iterator
from datetime import timedelta

from contracts.commit import Commit
from contracts.events import Event
from contracts.events.seats import StackAdjusted, StackToppedUp
from contracts.events.table import ActionTaken, HandEnded, HandVoided, PlayerLeft, PlayerProtected, PlayerSeated
from services.aggregate.table import Table

OWED_IS_KNOWN = 2
"""The first rules by which a hand says what was owed before it (R122)."""


class Bookkeeper:
    """What should be at one table: all `chips`, as they came and went."""

    def __init__(self) -> None:
        self.chips = 0

    def enter(self, before: Table, commit: Commit, after: Table) -> Iterator[str]:
        """What a commit does that the books do not allow; `before` and `after` are the true states around it."""
        rake = before.hand.rake.total if before.hand is not None and before.hand.rake is not None else 0
        self.chips += sum(_brought(event, rake) for event in commit.events)
        found = chips_at(after)
        if found != self.chips:
            yield f"{found} chips at the table instead of {self.chips}"
        for event in commit.events:
            if isinstance(event, ActionTaken | PlayerProtected):
                yield from _bank(before, commit, event)


def unrestored(start: Table, before: Table, event: HandVoided) -> Iterator[str]:
    """What a cancelled hand does not give back: `start` is the table before the hand, `before` the one at its end."""
    hand = before.hand
    if hand is None or event.number != hand.number or event.last != start.last:
        yield f"hand {event.number} is cancelled, and its number or the button is not as before it"
        return
    for record in event.seats:
        was = start.seats.get(record.seat)
        if was is None or was.sat != record.sat or record.seat not in hand.players:
            continue
        if record.stack != was.stack:
            yield f"the cancelled hand leaves {record.player} with {record.stack} instead of {was.stack}"
        known = hand.rules >= OWED_IS_KNOWN
        if known and (record.owes, record.time_bank) != (was.owes, was.time_bank):
            yield f"the cancelled hand leaves {record.player} with other debts, or another time bank, than before it"
    taken = hand.rake.total if hand.rake is not None else 0
    if sum(event.rake_returned) != taken:
        yield f"the cancelled hand gives {sum(event.rake_returned)} of {taken} rake back"


def _bank(before: Table, commit: Commit, event: ActionTaken | PlayerProtected) -> Iterator[str]:
    """A decision takes from the player's time bank what it took longer than the turn's own time, and no more."""
    hand, held = before.hand, before.seats[event.seat].time_bank
    if hand is None or hand.turn is None or hand.turn_opened is None or event.bank_left is None:
        return
    took_ms = (commit.at - hand.turn_opened) // timedelta(milliseconds=1)
    used_ms = min(held, max(0, took_ms - hand.turn.act_ms - hand.extra_ms))
    if event.bank_left != held - used_ms:
        yield f"a time bank of {held} ms, of which {used_ms} ms were used, holds {event.bank_left} ms"


def chips_at(table: Table) -> int:
    """The chips in stacks and in the middle; not those that wait for the end of the hand."""
    hand = table.hand
    if hand is None:
        return sum(record.stack for record in table.seats.values())
    beside = sum(record.stack for record in table.seats.values() if record.seat not in hand.players)
    return beside + hand.pot + sum(player.stack for player in hand.players.values())


def _brought(event: Event, rake: int) -> int:
    match event:
        case PlayerSeated():
            return event.record.stack
        case StackToppedUp() | StackAdjusted():
            return event.amount
        case PlayerLeft():
            return -event.stack
        case HandEnded():
            return -rake
        case _:
            return 0
