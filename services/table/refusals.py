"""Why a command changes nothing, and what would be accepted instead."""

from contracts.commit import Cause
from contracts.events.state import Turn
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
