"""The format of recorded hands and of fault cases: one hand, one JSON object, amounts in the smallest chip."""

from typing import Final

import msgspec

from contracts.cards import Card, Street
from contracts.events.state import Action, PostKind
from contracts.games import Limit, Variant

GAMES: Final[dict[str, tuple[Variant, Limit]]] = {
    "nlhe": ("holdem", "no_limit"),
    "plhe": ("holdem", "pot_limit"),
    "lhe": ("holdem", "fixed_limit"),
    "nlo": ("omaha", "no_limit"),
    "plo": ("omaha", "pot_limit"),
    "lo": ("omaha", "fixed_limit"),
    "nlo8": ("omaha8", "no_limit"),
    "plo8": ("omaha8", "pot_limit"),
    "lo8": ("omaha8", "fixed_limit"),
}
"""What a recorded hand calls a game: its variant and its limit."""


class RecordedStakes(msgspec.Struct, frozen=True):
    """Nominal stakes; what was posted may be less, or more."""

    small_blind: int
    big_blind: int
    small_bet: int = 0
    big_bet: int = 0
    ante: int = 0


class RecordedSeat(msgspec.Struct, frozen=True):
    """A player dealt in, with the stack before any post."""

    seat: int
    stack: int
    player: str = ""


class RecordedPost(msgspec.Struct, frozen=True):
    """A post; `live`: part of the player's wager before the flop."""

    seat: int
    kind: PostKind
    amount: int
    live: bool


class RecordedAction(msgspec.Struct, frozen=True):
    """A decision: `amount` is the chips added, `to` the seat's total on the street after it."""

    street: Street
    seat: int
    do: Action
    amount: int
    to: int
    all_in: bool = False


class RecordedReturn(msgspec.Struct, frozen=True):
    """What came back to a seat because nobody matched it."""

    seat: int
    amount: int


class RecordedDispute(msgspec.Struct, frozen=True):
    """Why rooms and engines differ about a hand; `rule` says what explains it."""

    rule: str = ""
    pokerkit: str = ""


class ExpectedOptions(msgspec.Struct, frozen=True):
    """What may be done: `call` in chips to add, `raise_min` and `raise_max` as street totals."""

    fold: bool
    check: bool
    call: int | None
    raise_min: int | None
    raise_max: int | None


class OptionsAt(msgspec.Struct, frozen=True):
    """The options of `seat` after so many actions."""

    after_action: int
    seat: int
    options: ExpectedOptions


class PotAt(msgspec.Struct, frozen=True):
    """All chips posted or wagered after so many actions."""

    after_action: int
    pot: int


class ExpectedPot(msgspec.Struct, frozen=True):
    """A pot before rake, and the seats that contest it."""

    amount: int
    seats: tuple[int, ...]


class SeatingBefore(msgspec.Struct, frozen=True):
    """Positions of a hand, and everybody who was seated."""

    button: int
    small_blind: int | None
    big_blind: int | None
    seats: tuple[int, ...]


class SeatingAfter(msgspec.Struct, frozen=True):
    """Positions of the next hand."""

    button: int
    small_blind: int | None
    big_blind: int | None
    dead_small_blind: bool = False


class ExpectedSeating(msgspec.Struct, frozen=True):
    """Where button and blinds go under the named rule when one player leaves."""

    rule: str
    before: SeatingBefore
    leaves: int
    after: SeatingAfter


class Expected(msgspec.Struct, frozen=True):
    """What a fault case asks for; only the fields that are there are compared."""

    options_at: tuple[OptionsAt, ...] = ()
    pot_at: tuple[PotAt, ...] = ()
    pots: tuple[ExpectedPot, ...] | None = None
    payouts: dict[int, int] | None = None
    uncalled: RecordedReturn | None = None
    rake: int | None = None
    no_action_after: int | None = None
    seating: ExpectedSeating | None = None


class Recorded(msgspec.Struct, frozen=True):
    """A recorded hand. Results that a case leaves open are None. Fields unknown here are passed over."""

    id: str
    game: str
    stakes: RecordedStakes
    button: int
    seats: tuple[RecordedSeat, ...]
    posts: tuple[RecordedPost, ...]
    hole: dict[int, tuple[Card, ...] | None]
    actions: tuple[RecordedAction, ...]
    board: tuple[Card, ...]
    uncalled: RecordedReturn | None = None
    shown: tuple[int, ...] = ()
    mucked: tuple[int, ...] = ()
    total_pot: int | None = None
    pots: tuple[int, ...] | None = None
    rake: int | None = None
    payouts: dict[int, int] | None = None
    finishing: dict[int, int] | None = None
    rake_rule: str | None = None
    source: str = ""
    dispute: RecordedDispute | None = None
    expect: Expected | None = None
