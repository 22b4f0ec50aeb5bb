"""Events of the table service about seats that are kept, asked for or filled up; with the cashier or without."""

from typing import Literal

from contracts.data import Chips, Id, Instant, Number, Seat, SignedChips
from contracts.events.base import Event
from contracts.events.state import Owed, Reservation


class SeatReserved(Event, tag="seat_reserved", frozen=True):
    """A seat is kept for a player; with a buy-in it is a request to the cashier, numbered by its commit."""

    reservation: Reservation


class SeatReleased(Event, tag="seat_released", frozen=True):
    """A reserved seat is free again, and the player not seated; `message` says why the cashier refused."""

    seat: Seat
    player: Id
    request: Number
    reason: Literal["expired", "refused", "cancelled", "table_closed"]
    message: str = ""


class WaitingListChanged(Event, tag="waiting_list_changed", frozen=True):
    """Who now waits for a seat, first come first."""

    players: tuple[Id, ...]


class PresenceChanged(Event, tag="presence_changed", frozen=True):
    """Whether a seated player is connected to the lobby (R118)."""

    seat: Seat
    connected: bool


class TopUpRequested(Event, tag="top_up_requested", frozen=True):
    """The cashier is asked for chips for a seated player, until it `expires`; `request` is this commit."""

    seat: Seat
    player: Id
    request: Number
    amount: Chips
    expires: Instant


class TopUpReleased(Event, tag="top_up_released", frozen=True):
    """A requested top-up will not come in; `message` says why the cashier refused."""

    seat: Seat
    player: Id
    request: Number
    reason: Literal["refused", "left", "expired"]
    message: str = ""


class StackAdjusted(Event, tag="stack_adjusted", frozen=True):
    """An operator corrected a stack between hands; the amount comes from, or goes to, the suspense account (R124)."""

    seat: Seat
    player: Id
    amount: SignedChips
    stack: Chips


class TopUpQueued(Event, tag="top_up_queued", frozen=True):
    """Chips that will be added to a stack after the hand; `queued` is all that now waits (R7).

    `request`: the top-up that the cashier has paid for.
    """

    seat: Seat
    amount: Chips
    queued: Chips
    request: Number | None = None


class StackToppedUp(Event, tag="stack_topped_up", frozen=True):
    """Chips were added between hands. `unused` is what the table's maximum did not let in (R7).

    `request`: the top-up that the cashier has paid for, where it did not wait in the queue. `player`: who is owed what
    was not used, at a table whose chips are the cashier's.
    """

    seat: Seat
    amount: Chips
    stack: Chips
    unused: Chips = 0
    request: Number | None = None
    player: Id | None = None


class PostChosen(Event, tag="post_chosen", frozen=True):
    """Whether a player who owes blinds posts them or waits for the big blind (R21, R25)."""

    seat: Seat
    choice: Literal["wait", "post"]


class BlindsMissed(Event, tag="blinds_missed", frozen=True):
    """The blinds moved past a player who sits out; `owes` is all that the player now owes (R24).

    Reserved: no release emits it, for the blinds move with a `hand_started`, whose records say what every seat owes.
    """

    seat: Seat
    owes: Owed
