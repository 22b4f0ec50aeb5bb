"""What operators do with accounts: `croupier open-account`, `deposit`, `withdraw`, `freeze`, `unfreeze`, `correct`.

Exit codes: 0 the command was accepted, 1 it was refused and nothing is changed, 2 it could not be sent or no answer
came. After 2 the same command is sent again with the `--id` and the `--made` that are told: it is never taken twice.
"""

import asyncio
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any, Final
from uuid import uuid4

import msgspec
from cyclopts import Parameter

from contracts.account_commands import (
    AnyAccountCommand,
    Correct,
    Deposit,
    FreezeAccount,
    OpenAccount,
    UnfreezeAccount,
    Withdraw,
)
from contracts.client import ClientError, Unanswered
from contracts.outcomes import Accepted, Outcome, Rejected
from services.command_line.asking import ANSWERED_S, REFUSED, Json, Why, fitting, instead
from services.command_line.at_the_desk import an_operator
from services.command_line.ledger_logs import OfLedger, books, ledger_name, ledgers_of, only_ledger
from services.command_line.printing import print_json, print_lines
from services.command_line.refusals import CannotRead, WrongArgument
from services.command_line.where import NOWHERE, Where

type Chips = Annotated[str, Parameter(help="A whole number of the smallest chips.")]
type Reference = Annotated[str, Parameter(help="What the payment is called outside; used once in a ledger.")]


_OF_THE_LEDGER: Final = ("halted", "wrong_currency")
"""Refusals that say nothing of a player, but that a ledger is none, or that its log cannot be read."""


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class To:
    """Which ledger is asked, and what makes a command the same as one that was sent before, without an answer."""

    ledger: OfLedger = None
    id: Annotated[str | None, Parameter(help="The command's id; default: a new one.")] = None
    made: Annotated[str | None, Parameter(help="When it was made, as it was told; default: now.")] = None


HOUSE: Final = To()
"""A new command, to the house's only ledger, or to each in which a player has an account."""


class Sent(msgspec.Struct):
    """A command to a ledger, and its answer."""

    ledger: str
    command: AnyAccountCommand
    outcome: Outcome


def open_account(player: str, /, *, to: To = HOUSE, where: Where = NOWHERE, json: Json = False) -> int:
    """Open an account for a player.

    The first one in a ledger opens the ledger: --ledger real-USD.
    """
    return _send(where, to, OpenAccount, {"player": player}, json=json)


def deposit(
    player: str,
    amount: Chips,
    /,
    *,
    reference: Reference,
    to: To = HOUSE,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Put money that came in from outside into a player's account."""
    fields = {"player": player, "amount": _chips(amount), "reference": reference}
    return _send(where, to, Deposit, fields, json=json)


def withdraw(
    player: str,
    amount: Chips,
    /,
    *,
    reference: Reference,
    to: To = HOUSE,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Take money that goes out from a player's account."""
    fields = {"player": player, "amount": _chips(amount), "reference": reference}
    return _send(where, to, Withdraw, fields, json=json)


def freeze(
    player: str,
    /,
    *,
    reason: Why,
    to: To = HOUSE,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Let nothing leave a player's account, and have the player leave every table."""
    fields = {"player": player, "reason": reason}
    return _to_each(where, to, FreezeAccount, fields, json=json)


def unfreeze(
    player: str,
    /,
    *,
    reason: Why,
    to: To = HOUSE,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """End what `freeze` began."""
    fields = {"player": player, "reason": reason}
    return _to_each(where, to, UnfreezeAccount, fields, json=json)


def correct(
    source: str,
    target: str,
    amount: Chips,
    /,
    *,
    reason: Why,
    reference: Reference,
    to: To = HOUSE,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Move an amount between two accounts, with a reason.

    They are player.NAME, rake, suspense or cash. The chips at a table are corrected there: `croupier adjust`.
    """
    fields = {"source": source, "target": target, "amount": _chips(amount), "reason": reason, "reference": reference}
    return _send(where, to, Correct, fields, json=json)


def _chips(text: str) -> int:
    """An amount as it is given: cyclopts itself would round 1.5. Raises `WrongArgument`."""
    if re.fullmatch(r"[+-]?[0-9]{1,40}", text) is None:
        raise WrongArgument(f"AMOUNT {text!r} is not accepted; a whole number of the smallest chips is, as 500")
    return int(text)


def _send(where: Where, to: To, kind: type[AnyAccountCommand], fields: Mapping[str, Any], *, json: bool) -> int:
    return asyncio.run(_one(where, to, _command(kind, fields, to), json=json))


async def _one(where: Where, to: To, command: AnyAccountCommand, *, json: bool) -> int:
    name = ledger_name(to.ledger) if to.ledger is not None else await _only(where)
    return _told([Sent(name, command, await _asked(where, name, command))], json=json)


def _to_each(where: Where, to: To, kind: type[AnyAccountCommand], fields: Mapping[str, Any], *, json: bool) -> int:
    return asyncio.run(_everywhere(where, to, _command(kind, fields, to), json=json))


async def _everywhere(where: Where, to: To, command: AnyAccountCommand, *, json: bool) -> int:
    """Sends a command to each ledger in which the player has an account; tells so where there is none.

    A ledger that cannot be read keeps it from no other, and is told of at the end. Raises `CannotRead`.
    """
    if to.ledger is not None:
        return await _one(where, to, command, json=json)
    sent: list[Sent] = []
    unread: list[str] = []
    for name in await _all(where):
        try:
            outcome = await _asked(where, name, command)
        except CannotRead as error:
            unread.append(str(error))
            continue
        if isinstance(outcome, Rejected) and outcome.code in _OF_THE_LEDGER:
            unread.append(f"ledger {name} cannot be read: {outcome.message}")
        else:
            sent.append(Sent(name, command, outcome))
    known = [each for each in sent if isinstance(each.outcome, Accepted) or each.outcome.code != "unknown_account"]
    code = _told(known or sent, json=json) if sent else REFUSED
    if unread:
        raise CannotRead("\n".join(unread))
    return code


async def _only(where: Where) -> str:
    async with books(where) as house:
        return await only_ledger(house.ledgers, None)


async def _all(where: Where) -> list[str]:
    async with books(where) as house:
        names = await ledgers_of(house.ledgers, None)
    if not names:
        raise CannotRead("there is no ledger yet, so nobody has an account")
    return names


def _command(kind: type[AnyAccountCommand], fields: Mapping[str, Any], to: To) -> AnyAccountCommand:
    """The command with these fields. Raises `WrongArgument`."""
    made = to.made or datetime.now(UTC).isoformat()
    return fitting(kind, {**fields, "id": to.id or f"cli-{uuid4().hex}", "made": made})


async def _asked(where: Where, ledger: str, command: AnyAccountCommand) -> Outcome:
    """The cashier's answer. Raises `CannotRead`."""
    async with an_operator(where) as operator:
        try:
            return await operator.account(ledger, command, within_s=ANSWERED_S)
        except Unanswered as error:
            raise CannotRead(
                f"no answer from the cashier of {ledger}, so nobody knows whether the command was taken; "
                f"to send the same again: --ledger {ledger} --id {command.id} --made {command.made.isoformat()}"
            ) from error
        except ClientError as error:
            raise CannotRead(f"the command to the cashier of {ledger} was not sent: {error}") from error


def _told(sent: list[Sent], *, json: bool) -> int:
    if json:
        print_json(sent[0] if len(sent) == 1 else sent)
    else:
        print_lines(line for each in sent for line in _words(each))
    return 0 if all(isinstance(each.outcome, Accepted) for each in sent) else REFUSED


def _words(sent: Sent) -> Iterator[str]:
    kind = type(sent.command).__struct_config__.tag
    if isinstance(sent.outcome, Accepted):
        yield f"Ledger {sent.ledger}: {kind} accepted, commit {sent.outcome.n}"
        yield f"  head {sent.outcome.n}:{sent.outcome.head}"
        return
    yield f"Ledger {sent.ledger}: {kind} refused: {sent.outcome.code}: {sent.outcome.message}"
    yield from instead(sent.outcome)
