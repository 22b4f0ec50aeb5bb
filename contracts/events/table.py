"""Events that the table service emits."""

from typing import Literal

from contracts.cards import SeatAmount, Street
from contracts.data import Chips, Id, Instant, Milliseconds, Number, Seat
from contracts.events.base import Event
from contracts.events.seats import (
    BlindsMissed,
    PostChosen,
    PresenceChanged,
    SeatReleased,
    SeatReserved,
    StackAdjusted,
    StackToppedUp,
    TopUpQueued,
    TopUpReleased,
    TopUpRequested,
    WaitingListChanged,
)
from contracts.events.state import (
    Action,
    Allowed,
    Betting,
    Code,
    HandPlayer,
    Owed,
    Positions,
    Post,
    Pot,
    SeatOwed,
    SeatRecord,
    TableRecord,
    Turn,
)
from contracts.games import TableConfig


class TableOpened(Event, tag="table_opened", frozen=True):
    """A table exists from now on; always a log's first event."""

    config: TableConfig


class OptionsChanged(Event, tag="options_changed", frozen=True):
    """The table's configuration from the next hand on."""

    config: TableConfig


class TablePaused(Event, tag="table_paused", frozen=True):
    """No further hand starts; a hand in progress is played out."""


class TableResumed(Event, tag="table_resumed", frozen=True):
    """Hands start again."""


class TableClosed(Event, tag="table_closed", frozen=True):
    """The table is closed for good; nobody is seated any more. `broken`: too few had played for too long."""

    reason: Literal["asked", "broken"] = "asked"


class TableRestated(Event, tag="table_restated", frozen=True):
    """All that the fold keeps between hands, said again so that a long log without hands can be read from here."""

    table: TableRecord


class PlayerSeated(Event, tag="player_seated", frozen=True):
    """A player took a seat with chips (R6, R21); `request` is the reservation that the cashier paid for."""

    record: SeatRecord
    request: Number | None = None


class SitOutRequested(Event, tag="sit_out_requested", frozen=True):
    """A player in a hand folds at the next decision and sits out (R11, R119): asked to, or ran out of time (R116)."""

    seat: Seat
    timed_out: bool = False


class PlayerSatOut(Event, tag="player_sat_out", frozen=True):
    """A player sits out from now on; `at`: since when, where there is a limit (R11). `table_paused` is reserved."""

    seat: Seat
    reason: Literal["asked", "timed_out", "no_chips", "table_paused"] = "asked"
    at: Instant | None = None


class PlayerReturned(Event, tag="player_returned", frozen=True):
    """A player who sat out, or had asked to, plays again; `owes` and `choice` tell by which blinds (R25)."""

    seat: Seat
    owes: Owed
    choice: Literal["wait", "post"]


class LeaveRequested(Event, tag="leave_requested", frozen=True):
    """A player in a hand folds at the next decision, leaves when it has ended (R120): asked to, or was `removed`."""

    seat: Seat
    removed: bool = False


class PlayerLeft(Event, tag="player_left", frozen=True):
    """A seat is free; `stack` was paid out (R9), chips still queued for the stack included in `unused`."""

    seat: Seat
    player: Id
    stack: Chips
    at: Instant
    unused: Chips = 0
    reason: Literal["asked", "removed", "sat_out", "table_closed"] = "asked"


class HandStarted(Event, tag="hand_started", frozen=True):
    """A hand begins: all that the fold keeps between hands, then positions, players and posts (R16, R30).

    `table` is the state before the posts; `players`, in dealing order (the first seat left of the button first), the
    one after them. `pot` counts every chip posted. `turn` opens when the hole cards are dealt (R150). `owed`: what the
    seats owed before this hand, and their time banks, where the hand changes them (from rules 2 on; R122).
    """

    number: int
    rules: int
    table: TableRecord
    positions: Positions
    players: tuple[HandPlayer, ...]
    posts: tuple[Post, ...]
    pot: Chips
    betting: Betting
    turn: Turn | None
    owed: tuple[SeatOwed, ...] = ()


class ActionTaken(Event, tag="action_taken", frozen=True):
    """A player's decision and all that it changed (R38, R49).

    `amount` is what the player added, `street_total` and `total` the player's chips on this street and in the hand
    after it, `stack` what is left behind, `pot` all in the middle, `betting` where the street now stands. `turn` opens
    at once; None: nobody is left to act on this street. `timed_out`: the player's time had run out; `took_ms`: the
    time used, `bank_ms` as much of it as came from the time bank, and `bank_left` what the bank then holds (R117; None:
    it was not touched).
    """

    seat: Seat
    action: Action
    amount: Chips
    street_total: Chips
    total: Chips
    stack: Chips
    pot: Chips
    betting: Betting
    turn: Turn | None
    all_in: bool = False
    timed_out: bool = False
    took_ms: Milliseconds = 0
    bank_ms: Milliseconds = 0
    bank_left: Milliseconds | None = None


class TurnExtended(Event, tag="turn_extended", frozen=True):
    """The open turn lasts longer, by `extra_ms` in all: its player was disconnected, once a decision (R118).

    `resumed`: its time ran out while no service was there, and begins anew (R123).
    """

    seat: Seat
    extra_ms: Milliseconds
    reason: Literal["disconnected", "resumed"] = "disconnected"


class PlayerProtected(Event, tag="player_protected", frozen=True):
    """A disconnected player's time ran out, who from now on counts as all-in for what is wagered already (R118).

    `turn`, `took_ms`, `bank_ms` and `bank_left` are those of an action.
    """

    seat: Seat
    betting: Betting
    turn: Turn | None
    took_ms: Milliseconds = 0
    bank_ms: Milliseconds = 0
    bank_left: Milliseconds | None = None


class UncalledBetReturned(Event, tag="uncalled_bet_returned", frozen=True):
    """The part of a wager that nobody matched goes back to its owner (R73); totals and pot are those after it."""

    seat: Seat
    amount: Chips
    street_total: Chips
    total: Chips
    stack: Chips
    pot: Chips


class StreetClosed(Event, tag="street_closed", frozen=True):
    """A betting round is over and another one follows (R45): the pots so far, and the turn that the deal opens."""

    street: Street
    opens: Street
    pots: tuple[Pot, ...]
    betting: Betting
    turn: Turn


class BettingClosed(Event, tag="betting_closed", frozen=True):
    """All betting of the hand is over.

    `street`: where it ended. `contenders`: the live seats; with one alone the hand is won without showdown (R79).
    `showing`: the order of showing (R81 to R83, R85). `streets`: those still to be dealt without betting. `tabled`:
    the hands are shown before those streets are dealt; `all_show`: nobody may muck (R85, R86).
    """

    street: Street
    pots: tuple[Pot, ...]
    contenders: tuple[Seat, ...]
    showing: tuple[Seat, ...] = ()
    streets: tuple[Street, ...] = ()
    tabled: bool = False
    all_show: bool = False


class HandEnded(Event, tag="hand_ended", frozen=True):
    """A hand is settled and final for the table (R124); `stacks` are those of all who were dealt in.

    `rake`: what the house took, at a table whose chips are the cashier's.
    """

    number: int
    stacks: tuple[SeatAmount, ...]
    started_at: Instant
    ended_at: Instant
    rake: Chips = 0


class HandVoided(Event, tag="hand_voided", frozen=True):
    """A hand is cancelled as a whole (R121): everything is as it was before it, but for its number (R122).

    `seats` are the records of all seats after it, `last` the positions of the hand before it. `rake_returned`: the rake
    that had been taken from each pot and is not due any more, main pot first.
    """

    number: int
    seats: tuple[SeatRecord, ...]
    last: Positions | None
    started_at: Instant
    voided_at: Instant
    rake_returned: tuple[Chips, ...] = ()


class CommandRefused(Event, tag="command_refused", frozen=True):
    """A command of a lobby or an operator was refused for good, with this answer: no copy of it is decided again."""

    code: Code
    message: str
    allowed: Allowed = Allowed()


type TableEvent = (
    TableOpened
    | OptionsChanged
    | TablePaused
    | TableResumed
    | TableClosed
    | TableRestated
    | PlayerSeated
    | SeatReserved
    | SeatReleased
    | WaitingListChanged
    | PresenceChanged
    | TopUpRequested
    | TopUpReleased
    | StackAdjusted
    | PostChosen
    | TopUpQueued
    | StackToppedUp
    | SitOutRequested
    | PlayerSatOut
    | PlayerReturned
    | LeaveRequested
    | PlayerLeft
    | BlindsMissed
    | HandStarted
    | ActionTaken
    | TurnExtended
    | PlayerProtected
    | UncalledBetReturned
    | StreetClosed
    | BettingClosed
    | HandEnded
    | HandVoided
    | CommandRefused
)
