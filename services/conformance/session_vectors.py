"""The format of rule vectors about what happens around hands: of kinds cash, cancel and timeout."""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from contracts.data import END, Chips, Seat
from contracts.events.state import Owed

type Minutes = Annotated[int, Meta(ge=0, le=1_000_000)]
type SeatName = Annotated[str, Meta(pattern=r"^[0-9]{1,2}" + END)]
type Seconds = Annotated[int, Meta(ge=0, le=3600)]


class ReturnInput(msgspec.Struct, frozen=True):
    """Who left so many minutes ago, with how much, and what the table asks for."""

    left_with: Chips
    minutes: Minutes
    min_buyin: Chips
    limit: Literal["NL", "PL", "FL"]
    max_buyin: Chips | None = None
    window: Minutes = 120


class ReturnExpected(msgspec.Struct, frozen=True):
    """With how much the player may come back; no maximum: None."""

    min: Chips
    max: Chips | None = None


class ReturnVector(msgspec.Struct, frozen=True):
    """With how much a player may come back who left not long ago."""

    id: str
    input: ReturnInput
    expect: ReturnExpected


class LeastBuyIn(msgspec.Struct, frozen=True):
    """The least buy-in suggested for a lower stake."""

    lower: Chips
    min_buyin: Chips


class LeastBuyInVector(msgspec.Struct, frozen=True):
    """Which least buy-ins are suggested."""

    id: str
    expect: tuple[LeastBuyIn, ...]


class TopUpInput(msgspec.Struct, frozen=True):
    """Chips that are asked for in a hand which a player wins or loses."""

    stack_before: Chips
    max_buyin: Chips
    topup_requested: Chips
    hand_result: Annotated[int, Meta(ge=-(2**53), le=2**53)]


class TopUpExpected(msgspec.Struct, frozen=True):
    """What the hand leaves, and how much of the chips comes in after it."""

    stack_after_hand: Chips
    topup_applied: Chips
    stack: Chips
    returned_to_account: Chips


class TopUpVector(msgspec.Struct, frozen=True):
    """Chips asked for during a hand."""

    id: str
    input: TopUpInput
    expect: TopUpExpected


class LeavingInput(msgspec.Struct, frozen=True):
    """Who leaves between hands, with how much at the table and in the account."""

    account: Chips
    stack: Chips
    committed_in_hand: Literal[0]


class LeavingExpected(msgspec.Struct, frozen=True):
    """What is then in the account and at the table."""

    account: Chips
    stack: Chips


class LeavingVector(msgspec.Struct, frozen=True):
    """Who leaves is paid out."""

    id: str
    input: LeavingInput
    expect: LeavingExpected


class FoldedInput(msgspec.Struct, frozen=True):
    """Who leaves in a hand, having wagered a part of the stack."""

    account: Chips
    start_stack: Chips
    committed: Chips
    folds: Literal[True]


class FoldedExpected(msgspec.Struct, frozen=True):
    """What is then in the account, and what stays in the pot."""

    account: Chips
    pot_keeps: Chips


class FoldedVector(msgspec.Struct, frozen=True):
    """Who leaves in a hand folds, and is paid out after it."""

    id: str
    input: FoldedInput
    expect: FoldedExpected


class VoidInput(msgspec.Struct, frozen=True):
    """A hand up to the turn: the table before it, and what each player put in."""

    stacks_before: dict[Seat, Chips]
    button_before: Seat
    debts_before: dict[Seat, Owed]
    committed: dict[Seat, Chips]


class VoidExpected(msgspec.Struct, frozen=True):
    """The table after the hand was cancelled."""

    stacks: dict[Seat, Chips]
    rake: Chips
    button_next_hand: Literal["as if the cancelled hand had not been dealt"]
    debts: dict[Seat, Owed]


class VoidVector(msgspec.Struct, frozen=True):
    """A hand that is cancelled."""

    id: str
    input: VoidInput
    expect: VoidExpected


class SettledInput(msgspec.Struct, frozen=True):
    """A hand that has ended."""

    state: Literal["settled"]


class SettledExpected(msgspec.Struct, frozen=True):
    """Whether it can be cancelled."""

    cancel: Literal["refused", "accepted"]


class SettledVector(msgspec.Struct, frozen=True):
    """A hand that is final."""

    id: str
    input: SettledInput
    expect: SettledExpected


class Facing(msgspec.Struct, frozen=True):
    """A turn whose player does nothing: chips to call, and seconds in the time bank."""

    facing: Chips
    time_bank: Seconds


class TimeoutVector(msgspec.Struct, frozen=True):
    """What is decided for a player whose time runs out."""

    id: str
    input: tuple[Facing, ...]
    expect: tuple[str, ...]


class ProtectionInput(msgspec.Struct, frozen=True):
    """All wager the same, then one bets, a disconnected player does nothing, and one calls."""

    stacks: dict[Seat, Chips]
    committed_each: Chips
    seat_disconnected: Seat
    next_bet_by: SeatName
    next_bet: Chips
    caller: SeatName
    option: Literal["disconnect_protection=allin"]


class ProtectionExpected(msgspec.Struct, frozen=True):
    """The pots, main pot first, and who contests each."""

    pots: tuple[Chips, ...]
    eligible: tuple[tuple[Seat, ...], ...]


class ProtectionVector(msgspec.Struct, frozen=True):
    """A disconnected player who counts as all-in."""

    id: str
    input: ProtectionInput
    expect: ProtectionExpected


type SessionVector = (
    ReturnVector
    | LeastBuyInVector
    | TopUpVector
    | LeavingVector
    | FoldedVector
    | VoidVector
    | SettledVector
    | TimeoutVector
    | ProtectionVector
)

SHAPES: Final[tuple[tuple[str, str, Any], ...]] = (
    ("cash", "left_with", ReturnVector),
    ("cash", "topup_requested", TopUpVector),
    ("cash", "committed_in_hand", LeavingVector),
    ("cash", "folds", FoldedVector),
    ("cancel", "committed", VoidVector),
    ("cancel", "state", SettledVector),
    ("timeout", "seat_disconnected", ProtectionVector),
)
"""Kind, a word of the input that only vectors of this shape have, and the shape."""


def shape_of(kind: str, given: object) -> Any | None:  # noqa: ANN401
    """The shape of a vector of this kind with such an input; None: it is none of these."""
    if kind == "cash" and given is None:
        return LeastBuyInVector
    if kind == "timeout" and isinstance(given, list):
        return TimeoutVector
    words = given if isinstance(given, dict) else {}
    return next((shape for named, word, shape in SHAPES if named == kind and word in words), None)
