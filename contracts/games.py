"""Games, stakes and the options of a table (RULES 0.1)."""

from typing import Annotated, Final, Literal

from msgspec import Meta

from contracts.data import END, Chips, Data, Id, Milliseconds

type Variant = Literal["holdem", "omaha", "omaha8"]
type Limit = Literal["no_limit", "pot_limit", "fixed_limit"]
type Money = Literal["real", "play"]

HOLE_CARDS: Final[dict[Variant, int]] = {"holdem": 2, "omaha": 4, "omaha8": 4}
"""Hole cards dealt to each player (R32)."""

RULES_VERSION: Final = 3
"""The newest version of the rules that this release knows.

1: the rules of the first release. 2: `hand_started` says what was owed before its posts, so that a cancelled hand gives
the debts back (R122), and where a dead small blind would stand, which is where the button goes next (R15); nobody comes
in on a dead button (R22); a player whose big blind was skipped keeps the good standing (R28); and a turn that ran out
while no service was there begins anew (R123). 3: who is connected is told in vain some hands later, as an act is, and
makes a table forget no other command; who comes back needs what was taken away the last time, not the most (R10);
a top-up that was queued comes in by the options of the next hand (R7); and a fresh start wipes the debts of those who
sit out, too (R29).
"""


class Stakes(Data, frozen=True):
    """What is at stake, in chips. `small_bet` and `big_bet` count in fixed-limit games alone (R65)."""

    small_blind: Chips
    big_blind: Annotated[int, Meta(ge=1, le=2**53 - 1)]
    small_bet: Chips = 0
    big_bet: Chips = 0
    ante: Chips = 0


class BuyIn(Data, frozen=True):
    """The least and the most that a player may bring to the table (R6); no maximum: None."""

    minimum: Chips
    maximum: Chips | None = None


class RakeBand(Data, frozen=True):
    """The rates for a number of players dealt in (R107, R108).

    Mode `step` uses `step_pot` and `step_rake`, mode `percent` uses `basis_points`, mode `breakpoints` uses
    `thresholds`: pairs (pot, cumulative rake), ascending.
    """

    players: tuple[int, int]
    cap: Chips | None = None
    step_pot: Chips = 0
    step_rake: Chips = 0
    basis_points: Chips = 0
    thresholds: tuple[tuple[Chips, Chips], ...] = ()


class RakeSchedule(Data, frozen=True):
    """A rake schedule (R107 to R112): named and versioned, so that a hand can say by which one it was raked."""

    id: Id
    version: int
    mode: Literal["step", "percent", "breakpoints"]
    bands: tuple[RakeBand, ...]
    minimum: Chips = 0
    round_to: Annotated[int, Meta(ge=1, le=2**53 - 1)] = 1
    no_flop_no_drop: bool = True
    allocation: Literal["proportional", "main_first"] = "proportional"
    attribution: Literal["dealt", "weighted"] = "dealt"


class Options(Data, frozen=True):
    """The house's choices where rooms differ; each names its rule.

    The defaults are the rule book's, but for four that are 0, and stay so, as no default ever changes:
    it has 30 s for `time_bank_ms`, 20 s for `disconnect_ms`, 15 min for `sit_out_ms` and 2 for `sit_out_blinds`.
    """

    first_button: Literal["first_to_sit", "lowest_seat", "random"] = "first_to_sit"  # R13
    button_mode: Literal["moving", "dead"] = "moving"  # R14, R15
    skipped_blind_policy: Literal["forgive", "post"] = "forgive"  # R28
    heads_up_button: Literal["small_blind", "big_blind"] = "small_blind"  # R17, R149
    burn_cards: bool = True  # R35
    fl_cap: Annotated[int, Meta(ge=1)] = 4  # R68
    fl_cap_headsup: Literal["capped", "unlimited"] = "capped"  # R69
    fl_allin_reopen: Literal["half", "full"] = "half"  # R70
    fl_raise_after_allin: Literal["add_bet", "full_level"] = "add_bet"  # R70: 24.50 or 32 over 8.50 on a street of 16
    pl_pot_basis: Literal["all_pots", "active_pot"] = "all_pots"  # R63
    pl_short_blind: Literal["actual", "nominal"] = "actual"  # R61
    pl_sb_as_bb: bool = False  # R62
    muck: Literal["losers_may_muck", "show_all"] = "losers_may_muck"  # R84, R86
    allin_reveal: Literal["all", "normal"] = "all"  # R85
    allin_expose_time: Literal["before_board", "at_showdown"] = "before_board"  # R85
    ante_mode: Literal["each", "big_blind"] = "each"  # R146, counts when the stakes have an ante
    straddle: bool = False  # R147
    cap_per_hand: Chips = 0  # R151; 0: no cap
    odd_chip_unit: Annotated[int, Meta(ge=1, le=2**53 - 1)] = 1  # R152
    odd_chip_order: Literal["left_of_button", "button_first"] = "left_of_button"  # R100
    odd_quarter_chip: Literal["low", "high"] = "low"  # R102: who gets the odd chip of a shared low half
    act_ms: Annotated[int, Meta(ge=1, le=3_600_000)] = 30_000  # R116
    hand_gap_ms: Milliseconds = 0
    rules: Annotated[int, Meta(ge=1)] = 1
    rathole_ms: Milliseconds = 7_200_000  # R10: for so long a player comes back with no less than was taken away
    time_bank_ms: Milliseconds = 0  # R117: what a time bank holds at most, and at first; 0: there is none
    time_bank_refill_ms: Milliseconds = 0  # R117
    time_bank_refill_hands: Annotated[int, Meta(ge=0, le=1_000_000)] = 0  # R117: refilled once in so many hands
    disconnect_ms: Milliseconds = 0  # R118: more time, once a decision, for who is disconnected
    disconnect_protection: Literal["none", "allin"] = "none"  # R118
    sit_out_ms: Milliseconds = 0  # R11: who sits out longer loses the seat; 0: nobody does
    sit_out_blinds: Annotated[int, Meta(ge=0, le=1000)] = 0  # R11: the same after so many missed big blinds
    reserve_ms: Annotated[int, Meta(ge=1, le=3_600_000)] = 60_000  # how long a seat stays reserved
    break_ms: Milliseconds = 0  # a table closes when no hand could start for so long; 0: it never does


class TableConfig(Data, frozen=True):
    """All that is fixed when a table is opened; a change takes effect from the next hand.

    `bankroll`: who answers for the chips. `lobby`: whoever seats a player has taken the money already. `cashier`: a
    seat is reserved, the cashier moves the chips between the player's account and the table's, and the player is
    seated with them.
    """

    variant: Variant
    limit: Limit
    stakes: Stakes
    seats: Annotated[int, Meta(ge=2, le=10)]
    buy_in: BuyIn
    options: Options = Options()
    rake: RakeSchedule | None = None
    money: Money = "real"
    currency: Annotated[str, Meta(pattern="^[A-Z]{3,5}" + END)] = "USD"
    bankroll: Literal["lobby", "cashier"] = "lobby"
