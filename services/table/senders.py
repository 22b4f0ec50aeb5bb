"""Who may send what, and for whom: what a subject says is guarded by permissions, what a body says is not."""

from typing import Final

from contracts.commands import (
    Act,
    AdjustStack,
    AnyCommand,
    ChangeOptions,
    CloseTable,
    ConfirmRequest,
    Connected,
    Disconnected,
    JoinWaitingList,
    LeaveTable,
    LeaveWaitingList,
    OpenTable,
    PauseTable,
    ReleaseSeat,
    RemovePlayer,
    ReserveSeat,
    ResumeTable,
    ReturnToPlay,
    SitOut,
    TakeSeat,
    TopUp,
    VoidHand,
)
from contracts.commit import Cause
from contracts.outcomes import Allowed, Rejected
from contracts.subjects import ActorKind
from services.aggregate.table import Table
from services.table.refusals import refuse

SENDERS: Final[dict[type[AnyCommand], tuple[ActorKind, ...]]] = {
    OpenTable: ("lobby", "operator"),
    TakeSeat: ("lobby",),
    ReserveSeat: ("lobby",),
    ReleaseSeat: ("player", "lobby"),
    JoinWaitingList: ("player", "lobby"),
    LeaveWaitingList: ("player", "lobby"),
    ConfirmRequest: ("cashier",),
    Connected: ("lobby",),
    Disconnected: ("lobby",),
    LeaveTable: ("player", "lobby"),
    SitOut: ("player", "lobby"),
    ReturnToPlay: ("player", "lobby"),
    TopUp: ("lobby",),
    Act: ("player",),
    PauseTable: ("operator", "lobby"),
    ResumeTable: ("operator", "lobby"),
    CloseTable: ("operator", "lobby"),
    ChangeOptions: ("operator",),
    VoidHand: ("operator",),
    RemovePlayer: ("operator", "cashier"),
    AdjustStack: ("operator",),
}
"""Who may send what."""

FOR_A_PLAYER: Final = (ReleaseSeat, JoinWaitingList, LeaveWaitingList, LeaveTable, SitOut, ReturnToPlay)
"""What a player sends for nobody else, and a lobby for the player whom it names."""


def not_allowed(table: Table, cause: Cause) -> Rejected | None:
    """Whether this sender may not send this command, or not for that player."""
    actor, command = cause.actor, cause.command
    senders = SENDERS[type(command)]
    if actor.kind not in senders:
        who = "An operator" if actor.kind == "operator" else f"A {actor.kind}"
        message = f"{who} cannot send this command; {' or '.join(senders)} can."
        return refuse(table, cause, "not_allowed", message, Allowed(actors=senders))
    if not isinstance(command, FOR_A_PLAYER):
        return None
    if actor.kind == "player" and command.player not in (None, actor.name):
        message = "A player sends commands for nobody else; leave `player` out."
        return refuse(table, cause, "not_allowed", message, Allowed(actors=("lobby",)))
    if actor.kind == "lobby" and command.player is None:
        message = "A lobby says in `player` whom the command is for."
        return refuse(table, cause, "not_allowed", message, Allowed(actors=("player",)))
    return None
