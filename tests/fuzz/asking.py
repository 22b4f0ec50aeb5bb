"""Bodies of commands that fit a table as it is, and such that nearly do."""

import json
from functools import cache
from typing import Any, Final

from contracts.codec import builtins
from contracts.subjects import ActorKind
from services.aggregate.table import Table
from services.table.refusals import legal
from tests.fuzz import seeds
from tests.fuzz.choices import Choices
from tests.fuzz.house import states
from tests.fuzz.mutation import mutated, options

AMOUNTS: Final = (0, 1, 5, 30, 99, 100, 101, 1000, 2000, 2001, 10**9, 2**52, 2**53 - 1, 2**53)
SENDERS: Final[dict[str, ActorKind]] = {
    "act": "player",
    "take_seat": "lobby",
    "top_up": "lobby",
    "leave_table": "lobby",
    "sit_out": "lobby",
    "return_to_play": "lobby",
    "pause_table": "operator",
    "resume_table": "operator",
    "close_table": "operator",
    "open_table": "operator",
}
IN_HAND: Final = ("act",) * 12 + ("take_seat",) * 2 + tuple(SENDERS)
BETWEEN_HANDS: Final = ("take_seat",) * 4 + ("top_up", "return_to_play", "resume_table") * 2 + tuple(SENDERS)
STAKES: Final = (0, 1, 2, 7, 50, 100, 200, 10**6, 2**53 - 1)


def command(table: Table, choices: Choices) -> tuple[ActorKind, str, bytes]:
    """Who sends what to a table: mostly who may, what fits, and one in four altered."""
    kinds = ("open_table",) if table.config is None else BETWEEN_HANDS if table.hand is None else IN_HAND
    kind = choices.one_of(kinds)
    player = f"P{choices.below(9)}"
    who: tuple[ActorKind, str] = (SENDERS[kind], player if SENDERS[kind] != "player" else _to_act(table, player))
    fields = {"type": kind, "id": f"c{choices.number(2)}", "hand": table.hands, **_fields(kind, table, player, choices)}
    body = json.dumps(fields).encode()
    if choices.below(4) == 1:
        body = mutated(body, choices, choices.one_of(seeds.commands()))
    if choices.below(16) == 1:
        who = (choices.one_of(("player", "lobby", "operator")), player)
    return *who, body


def decision(table: Table, choices: Choices) -> tuple[ActorKind, str, bytes]:
    """What the player whose turn it is may do."""
    fields = {"type": "act", "id": f"a{table.n}", "hand": table.hands, **_act(table, choices)}
    return "player", _to_act(table, "P1"), json.dumps(fields).encode()


def _to_act(table: Table, otherwise: str) -> str:
    turn = table.hand.open_turn if table.hand is not None else None
    return otherwise if turn is None or turn.seat not in table.seats else table.seats[turn.seat].player


def _fields(kind: str, table: Table, player: str, choices: Choices) -> dict[str, Any]:
    match kind:
        case "act":
            return _act(table, choices)
        case "take_seat":
            chosen = {"choice": choices.one_of(("wait", "post"))}
            return {"player": player, "buy_in": choices.one_of((1000, *_amounts(choices))), **chosen}
        case "top_up":
            return {"player": player, "amount": choices.one_of(_amounts(choices))}
        case "leave_table" | "sit_out" | "return_to_play":
            return {"player": player}
        case "open_table":
            return {"config": config(choices)}
        case _:
            return {}


def config(choices: Choices) -> dict[str, Any]:
    """A configuration of any options, at any stakes, raked in any way."""
    found = {**_opened()[choices.below(len(_opened()))], "options": options(choices)}
    if choices.below(2):
        names = ("small_blind", "big_blind", "small_bet", "big_bet", "ante")
        found["stakes"] = {name: choices.one_of(STAKES) for name in names}
    if choices.below(2):
        found["limit"] = choices.one_of(("no_limit", "pot_limit", "fixed_limit"))
        found["rake"] = _schedule(choices)
    if choices.below(2):
        found["buy_in"] = {"minimum": choices.one_of(STAKES), "maximum": choices.one_of((None, *STAKES))}
    return found


@cache
def _opened() -> tuple[dict[str, Any], ...]:
    configs = [state.table.config for state in states() if state.table.config is not None]
    return tuple(builtins(found) for found in dict.fromkeys(configs))


def _schedule(choices: Choices) -> dict[str, Any]:
    low = choices.below(4)
    band = {
        "players": [low, low + choices.below(10)],
        "cap": choices.one_of((None, *STAKES)),
        "step_pot": choices.one_of(STAKES),
        "step_rake": choices.one_of(STAKES),
        "basis_points": choices.one_of((0, 1, 500, 9999, 10_000)),
        "thresholds": [[choices.one_of(STAKES), choices.one_of(STAKES)] for _ in range(choices.below(3))],
    }
    return {
        "id": "fuzzed",
        "version": 1,
        "mode": choices.one_of(("step", "percent", "breakpoints")),
        "bands": [band] * choices.one_of((1, 1, 1, 0, 2)),
        "minimum": choices.one_of(STAKES),
        "round_to": choices.one_of((1, 5, 100, 2**53 - 1)),
        "no_flop_no_drop": choices.below(2) == 1,
        "allocation": choices.one_of(("proportional", "main_first")),
        "attribution": choices.one_of(("dealt", "weighted")),
    }


def _act(table: Table, choices: Choices) -> dict[str, Any]:
    if table.hand is None:
        return {"turn": choices.below(4), "action": "fold"}
    offered = legal(table.hand)
    action = choices.one_of(offered.actions or ("fold",))
    fields: dict[str, Any] = {"turn": offered.number or 0, "action": action}
    if action in ("bet", "raise"):
        fields["to"] = choices.one_of((offered.minimum, offered.maximum, *_amounts(choices)))
    return fields


def _amounts(choices: Choices) -> tuple[int, ...]:
    return (*AMOUNTS, choices.number(2))
