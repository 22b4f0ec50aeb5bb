"""Bodies of account commands that fit a ledger as it is, and such that nearly do."""

import json
from datetime import timedelta
from functools import cache
from typing import Any, Final

from contracts.codec import encode
from contracts.data import CHIPS_MAX
from contracts.subjects import ActorKind
from services.cashier.intake import KINDS
from tests.accounting.evening import evening
from tests.fuzz.choices import Choices
from tests.fuzz.counter import Counter
from tests.fuzz.mutation import mutated

PLAYERS: Final = ("alice", "bob", "carol", "dora", "eve", "mallory")
ACCOUNTS: Final = (
    *(f"player.{player}" for player in PLAYERS),
    "rake", "suspense", "cash", "table.main.T1", "table.main.T9", "player", "cash.alice",
)  # fmt: skip
AMOUNTS: Final = (
    1,
    5,
    100,
    500,
    1000,
    0,
    -1,
    CHIPS_MAX,
    CHIPS_MAX - 1,
    CHIPS_MAX - 4000,
    CHIPS_MAX + 1,
    CHIPS_MAX // 2,
)
SENDERS: Final[tuple[ActorKind, ...]] = ("operator",) * 12 + ("lobby",) * 3 + ("player",)
LATE_S: Final = (0, 0, 0, 0, 0, 0, 1, -1, 86_400, 86_401, -300, -301, 10**6, -(10**6))
"""So long before it arrives is a command made."""


@cache
def commands() -> tuple[bytes, ...]:
    """The account commands of an evening."""
    causes = (commit.cause for commit in evening().books.commits)
    return tuple(encode(cause.command) for cause in causes if cause is not None)


def command(counter: Counter, choices: Choices) -> tuple[ActorKind, str, bytes]:
    """Who sends what: mostly who may, what fits, and one in four altered."""
    kind = choices.one_of(KINDS)
    try:
        made = (counter.at - timedelta(seconds=choices.one_of(LATE_S))).isoformat()
    except OverflowError:
        made = counter.at.isoformat()
    fields = {"type": kind, "id": f"c{choices.below(64)}", "made": made, **_fields(kind, counter, choices)}
    body = json.dumps(fields).encode()
    if choices.below(4) == 1:
        body = mutated(body, choices, choices.one_of(commands()))
    return choices.one_of(SENDERS), choices.one_of(("ann", "ann", "ann", "web")), body


def _fields(kind: str, counter: Counter, choices: Choices) -> dict[str, Any]:
    reference = f"r{choices.below(64)}"
    if kind == "correct":
        source, target = choices.one_of(ACCOUNTS), choices.one_of(ACCOUNTS)
        amount = _amount(counter, source, choices)
        return {"source": source, "target": target, "amount": amount, "reason": "x", "reference": reference}
    player = choices.one_of(PLAYERS)
    if kind in ("deposit", "withdraw"):
        amount = _amount(counter, f"player.{player}", choices)
        return {"player": player, "amount": amount, "reference": reference}
    return {"player": player, "reason": "x"}


def _amount(counter: Counter, account: str, choices: Choices) -> int:
    """All that there is, one more, or any other amount."""
    balance = counter.ledger.balance(account)
    return choices.one_of((balance, balance + 1, choices.number(2), *AMOUNTS))
