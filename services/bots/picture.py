"""What a bot knows of a table, from public views alone: whose turn it is, and who has how much."""

from contracts.commit import Head
from contracts.data import Chips, Seat
from contracts.events import AnyEvent
from contracts.events.dealer import BoardDealt, HoleCardsDealt
from contracts.events.rake import RakeTaken
from contracts.events.seats import StackToppedUp
from contracts.events.state import SeatRecord, Turn
from contracts.events.table import (
    ActionTaken,
    BettingClosed,
    HandEnded,
    HandStarted,
    PlayerLeft,
    PlayerReturned,
    PlayerSatOut,
    PlayerSeated,
    StreetClosed,
    UncalledBetReturned,
)
from contracts.queries import PublicTable
from contracts.views import PublicView


class Picture:
    """One table after the view of commit `n`; `missed` when a view before the last one did not come."""

    def __init__(self) -> None:
        self.n = 0
        self.head = ""
        self.hand = 0
        self.playing = False
        self.missed = False
        self.turn: Turn | None = None
        self.number: int | None = None
        self.stacks: dict[Seat, Chips] = {}
        self.players: dict[Seat, str] = {}
        self.sitting_out: set[Seat] = set()
        self.paid_out = 0
        self.rake = 0
        self.ended = 0
        self._raked = 0

    def show(self, view: PublicView) -> None:
        """Takes a view; one that was taken is passed over."""
        if view.n <= self.n:
            return
        self.missed = self.missed or view.previous != self.n
        self.n, self.head = view.n, view.head
        for event in view.events:
            self._show(event)

    def restart(self, table: PublicTable) -> None:
        """Takes the whole picture, after a view was missed, if it is not an older one. What was counted stays."""
        if table.n < self.n:
            return  # from before the gap: the picture is still not whole
        self.missed = False
        self.n, self.head, self.hand, self.playing = table.n, table.head, table.hand, table.in_hand
        self.turn, self.number = table.turn, table.turn_number
        self.stacks = {seat.seat: seat.stack for seat in table.seats}
        self.players = {seat.seat: seat.player for seat in table.seats}
        self.sitting_out = {seat.seat for seat in table.seats if seat.sitting_out}

    @property
    def at(self) -> Head:
        """The head of the table's log that this picture shows."""
        return Head(n=self.n, hash=self.head)

    def _show(self, event: AnyEvent) -> None:  # noqa: C901, PLR0912 - one case for each fact that a bot minds
        match event:
            case HandStarted():
                self.hand, self.playing = event.number, True
                self.turn, self.number = event.turn, None
                self.stacks.update({player.seat: player.stack for player in event.players})
            case HoleCardsDealt() | BoardDealt():
                self.number = self.n if self.turn is not None else None
            case ActionTaken():
                self.stacks[event.seat] = event.stack
                self.turn = event.turn
                self.number = self.n if event.turn is not None else None
            case UncalledBetReturned():
                self.stacks[event.seat] = event.stack
            case StreetClosed():
                self.turn, self.number = event.turn, None
            case BettingClosed():
                self.turn, self.number = None, None
            case RakeTaken():
                self._raked = event.total
            case HandEnded():
                self.playing = False
                self.ended += 1
                self.rake, self._raked = self.rake + self._raked, 0
                self.stacks.update({stack.seat: stack.amount for stack in event.stacks})
            case PlayerSeated():
                self._seat(event.record)
            case StackToppedUp():
                self.stacks[event.seat] = event.stack
            case PlayerSatOut():
                self.sitting_out.add(event.seat)
            case PlayerReturned():
                self.sitting_out.discard(event.seat)
            case PlayerLeft():
                self.paid_out += event.stack + event.unused
                del self.stacks[event.seat], self.players[event.seat]
                self.sitting_out.discard(event.seat)
            case _:
                pass

    def _seat(self, record: SeatRecord) -> None:
        self.stacks[record.seat] = record.stack
        self.players[record.seat] = record.player
