"""Why a command changes nothing, and what would be accepted instead."""

from typing import Final

from contracts.commit import Cause
from contracts.events import AnyEvent
from contracts.events.state import Turn
from contracts.events.table import CommandRefused
from contracts.outcomes import Allowed, Code, Rejected
from services.aggregate.table import Hand, Table


def refuse(table: Table, cause: Cause, code: Code, message: str, allowed: Allowed | None = None) -> Rejected:
    """The rejection of a command, decided on the table as it stands."""
    return Rejected(
        code=code,
        message=message,
        id=cause.command.id,
        allowed=allowed if allowed is not None else Allowed(),
        n=table.n,
        head=table.head,
    )


_PASSING: Final[frozenset[Code]] = frozenset(
    {
        "table_exists",
        "paused",
        "not_paused",
        "no_hand",
        "hand_in_progress",
        "not_seated",
        "already_seated",
        "seat_taken",
        "table_full",
        "buy_in_out_of_range",
        "sitting_out",
        "not_sitting_out",
        "illegal_action",
        "below_minimum",
        "above_maximum",
        "no_request",
        "seat_reserved",
        "already_waiting",
        "not_waiting",
        "already_connected",
        "already_disconnected",
    }
)
"""What the table may no longer say a moment later: a second copy of the command could be accepted."""


def refused_events(rejected: Rejected, cause: Cause) -> tuple[AnyEvent, ...]:
    """The events that make a refusal final; () where it is not written down.

    A refusal that rests on the table's passing state is in the log if wallets may depend on it: if a lobby or an
    operator asked. A player's is not, for players must not be able to fill the log; nor the cashier's, which asks
    again under another id as long as the log shows that it has to.
    """
    if cause.actor.kind in ("player", "cashier") or rejected.code not in _PASSING:
        return ()
    return (CommandRefused(code=rejected.code, message=rejected.message, allowed=rejected.allowed),)


def legal(hand: Hand) -> Allowed:
    """All that the open turn allows, and its number; only the hand's number while no turn is open."""
    turn = hand.open_turn
    if turn is None:
        return Allowed(hand=hand.number)
    return Allowed(
        actions=actions(turn),
        turn=turn,
        number=hand.turn_number,
        minimum=turn.minimum,
        maximum=turn.maximum,
        hand=hand.number,
    )


def actions(turn: Turn) -> tuple[str, ...]:
    """The actions that a turn allows (R38 to R41)."""
    taken: list[str] = ["fold"]
    if turn.check:
        taken.append("check")
    if turn.call is not None:
        taken.append("call")
    if turn.wager is not None:
        taken.append(turn.wager)
    if turn.call is not None or turn.wager is not None:
        taken.append("all_in")
    return tuple(taken)
