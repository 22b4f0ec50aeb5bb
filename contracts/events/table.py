"""Events that the table service emits."""

from typing import Literal

from contracts.cards import SeatAmount, Street
from contracts.data import Chips, Id, Instant, Milliseconds, Seat
from contracts.events.base import Event
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
    """The table is closed for good; nobody is seated any more."""


class TableRestated(Event, tag="table_restated", frozen=True):
    """All that the fold keeps between hands, said again so that a long log without hands can be read from here."""

    table: TableRecord


class PlayerSeated(Event, tag="player_seated", frozen=True):
    """A player took a seat with chips (R6, R21)."""

    record: SeatRecord


class PostChosen(Event, tag="post_chosen", frozen=True):
    """Whether a player who owes blinds posts them or waits for the big blind (R21, R25)."""

    seat: Seat
    choice: Literal["wait", "post"]


class TopUpQueued(Event, tag="top_up_queued", frozen=True):
    """Chips that will be added to a stack after the hand; `queued` is all that now waits (R7)."""

    seat: Seat
    amount: Chips
    queued: Chips


class StackToppedUp(Event, tag="stack_topped_up", frozen=True):
    """Chips were added between hands. `unused` is what the table's maximum did not let in (R7)."""

    seat: Seat
    amount: Chips
    stack: Chips
    unused: Chips = 0


class SitOutRequested(Event, tag="sit_out_requested", frozen=True):
    """A player in a hand asked to sit out: folds at the next decision, is not dealt in again (R11, R119).

    `timed_out`: nobody asked, the player's time ran out (R116).
    """

    seat: Seat
    timed_out: bool = False


class PlayerSatOut(Event, tag="player_sat_out", frozen=True):
    """A player sits out from now on."""

    seat: Seat
    reason: Literal["asked", "timed_out", "no_chips", "table_paused"] = "asked"


class PlayerReturned(Event, tag="player_returned", frozen=True):
    """A player who sat out, or had asked to, plays again; `owes` and `choice` tell by which blinds (R25)."""

    seat: Seat
    owes: Owed
    choice: Literal["wait", "post"]


class LeaveRequested(Event, tag="leave_requested", frozen=True):
    """A player in a hand asked to leave: folds at the next decision, leaves when the hand has ended (R120)."""

    seat: Seat


class PlayerLeft(Event, tag="player_left", frozen=True):
    """A seat is free; `stack` was paid out (R9), chips still queued for the stack included in `unused`."""

    seat: Seat
    player: Id
    stack: Chips
    at: Instant
    unused: Chips = 0


class BlindsMissed(Event, tag="blinds_missed", frozen=True):
    """The blinds moved past a player who sits out; `owes` is all that the player now owes (R24)."""

    seat: Seat
    owes: Owed


class HandStarted(Event, tag="hand_started", frozen=True):
    """A hand begins: all that the fold keeps between hands, then positions, players and posts (R16, R30).

    `table` is the state before the posts; `players`, in dealing order (the first seat left of the button first), the
    one after them. `pot` counts every chip posted. `turn` opens when the hole cards are dealt (R150).
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


class ActionTaken(Event, tag="action_taken", frozen=True):
    """A player's decision and all that it changed (R38, R49).

    `amount` is what the player added, `street_total` and `total` the player's chips on this street and in the hand
    after it, `stack` what is left behind, `pot` all in the middle, `betting` where the street now stands. `turn` opens
    at once; None: nobody is left to act on this street. `timed_out`: the player's time had run out; `took_ms`: the
    time used.
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
    """A hand is settled and final for the table (R124); `stacks` are those of all who were dealt in."""

    number: int
    stacks: tuple[SeatAmount, ...]
    started_at: Instant
    ended_at: Instant


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
    | UncalledBetReturned
    | StreetClosed
    | BettingClosed
    | HandEnded
    | CommandRefused
)
