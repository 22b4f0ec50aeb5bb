"""Answers to commands: accepted, or rejected with a stable code, a sentence, and all that would be accepted."""

from typing import Literal

from contracts.data import Chips, Data, Instant, Message, Seat
from contracts.events.state import Turn

type Code = Literal[
    "malformed",
    "oversized",
    "unsupported_version",
    "unknown_actor",
    "not_allowed",
    "unknown_table",
    "table_exists",
    "table_closed",
    "paused",
    "not_paused",
    "stale",
    "duplicate_id",
    "busy",
    "no_hand",
    "hand_in_progress",
    "not_seated",
    "already_seated",
    "seat_taken",
    "table_full",
    "buy_in_out_of_range",
    "sitting_out",
    "not_sitting_out",
    "not_your_turn",
    "illegal_action",
    "below_minimum",
    "above_maximum",
    "not_a_whole_chip",
    "halted",
]


class Allowed(Data, frozen=True):
    """What would be accepted instead; only the fields that apply are there.

    `actions` are those of the open turn, which is `turn` with the whole legal range and `number` its number; without
    a turn they are commands. `minimum` and `maximum` bound an amount, `chip` is the unit that it must be a multiple of
    unless it is one of the two; `seats` are the free seats, for `already_seated` the player's own; `hand` the table's
    hand number.
    """

    actions: tuple[str, ...] = ()
    turn: Turn | None = None
    number: int | None = None
    minimum: Chips | None = None
    maximum: Chips | None = None
    chip: Chips | None = None
    seats: tuple[Seat, ...] = ()
    hand: int | None = None
    versions: tuple[int, ...] = ()
    actors: tuple[str, ...] = ()


class Accepted(Message, tag="accepted", frozen=True):
    """The command is in the log as the cause of commit `n`, whose SHA-256 is `head`."""

    id: str
    n: int
    head: str


class Rejected(Message, tag="rejected", frozen=True):
    """The command changed nothing; decided at commit `n`, whose SHA-256 is `head`. A refusal is final."""

    code: Code
    message: str
    id: str = ""
    allowed: Allowed = Allowed()
    n: int = 0
    head: str = ""


type Outcome = Accepted | Rejected

REFUSED_BODY_CHARACTERS_MAX = 4096
"""How much of a refused command's body is kept (DESIGN 4)."""


class Refusal(Data, frozen=True):
    """A command that was refused, kept in the stream `REFUSALS` so that a dispute about a click can be settled.

    `subject` says who sent it, `arrived` when, `body` is what was sent, as text and cut, `code` and `message` are what
    was answered, at commit `n` with the SHA-256 `head`.
    """

    subject: str
    arrived: Instant
    code: Code
    message: str
    body: str = ""
    n: int = 0
    head: str = ""
