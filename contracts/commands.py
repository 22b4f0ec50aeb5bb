"""Commands: what players, lobbies and operators ask of a table (request on `command.<room>.<table>.<kind>.<name>`).

Each carries an `id` made by the client and the number of the `hand` that the client saw (0 before the first). The
same bytes sent again get the same answer; who asks comes from the subject alone.
"""

from typing import Annotated, Literal

from msgspec import Meta

from contracts.data import END, UNSEEN, Chips, Id, Message, Seat, SignedChips
from contracts.games import TableConfig

COMMAND_VERSION = 1
COMMAND_BYTES_MAX = 65_536
"""The longest command body; more is refused as `oversized`."""


type Reason = Annotated[str, Meta(min_length=1, max_length=200, description="Why; it stays in the log.")]


class Command(Message, frozen=True):
    """What every command carries; `v` is the version of the command's own format."""

    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.:-]{1,64}" + END)]
    hand: Annotated[int, Meta(ge=0, le=2**53 - 1)] = 0
    v: int = COMMAND_VERSION


class OpenTable(Command, tag="open_table", frozen=True, kw_only=True):
    """Opens a table. Unknown fields in `config`, unlike elsewhere, are refused. From: lobby, operator."""

    config: TableConfig


class TakeSeat(Command, tag="take_seat", frozen=True, kw_only=True):
    """Seats `player` with chips, on the seat kept for the player, on `seat`, or on the lowest free one. From: lobby.

    Where the chips are the cashier's, the seat is reserved, and taken once they have come from the player's account.
    """

    player: Id
    buy_in: Chips
    seat: Seat | None = None
    choice: Literal["wait", "post"] = "wait"


class ReserveSeat(Command, tag="reserve_seat", frozen=True, kw_only=True):
    """Keeps `seat`, or the lowest free one, for `player`, who then takes it with `take_seat`. From: lobby."""

    player: Id
    seat: Seat | None = None


class ReleaseSeat(Command, tag="release_seat", frozen=True, kw_only=True):
    """Gives up a seat that is reserved and not taken yet. From: player; lobby for `player`."""

    player: Id | None = None


class JoinWaitingList(Command, tag="join_waiting_list", frozen=True, kw_only=True):
    """Waits for a seat: the first in the list has the next free one reserved. From: player; lobby for `player`."""

    player: Id | None = None


class LeaveWaitingList(Command, tag="leave_waiting_list", frozen=True, kw_only=True):
    """Waits no longer. From: player; lobby for `player`."""

    player: Id | None = None


class ConfirmRequest(Command, tag="confirm_request", frozen=True, kw_only=True):
    """Tells the table what became of a buy-in or top-up that it asked the cashier for. From: cashier.

    `request` is its number; `message` says why it was not paid.
    """

    request: Annotated[int, Meta(ge=1, le=2**53 - 1)]
    paid: bool
    message: Annotated[str, Meta(max_length=500)] = ""


class Connected(Command, tag="connected", frozen=True, kw_only=True):
    """A seated player is connected again. From: lobby."""

    player: Id


class Disconnected(Command, tag="disconnected", frozen=True, kw_only=True):
    """A seated player is disconnected: has more time at the next decision, once (R118). From: lobby."""

    player: Id


class LeaveTable(Command, tag="leave_table", frozen=True, kw_only=True):
    """Gives up the seat, in mid-hand at the next decision (R120). From: player; lobby for `player`."""

    player: Id | None = None


class SitOut(Command, tag="sit_out", frozen=True, kw_only=True):
    """Sits out, during a hand from the next decision on (R11, R119). From: player; lobby for `player`."""

    player: Id | None = None


class ReturnToPlay(Command, tag="return_to_play", frozen=True, kw_only=True):
    """Plays again, posting what is owed or waiting for the big blind (R25). From: player; lobby for `player`."""

    player: Id | None = None
    choice: Literal["wait", "post"] = "wait"


class TopUp(Command, tag="top_up", frozen=True, kw_only=True):
    """Adds chips, after the hand if one is in progress (R7, R8). From: lobby."""

    player: Id
    amount: Chips


class Act(Command, tag="act", frozen=True, kw_only=True):
    """A decision at one's turn; `turn` is the number of the commit that opened it.

    `to` is the street total to reach by a bet or raise, and is left out otherwise. `all_in` puts in as many chips as
    the rules allow with the last one: a call, bet or raise (R38, R148). From: player.
    """

    turn: Annotated[int, Meta(ge=0, le=2**53 - 1)]
    action: Literal["fold", "check", "call", "bet", "raise", "all_in"]
    to: Chips | None = None


class PauseTable(Command, tag="pause_table", frozen=True, kw_only=True):
    """Starts no further hand. From: operator, lobby."""

    reason: Annotated[str, Meta(max_length=200)] = ""


class ResumeTable(Command, tag="resume_table", frozen=True, kw_only=True):
    """Starts hands again. From: operator, lobby."""

    reason: Annotated[str, Meta(max_length=200)] = ""


class CloseTable(Command, tag="close_table", frozen=True, kw_only=True):
    """Pays everybody out and closes the table for good, between hands. From: operator, lobby."""

    reason: Annotated[str, Meta(max_length=200)] = ""


class ChangeOptions(Command, tag="change_options", frozen=True, kw_only=True):
    """Another configuration from the next hand on. From: operator.

    Who answers for the chips, the kind of money and the currency stay as they are, and no held seat goes.
    """

    config: TableConfig
    reason: Reason


class VoidHand(Command, tag="void_hand", frozen=True, kw_only=True):
    """Cancels the hand in progress, which is `hand`: every stack is what it was before it (R121). From: operator."""

    reason: Reason


class RemovePlayer(Command, tag="remove_player", frozen=True, kw_only=True):
    """Has a player leave, in mid-hand as one who leaves it (R120), give up a seat that is kept, and wait for none.

    From: operator, cashier.
    """

    player: Id
    reason: Reason


class AdjustStack(Command, tag="adjust_stack", frozen=True, kw_only=True):
    """Corrects a stack between hands by `amount`, from or to the suspense account (R124). From: operator.

    The `reference` is kept with the command; another adjustment may have the same.
    """

    player: Id
    amount: SignedChips
    reason: Reason
    reference: Annotated[str, Meta(max_length=64, pattern=rf"^[^{UNSEEN}]*{END}")] = ""


type AnyCommand = (
    OpenTable
    | TakeSeat
    | ReserveSeat
    | ReleaseSeat
    | JoinWaitingList
    | LeaveWaitingList
    | ConfirmRequest
    | Connected
    | Disconnected
    | LeaveTable
    | SitOut
    | ReturnToPlay
    | TopUp
    | Act
    | PauseTable
    | ResumeTable
    | CloseTable
    | ChangeOptions
    | VoidHand
    | RemovePlayer
    | AdjustStack
)
