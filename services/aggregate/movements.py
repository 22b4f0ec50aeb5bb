"""Which commits of a table the cashier has to see: those that ask for chips, pay some out, or settle a request."""

from contracts.commit import Commit
from contracts.events import AnyEvent
from contracts.events.seats import (
    SeatReleased,
    SeatReserved,
    StackAdjusted,
    StackToppedUp,
    TopUpQueued,
    TopUpReleased,
    TopUpRequested,
)
from contracts.events.table import HandEnded, PlayerLeft, PlayerSeated
from services.aggregate.table import Table


def is_for_the_cashier(table: Table, commit: Commit) -> bool:
    """Whether a commit of a table whose chips are the cashier's moves chips of an account, or asks for that."""
    return table.config is not None and table.config.bankroll == "cashier" and any(map(moves_chips, commit.events))


def moves_chips(event: AnyEvent) -> bool:
    """Whether an event moves chips between the table and an account, asks for it, or settles what was asked for."""
    match event:
        case SeatReserved():
            return event.reservation.buy_in > 0
        case PlayerSeated() | TopUpQueued():
            return event.request is not None
        case StackToppedUp():
            return event.request is not None or event.unused > 0
        case HandEnded():
            return event.rake > 0
        case _:
            return isinstance(event, SeatReleased | TopUpRequested | TopUpReleased | StackAdjusted | PlayerLeft)
