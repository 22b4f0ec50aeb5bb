"""The format of rule vectors: worked examples of the rule book, several kinds in one file."""

from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta

from contracts.cards import Card, Street
from contracts.data import END
from contracts.games import Limit, Variant
from services.conformance.session_vectors import SessionVector, shape_of
from services.conformance.vector_schedules import VectorSchedule

type VectorAction = Annotated[str, Meta(pattern=r"^\d{1,2}:(fold|check|call|allin|(bet|raise_to) \d{1,15})$")]
"""A seat and what it does: `3:raise_to 350`."""

LIMITS: Final[dict[str, Limit]] = {"NL": "no_limit", "PL": "pot_limit", "FL": "fixed_limit"}


class VectorStakes(msgspec.Struct, frozen=True):
    """The stakes."""

    sb: int
    bb: int
    small_bet: int = 0
    big_bet: int = 0
    ante: int = 0


class VectorSeat(msgspec.Struct, frozen=True):
    """A player; `post`: a live big blind out of turn, alone or with a dead small blind."""

    seat: int
    stack: int
    post: Literal["bb", "bb+dead_sb"] | None = None


class Legal(msgspec.Struct, frozen=True):
    """What may be done: `call` in chips to add, `bet` and `raise_to` as lowest and highest street total."""

    fold: bool
    check: bool
    call: int | None
    bet: tuple[int, int] | None
    raise_to: tuple[int, int] | None


class Checkpoint(msgspec.Struct, frozen=True):
    """Where the hand stands immediately before an action."""

    before_action: int
    street: Street
    to_act: int
    pot_total: int
    bet_to: int
    legal: Legal


class VectorPot(msgspec.Struct, frozen=True):
    """A pot before rake, its rake, who contests it, who wins, and what each gets."""

    amount: int
    eligible: tuple[int, ...]
    rake: int
    high_winners: tuple[int, ...]
    shares: dict[int, int]
    odd_chips: tuple[int, ...] = ()
    low_winners: tuple[int, ...] = ()
    high_half: int | None = None
    low_half: int | None = None
    uncontested: bool = False


class VectorWorth(msgspec.Struct, frozen=True):
    """A hand in words."""

    high: str
    low: str | None = None


class HandExpected(msgspec.Struct, frozen=True):
    """What a hand comes to."""

    log: tuple[str, ...]
    checkpoints: tuple[Checkpoint, ...]
    uncalled_returned: dict[int, int]
    pots: tuple[VectorPot, ...]
    rake_total: int
    payouts: dict[int, int]
    final_stacks: dict[int, int]
    showdown_order: tuple[int, ...]
    must_show: tuple[int, ...]
    may_muck: tuple[int, ...]
    hands: dict[int, VectorWorth]


class HandVector(msgspec.Struct, frozen=True):
    """A hand from the first post to the last chip."""

    id: str
    game: Variant
    limit: Literal["NL", "PL", "FL"]
    stakes: VectorStakes
    options: dict[str, Any]
    seats: tuple[VectorSeat, ...]
    button: int
    hole: dict[int, tuple[Card, ...]]
    board: tuple[Card, ...]
    actions: tuple[VectorAction, ...]
    expect: HandExpected
    rake: VectorSchedule | None = None


class ButtonSeat(msgspec.Struct, frozen=True):
    """A player between two hands; `since` orders those who sat down."""

    active: bool
    debt: Literal["none", "new", "missed_big", "missed_small", "missed_both"] = "none"
    choice: Literal["wait", "post"] = "wait"
    since: int = 0


class ButtonBefore(msgspec.Struct, frozen=True):
    """The positions of the last hand."""

    button: int
    sb: int | None = None
    bb: int | None = None


class ButtonInput(msgspec.Struct, frozen=True):
    """A table between two hands."""

    seats: dict[int, ButtonSeat]
    prev: ButtonBefore | None = None
    mode: Literal["moving", "dead"] = "moving"
    first_button: Literal["first_to_sit", "lowest_seat", "random"] = "first_to_sit"


class ButtonExpected(msgspec.Struct, frozen=True):
    """The positions of the next hand, extra posts, who is dealt in and who waits."""

    start: bool
    fresh: bool = False
    button: int | None = None
    sb: int | None = None
    bb: int | None = None
    posts: dict[int, str] = {}
    dealt: tuple[int, ...] = ()
    waiting: tuple[int, ...] = ()


class ButtonVector(msgspec.Struct, frozen=True):
    """Where button and blinds go."""

    id: str
    input: ButtonInput
    expect: ButtonExpected


class DealInput(msgspec.Struct, frozen=True):
    """A deck, top card first, and to whom it is dealt."""

    order: tuple[int, ...]
    hole_cards: int
    burn: bool
    deck_top_first: tuple[Card, ...]


class DealExpected(msgspec.Struct, frozen=True):
    """Where the cards went."""

    hole: dict[int, tuple[Card, ...]]
    burns: tuple[Card, ...]
    board: tuple[Card, ...]
    cards_left: int


class DealVector(msgspec.Struct, frozen=True):
    """Which card goes where."""

    id: str
    input: DealInput
    expect: DealExpected


class BlindGuideline(msgspec.Struct, frozen=True):
    """The blinds suggested for a pair of stakes."""

    lower: int
    upper: int
    small_blind: int
    big_blind: int


class GuidelineVector(msgspec.Struct, frozen=True):
    """Which blinds are suggested."""

    id: str
    expect: tuple[BlindGuideline, ...]


class RakeAt(msgspec.Struct, frozen=True):
    """The rake of a pot with so many players dealt in."""

    pot: int
    dealt: int
    rake: int


class RakeVector(msgspec.Struct, frozen=True):
    """What a schedule takes."""

    id: str
    schedule: VectorSchedule
    expect: tuple[RakeAt, ...]


type FiveCards = Annotated[
    str, Meta(pattern=r"^([2-9TJQKA][cdhs] ){4}[2-9TJQKA][cdhs]" + END, description="Five cards, a space between them.")
]


class Comparison(msgspec.Struct, frozen=True):
    """Two hands of five: 1 where the first wins, -1 where the second does, 0 for equal ones."""

    a: FiveCards
    b: FiveCards
    result: int


class RankVector(msgspec.Struct, frozen=True):
    """Which of two hands is better: `side` high or low."""

    id: str
    kind: Literal["rank_high", "rank_low"]
    expect: tuple[Comparison, ...]


class OtherVector(msgspec.Struct, frozen=True):
    """A vector of a kind that is not played."""

    id: str
    kind: str


type Vector = (
    HandVector | ButtonVector | DealVector | GuidelineVector | RakeVector | RankVector | SessionVector | OtherVector
)

_KINDS: Final[dict[str, Any]] = {
    "hand": HandVector,
    "button": ButtonVector,
    "deal": DealVector,
    "blind_guideline": GuidelineVector,
    "rake_calc": RakeVector,
    "rank_high": RankVector,
    "rank_low": RankVector,
}


def vector(entry: object) -> Vector:
    """Reads one vector. Raises `msgspec.ValidationError`."""
    given = entry if isinstance(entry, dict) else {}
    kind = str(given.get("kind"))
    shape = _KINDS.get(kind) or shape_of(kind, given.get("input")) or OtherVector
    found: Vector = msgspec.convert(entry, shape, str_keys=True)
    return found
