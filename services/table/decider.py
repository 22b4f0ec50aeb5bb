"""What the table decides: which commands change it and how, and what it owes by itself. Pure: time is an argument."""

from collections.abc import Callable
from typing import Any, Final

from contracts.codec import command_digest
from contracts.commands import (
    COMMAND_VERSION,
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
from contracts.data import Instant
from contracts.events import AnyEvent
from contracts.games import RULES_VERSION, TableConfig
from contracts.outcomes import Accepted, Allowed, Rejected
from services.aggregate.answered import said_again
from services.aggregate.debts import debt
from services.aggregate.table import Hand, Table
from services.table import (
    acting,
    breaking,
    changing,
    operators,
    play,
    requests,
    reservations,
    seats,
    taking,
    top_ups,
    waiting_list,
)
from services.table.deadlines import act_for_player
from services.table.hands import end, restate, start
from services.table.opening import open_table
from services.table.presence import extend_turn, presence, with_extension
from services.table.refusals import refuse
from services.table.senders import not_allowed
from services.table.time_banks import banks
from services.table.voiding import void_hand

type Decision = tuple[AnyEvent, ...] | Rejected


def decide(table: Table, cause: Cause, at: Instant) -> Decision:
    """The events of the commit that answers a command at `at`, or why it changes nothing.

    A command that is in the log already is for `known` to answer; here only its misuse is refused.
    """
    refusal = _unfit(table, cause)
    if refusal is not None:
        return refusal
    moment = _moment(table, at)
    command, config = cause.command, table.config
    if isinstance(command, OpenTable):
        return open_table(table, cause, command)
    if config is None:
        return _no_table(table, cause)
    decision = _COMMANDS[type(command)](table, config, cause, command, moment)
    return decision if isinstance(decision, Rejected) else with_extension(table, decision, moment)


def owes(table: Table, at: Instant) -> tuple[AnyEvent, ...]:
    """The events of the table's next commit; () where the table owes nothing at `at`.

    Also () for a hand, or a table, whose rules this release does not know (DESIGN 2).
    """
    owed, config = debt(table), table.config
    if owed is None or owed.service != "table" or config is None or not owed.is_due(at):
        return ()
    if not _rules_known(table, config):
        return ()
    moment = _moment(table, at)
    return with_extension(table, _DUTIES[owed.duty](table, config, moment), moment)


def known(table: Table, cause: Cause) -> Accepted | Rejected | None:
    """The answer to a command whose id the log knows: the first one again, or that the id is taken; else None."""
    command = cause.command
    first = table.accepted.get((cause.actor.kind, cause.actor.name, command.id))
    if first is None:
        return None
    if first.digest != command_digest(command):
        message = f"Commit {first.n} answered another command with the id {command.id}; ids are used once."
        return _taken(table, cause, message)
    return said_again(command.id, first)


def holds(table: Table, command: AnyCommand | None = None) -> bool:
    """Whether commands have to wait because another service owes; a pause never waits, nor does a hand's end (R121)."""
    if isinstance(command, PauseTable | VoidHand):
        return False
    owed = debt(table)
    return owed is not None and owed.service != "table"


def _moment(table: Table, at: Instant) -> Instant:
    """The time of the next commit: never before the last one's."""
    return at if table.at is None or at >= table.at else table.at


def _rules_known(table: Table, config: TableConfig) -> bool:
    rules = table.hand.rules if table.hand is not None else config.options.rules
    return rules <= RULES_VERSION


def _unfit(table: Table, cause: Cause) -> Rejected | None:
    """What is refused without a look at the game: version, rules, table, id, hand, sender, in this order.

    A table whose rules this release does not know is for a newer one to decide on (DESIGN 2).
    """
    command = cause.command
    if command.v != COMMAND_VERSION:
        message = f"Commands of version {command.v} are not known here; version {COMMAND_VERSION} is."
        return refuse(table, cause, "unsupported_version", message, Allowed(versions=(COMMAND_VERSION,)))
    if table.config is not None and not _rules_known(table, table.config):
        message = f"Rules newer than {RULES_VERSION} are not known here; send the same command again."
        return refuse(table, cause, "busy", message)
    opens = isinstance(command, OpenTable)
    if table.config is None and not opens:
        return _no_table(table, cause)
    if table.config is not None and opens and known(table, cause) is None:
        message = f"Table {table.id} was opened already, and is at hand {table.hands}; another name opens another one."
        return refuse(table, cause, "table_exists", message, Allowed(hand=table.hands))
    if table.status == "closed":
        message = f"Table {table.id} is closed for good and accepts nothing; open_table opens one of another name."
        return refuse(table, cause, "table_closed", message)
    if known(table, cause) is not None:
        return _taken(table, cause, f"The id {command.id} is in the log already; ids are used once.")
    oldest = 0 if isinstance(command, VoidHand) else table.hands - 1  # a settled hand is told from a stale command
    if not oldest <= command.hand <= table.hands:
        message = f"The table is at hand {table.hands}; a command seen from hand {command.hand} came too late or early."
        return refuse(table, cause, "stale", message, Allowed(hand=table.hands))
    return not_allowed(table, cause)


def _no_table(table: Table, cause: Cause) -> Rejected:
    message = f"There is no table {table.id}; open_table opens one."
    return refuse(table, cause, "unknown_table", message, Allowed(actions=("open_table",)))


def _taken(table: Table, cause: Cause, why: str) -> Rejected:
    """Another id is accepted, and the table's hand says what the command is to be seen from."""
    message = f"{why} A new command at hand {table.hands} takes a new id."
    return refuse(table, cause, "duplicate_id", message, Allowed(hand=table.hands))


def _hand(table: Table) -> Hand:
    assert table.hand is not None  # this duty arises in a hand only
    return table.hand


_COMMANDS: Final[dict[type[AnyCommand], Callable[[Table, TableConfig, Cause, Any, Instant], Decision]]] = {
    Act: acting.act,
    TakeSeat: taking.take_seat,
    ReserveSeat: reservations.reserve_seat,
    ReleaseSeat: lambda table, _, cause, command, __: reservations.release_seat(table, cause, command),
    JoinWaitingList: lambda table, _, cause, command, __: waiting_list.join(table, cause, command),
    LeaveWaitingList: lambda table, _, cause, command, __: waiting_list.leave(table, cause, command),
    ConfirmRequest: lambda table, config, cause, command, _: requests.confirm(table, config, cause, command),
    LeaveTable: lambda table, _, cause, command, at: seats.leave_table(table, cause, command, at),
    SitOut: lambda table, _, cause, command, at: seats.sit_out(table, cause, command, at),
    ReturnToPlay: lambda table, config, cause, command, _: seats.return_to_play(table, config, cause, command),
    TopUp: top_ups.top_up,
    PauseTable: lambda table, _, cause, __, ___: operators.pause(table, cause),
    ResumeTable: lambda table, _, cause, __, ___: operators.resume(table, cause),
    CloseTable: lambda table, config, cause, _, at: breaking.close(table, config, cause, at),
    ChangeOptions: changing.change_options,
    Connected: lambda table, _, cause, command, __: presence(table, cause, command),
    Disconnected: lambda table, _, cause, command, __: presence(table, cause, command),
    VoidHand: lambda table, _, cause, command, at: void_hand(table, cause, command, at),
    RemovePlayer: lambda table, _, cause, command, at: operators.remove_player(table, cause, command, at),
    AdjustStack: lambda table, _, cause, command, at: operators.adjust_stack(table, cause, command, at),
}
"""What the table does on each command."""

_DUTIES: Final[dict[str, Callable[[Table, TableConfig, Instant], tuple[AnyEvent, ...]]]] = {
    "start_hand": lambda table, _, at: start(table, at),
    "act_for_player": lambda table, config, at: act_for_player(table, config, _hand(table), at),
    "extend_turn": lambda table, config, _: extend_turn(config, _hand(table)),
    "close_betting": lambda table, config, _: play.closed(
        config, _hand(table).copy(), banks(config.options, table.seats.values())
    ),
    "end_hand": lambda table, _, at: end(table, _hand(table), at),
    "offer_seat": waiting_list.offer,
    "release_seat": lambda table, _, at: reservations.expire(table, at),
    "vacate_seat": breaking.vacate,
    "break_table": breaking.break_up,
    "restate": lambda table, _, at: restate(table, at),
}
"""What the table does for each of its duties."""
