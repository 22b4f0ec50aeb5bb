"""What operators do at a table (R121, R124): `croupier void`, `pause`, `resume`, `close`, `remove` and `adjust`."""

import asyncio
from typing import Annotated

from cyclopts import Parameter

from contracts.commands import AdjustStack, CloseTable, PauseTable, RemovePlayer, ResumeTable, VoidHand
from services.command_line.asking import ANEW, Again, Json, Why, ask
from services.command_line.numbers import whole
from services.command_line.refusals import WrongArgument
from services.command_line.where import NOWHERE, Where


def void(table: str, /, *, reason: Why, again: Again = ANEW, where: Where = NOWHERE, json: Json = False) -> int:
    """Cancel the hand in progress: every stack is what it was before it, and no rake is taken.

    With --hand nothing but that hand is cancelled. A hand that has ended stays as it is.
    """
    return asyncio.run(ask(where, table, VoidHand, {"reason": reason}, again, json=json))


def pause(table: str, /, *, reason: Why = "", again: Again = ANEW, where: Where = NOWHERE, json: Json = False) -> int:
    """Start no further hand at a table; the one in progress is played out."""
    return asyncio.run(ask(where, table, PauseTable, {"reason": reason}, again, json=json))


def resume(table: str, /, *, reason: Why = "", again: Again = ANEW, where: Where = NOWHERE, json: Json = False) -> int:
    """Start hands again at a table that was paused."""
    return asyncio.run(ask(where, table, ResumeTable, {"reason": reason}, again, json=json))


def close(table: str, /, *, reason: Why = "", again: Again = ANEW, where: Where = NOWHERE, json: Json = False) -> int:
    """Pay everybody out and close a table for good, between hands."""
    return asyncio.run(ask(where, table, CloseTable, {"reason": reason}, again, json=json))


def remove(
    table: str,
    player: str,
    /,
    *,
    reason: Why,
    again: Again = ANEW,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Have a player leave a table: at once between hands, in a hand as one who leaves it."""
    return asyncio.run(ask(where, table, RemovePlayer, {"player": player, "reason": reason}, again, json=json))


def adjust(
    table: str,
    player: str,
    amount: Annotated[str, Parameter(help="Chips to add; less than 0: to take away.", allow_leading_hyphen=True)],
    /,
    *,
    reason: Why,
    reference: Annotated[str, Parameter(help="What the correction is called elsewhere.")] = "",
    again: Again = ANEW,
    where: Where = NOWHERE,
    json: Json = False,
) -> int:
    """Correct a player's stack between hands."""
    fields = {"player": player, "amount": _chips(amount), "reason": reason, "reference": reference}
    return asyncio.run(ask(where, table, AdjustStack, fields, again, json=json))


def _chips(text: str) -> int:
    """A change of a stack as it is given. Raises `WrongArgument`."""
    number = whole(text)
    if number is None:
        raise WrongArgument(f"AMOUNT {text!r} is not accepted; a whole number of the smallest chips is, as 500 or -500")
    return number
