"""Commands: what players, lobbies and operators ask of a table (request on `command.<room>.<table>.<kind>.<name>`).

Each carries an `id` made by the client and the number of the `hand` that the client saw (0 before the first). The
same bytes sent again get the same answer; who asks comes from the subject alone.
"""

from typing import Annotated, Literal

from msgspec import Meta

from contracts.data import END, Chips, Id, Message, Seat
from contracts.games import TableConfig

COMMAND_VERSION = 1
COMMAND_BYTES_MAX = 65_536
"""The longest command body; more is refused as `oversized`."""


class Command(Message, frozen=True):
    """What every command carries; `v` is the version of the command's own format."""

    id: Annotated[str, Meta(pattern=r"^[A-Za-z0-9_.:-]{1,64}" + END)]
    hand: Annotated[int, Meta(ge=0, le=2**53 - 1)] = 0
    v: int = COMMAND_VERSION


class OpenTable(Command, tag="open_table", frozen=True, kw_only=True):
    """Opens a table. Unknown fields in `config`, unlike elsewhere, are refused. From: lobby, operator."""

    config: TableConfig


class TakeSeat(Command, tag="take_seat", frozen=True, kw_only=True):
    """Seats `player` with chips, on `seat` or on the lowest free one. From: lobby."""

    player: Id
    buy_in: Chips
    seat: Seat | None = None
    choice: Literal["wait", "post"] = "wait"


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


type AnyCommand = (
    OpenTable | TakeSeat | LeaveTable | SitOut | ReturnToPlay | TopUp | Act | PauseTable | ResumeTable | CloseTable
)
