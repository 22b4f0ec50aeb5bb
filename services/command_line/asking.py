"""How an operator's command goes to a table: its id and its hand, the same bytes until there is an answer, the answer.

Exit codes: 0 the command was accepted, 1 it was refused and nothing is changed, 2 it could not be sent or no answer
came. After 2 the same command is sent again with the `--id` and the `--hand` that are told: it is never taken twice.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final
from uuid import uuid4

import msgspec
from cyclopts import Parameter, validators

from contracts.account_commands import AnyAccountCommand
from contracts.client import Client, ClientError, Unanswered
from contracts.commands import AnyCommand, VoidHand
from contracts.data import Id
from contracts.outcomes import Accepted, Outcome, Rejected
from contracts.plain import Faulty, read
from contracts.queries import PublicTable
from services.command_line.at_the_desk import an_operator
from services.command_line.numbers import Whole
from services.command_line.printing import print_json, print_lines
from services.command_line.refusals import CannotRead, WrongArgument
from services.command_line.sources import REQUEST_S, table_name
from services.command_line.where import Where

REFUSED: Final = 1
"""The exit code of a command that the table refused."""
ANSWERED_S: Final = 15.0
"""A command is sent again, about once a second, for so long before nobody is said to answer."""

HANDS_TRIED_MAX: Final = 3
"""A command is made again, for a newer hand, so often that a table which is played fast is caught."""

type Json = Annotated[bool, Parameter(name="--json", negative=(), help="Print one JSON document.")]
type Why = Annotated[str, Parameter(help="Why: it stays in the log.")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class Again:
    """What makes a command the same as one that was sent before, whose answer did not come."""

    id: Annotated[str | None, Parameter(help="The command's id; default: a new one.")] = None
    hand: Annotated[
        Whole | None,
        Parameter(
            help="The hand that you saw last; default: the table's hand of now.",
            validator=validators.Number(gte=0),
        ),
    ] = None


ANEW: Final = Again()


async def ask(
    where: Where,
    table: Id,
    kind: type[AnyCommand],
    fields: Mapping[str, Any],
    again: Again = ANEW,
    *,
    json: bool,
) -> int:
    """Sends one command to a table, tells its answer, and gives the exit code.

    Raises `WrongArgument` for fields that no such command has, `CannotRead` where there is no answer.
    """
    again, name = Again(id=again.id or f"cli-{uuid4().hex}", hand=again.hand), table_name(table)
    fitting(kind, {**fields, "id": again.id})  # before anybody is asked
    async with an_operator(where) as operator:
        hand = again.hand if again.hand is not None else await _hand_of(operator, where.room, name)
        command = fitting(kind, {**fields, "id": again.id, "hand": hand})
        outcome = await _sent(operator, where.room, name, command)
        for _ in range(0 if again.hand is not None or kind is VoidHand else HANDS_TRIED_MAX):
            newer = _hand_instead(outcome)
            if newer is None:
                break
            command = fitting(kind, {**fields, "id": again.id, "hand": newer})
            outcome = await _sent(operator, where.room, name, command)
    if json:
        print_json({"room": where.room, "table": name, "command": command, "outcome": outcome})
    else:
        print_lines(told(name, command, outcome))
    return 0 if isinstance(outcome, Accepted) else REFUSED


async def _sent(operator: Client, room: Id, table: Id, command: AnyCommand) -> Outcome:
    try:
        return await operator.command(room, table, command, within_s=ANSWERED_S)
    except Unanswered as error:
        raise CannotRead(
            f"no answer from table {table}, so nobody knows whether the command was taken; "
            f"to send the same again: --id {command.id} --hand {command.hand}"
        ) from error
    except ClientError as error:
        raise CannotRead(f"the command to table {table} was not sent: {error}") from error


def _hand_instead(outcome: Outcome) -> int | None:
    """The table's hand, where it was played on so fast that the command came from too old a one."""
    return outcome.allowed.hand if isinstance(outcome, Rejected) and outcome.code == "stale" else None


def fitting[T: AnyCommand | AnyAccountCommand](kind: type[T], fields: Mapping[str, Any]) -> T:
    """The command with these fields. Raises `WrongArgument`."""
    try:
        return read(fields, kind)
    except Faulty as faulty:
        raise WrongArgument("\n".join(faulty.faults)) from faulty


async def picture(operator: Client, room: Id, table: Id) -> PublicTable | Rejected:
    """The table as everybody sees it, or that there is none. Raises `CannotRead`."""
    try:
        return await operator.table(room, table, within_s=REQUEST_S)
    except ClientError as error:
        raise CannotRead(f"the hand of table {table} is not known ({error}): serve `views`, or give --hand") from error


async def _hand_of(operator: Client, room: Id, table: Id) -> int:
    """The hand that the table is at; of a table that is not there the table service tells."""
    seen = await picture(operator, room, table)
    return seen.hand if isinstance(seen, PublicTable) else 0


def told(table: Id, command: AnyCommand, outcome: Outcome) -> Iterator[str]:
    """An answer in words."""
    kind = type(command).__struct_config__.tag
    if isinstance(outcome, Accepted):
        yield f"Table {table}: {kind} accepted at hand {command.hand}, commit {outcome.n}"
        yield f"  head {outcome.n}:{outcome.head}"
        return
    yield f"Table {table}: {kind} refused: {outcome.code}: {outcome.message}"
    yield from instead(outcome)


def instead(refused: Rejected) -> Iterator[str]:
    """What would be accepted, in words; nothing where the answer does not tell."""
    allowed: dict[str, Any] = msgspec.to_builtins(refused.allowed)
    if allowed:
        yield f"  accepted: {'; '.join(f'{name} {_listed(value)}' for name, value in allowed.items())}"


def _listed(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
