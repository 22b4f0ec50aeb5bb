"""The records of which events, and the state of a table, are made."""

from typing import Annotated, Literal

from msgspec import Meta

from contracts.data import END, Chips, Data, Id, Instant, Milliseconds, Number, Seat, Sha256, SignedChips
from contracts.games import TableConfig
from contracts.subjects import ActorKind

type Action = Literal["fold", "check", "call", "bet", "raise"]
type PostKind = Literal["ante", "small_blind", "big_blind", "new_player_blind", "dead_blind", "straddle"]
type Owed = Literal["none", "new", "missed_big", "missed_small", "missed_both", "skipped"]
type TableStatus = Literal["open", "paused", "closed"]


class Actor(Data, frozen=True):
    """Who sent a command: taken from the subject, which permissions guard, never from the body."""

    kind: ActorKind
    name: Id


class SeatRecord(Data, frozen=True):
    """A held seat (R4): who holds it, with how much, and what the player owes or has asked for.

    `sitting_out` players are not dealt in. `away` and `leaving` were asked for during a hand and take effect at the
    player's next decision and at the hand's end (R119, R120); `timed_out`: away because the time ran out (R116),
    `removed`: leaving because an operator, or the cashier, wants it. `owes`
    and `choice` say which blinds are missed and whether the player posts them or waits for the big blind (R21, R25);
    `skipped`, in good standing, was passed over by the big blind and posts it in the next hand (R28; from rules 2 on).
    `sat` numbers the order of sitting down. `request` is the number of a top-up that the cashier has not answered yet,
    `requested` its amount, and it ends unanswered at `request_expires`. `time_bank` is what is left of it, `bank_hands`
    counts the hands since it was refilled (R117). `sat_out_at` says since when the player sits out, `missed` counts the
    big blinds missed since (R11).
    """

    seat: Seat
    player: Id
    stack: Chips
    sat: int
    sitting_out: bool = False
    away: bool = False
    timed_out: bool = False
    leaving: bool = False
    removed: bool = False
    owes: Owed = "none"
    choice: Literal["wait", "post"] = "wait"
    top_up: Chips = 0
    request: Number | None = None
    requested: Chips = 0
    request_expires: Instant | None = None
    connected: bool = True
    time_bank: Milliseconds = 0
    bank_hands: int = 0
    sat_out_at: Instant | None = None
    missed: int = 0


class Reservation(Data, frozen=True):
    """A seat that is kept for a player until it `expires`; `number` is the commit that reserved it.

    With a `buy_in` the cashier is asked for the chips; without one the player has still to say for how many.
    """

    seat: Seat
    player: Id
    number: Number
    expires: Instant
    buy_in: Chips = 0
    choice: Literal["wait", "post"] = "wait"


class SeatOwed(Data, frozen=True):
    """What a seat owed before a hand, and its time bank; `SeatRecord` says what each field means (R117, R122)."""

    seat: Seat
    owes: Owed = "none"
    choice: Literal["wait", "post"] = "wait"
    missed: int = 0
    time_bank: Milliseconds = 0
    bank_hands: int = 0


class Positions(Data, frozen=True):
    """Button and blinds of a hand; a dead small blind, or none: None (R15). The button may mark an empty seat.

    `dead_small_blind`: the seat where a small blind that is dead would stand, and the next button does (from rules 2
    on).
    """

    button: Seat
    small_blind: Seat | None = None
    big_blind: Seat | None = None
    dead_small_blind: Seat | None = None


class Post(Data, frozen=True):
    """A blind, ante or other post. `live`: part of the player's wager before the flop; else straight to the pot."""

    seat: Seat
    kind: PostKind
    amount: Chips
    live: bool = True
    all_in: bool = False


class HandPlayer(Data, frozen=True):
    """A player dealt into the hand.

    `stack` is what is left behind. `street_total` is what the player has wagered on this street, `total` in the whole
    hand (live chips, and antes that each player posts: R74, R146), `dead` what went straight to the pot (R76).
    `acted`: has acted since the street opened; `seen`: the level when the player last acted (R55, R56). `protected`:
    was disconnected and counts as all-in for what is wagered already (R118).
    """

    seat: Seat
    player: Id
    stack: Chips
    street_total: Chips = 0
    total: Chips = 0
    dead: Chips = 0
    folded: bool = False
    acted: bool = False
    seen: Chips = 0
    protected: bool = False


class Betting(Data, frozen=True):
    """Where the betting of a street stands.

    `level`: the highest street total, or the nominal big blind before the flop. `full_raise`: size of the last full
    bet or raise (R53). `full_level`: the last full level and `bets`: the bets that count against the cap (fixed-limit,
    R68, R70). `capped`: the cap was reached with more than two players live (R69). `aggressor`: who bet or raised
    last on this street (R81).
    """

    level: Chips = 0
    full_raise: Chips = 0
    full_level: Chips = 0
    bets: int = 0
    capped: bool = False
    aggressor: Seat | None = None


class Turn(Data, frozen=True):
    """Who is to act, and all that the player may do. Folding is always allowed (R41).

    `call`: chips to add (None: nothing to call). `wager`: whether more chips would be a bet or a raise (None: neither
    is open), `minimum` and `maximum` the lowest and highest street total it may reach; equal when only one is legal.
    `act_ms`: how long the player has from the moment the turn opens, and `bank_ms` how long the time bank then lasts
    (R116, R117).
    """

    seat: Seat
    check: bool
    act_ms: Milliseconds
    call: Chips | None = None
    wager: Literal["bet", "raise"] | None = None
    minimum: Chips | None = None
    maximum: Chips | None = None
    bank_ms: Milliseconds = 0


class Pot(Data, frozen=True):
    """A main or side pot before rake, and who contests it (R74)."""

    amount: Chips
    seats: tuple[Seat, ...]


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
    "no_request",
    "seat_reserved",
    "already_waiting",
    "not_waiting",
    "already_connected",
    "already_disconnected",
    "hand_settled",
    "unknown_account",
    "account_exists",
    "account_frozen",
    "account_not_frozen",
    "not_enough",
    "wrong_currency",
    "duplicate_reference",
]


class Allowed(Data, frozen=True):
    """What would be accepted instead; only the fields that apply are there.

    `actions` are those of the open turn, which is `turn` with the whole legal range and `number` its number; without
    a turn they are commands. `minimum` and `maximum` bound an amount, or the number of a seat that there cannot be;
    `chip` is the unit that an amount must be a multiple of unless it is one of the two; `seats` are the free seats,
    for `already_seated` the player's own; `hand` the table's hand number.
    """

    actions: tuple[str, ...] = ()
    turn: Turn | None = None
    number: int | None = None
    minimum: SignedChips | None = None
    maximum: Chips | None = None
    chip: Chips | None = None
    seats: tuple[Seat, ...] = ()
    hand: int | None = None
    versions: tuple[int, ...] = ()
    actors: tuple[str, ...] = ()


class Acceptance(Data, frozen=True):
    """A command that is in the log: by whom, which, and the commit that answered it.

    `refused`, `message` and `allowed` are those of a refusal that is in the log. `at`: when, of a command that may come
    again some hands later; none for an act, which its turn alone makes stale, nor from rules 3 on for one that says who
    is connected.
    """

    actor: Actor
    id: str
    digest: Annotated[str, Meta(pattern="^[0-9a-f]{32}" + END)]
    hand: int
    n: int
    head: Sha256
    refused: Code | None = None
    message: str = ""
    allowed: Allowed = Allowed()
    at: Instant | None = None


class Departure(Data, frozen=True):
    """Who left the table, when, and with how much (R10)."""

    player: Id
    stack: Chips
    at: Instant


class TableRecord(Data, frozen=True):
    """All that the fold keeps between hands; a fold may begin with it.

    `reservations` are the seats that are kept for players, `waiting` the players on the waiting list, first come first.
    `moved` is the last commit that the cashier has to see: one that asks for chips, or pays some out.
    """

    config: TableConfig
    status: TableStatus
    hands: int
    sittings: int
    seats: tuple[SeatRecord, ...] = ()
    last: Positions | None = None
    last_ended: Instant | None = None
    accepted: tuple[Acceptance, ...] = ()
    departures: tuple[Departure, ...] = ()
    reservations: tuple[Reservation, ...] = ()
    waiting: tuple[Id, ...] = ()
    moved: int = 0
