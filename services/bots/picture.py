"""What a bot knows of a table, from public views alone: whose turn it is, and who has how much."""

from contracts.commit import Head
from contracts.data import Chips, Id, Instant, Milliseconds, Seat
from contracts.events import AnyEvent
from contracts.events.dealer import BoardDealt, HoleCardsDealt
from contracts.events.rake import RakeTaken
from contracts.events.seats import (
    PresenceChanged,
    SeatReleased,
    SeatReserved,
    StackAdjusted,
    StackToppedUp,
    WaitingListChanged,
)
from contracts.events.state import SeatRecord, Turn
from contracts.events.table import (
    ActionTaken,
    BettingClosed,
    HandEnded,
    HandStarted,
    HandVoided,
    PlayerLeft,
    PlayerProtected,
    PlayerReturned,
    PlayerSatOut,
    PlayerSeated,
    StreetClosed,
    TurnExtended,
    UncalledBetReturned,
)
from contracts.lasting import later
from contracts.queries import PublicTable
from contracts.views import PublicView


class Picture:
    """One table after the view of commit `n`; `missed` when a view before the last one did not come.

    `ends`: when the open turn is over. `reserved`: for whom seats are kept, and until when. `corrected`: what operators
    added to stacks, and took from them.
    """

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
        self.ends: Instant | None = None
        self.sitting_out: set[Seat] = set()
        self.disconnected: set[Seat] = set()
        self.protected: set[Seat] = set()
        self.banks: dict[Seat, Milliseconds] = {}
        self.reserved: dict[Seat, tuple[Id, Instant]] = {}
        self.waiting: tuple[Id, ...] = ()
        self.paid_out = 0
        self.corrected = 0
        self.rake = 0
        self.ended = 0
        self.voided = 0
        self._raked = 0
        self._opened: Instant | None = None

    def show(self, view: PublicView) -> None:
        """Takes a view; one that was taken is passed over."""
        if view.n <= self.n:
            return
        self.missed = self.missed or view.previous != self.n
        self.n, self.head = view.n, view.head
        for event in view.events:
            self._show_hand(event, view.at)
            self._show_seats(event)

    def restart(self, table: PublicTable) -> None:
        """Takes the whole picture, after a view was missed, if it is not an older one. What was counted stays."""
        if table.n < self.n:
            return  # from before the gap: the picture is still not whole
        self.missed = False
        self.n, self.head, self.hand, self.playing = table.n, table.head, table.hand, table.in_hand
        self.turn, self.number = table.turn, table.turn_number
        self._opened, self.ends = table.turn_opened, table.turn_ends
        self.stacks = {seat.seat: seat.stack for seat in table.seats}
        self.players = {seat.seat: seat.player for seat in table.seats}
        self.sitting_out = {seat.seat for seat in table.seats if seat.sitting_out}
        self.disconnected = {seat.seat for seat in table.seats if not seat.connected}
        self.protected = {seat.seat for seat in table.seats if seat.protected}
        self.banks = {seat.seat: seat.time_bank for seat in table.seats}
        self.reserved = {kept.seat: (kept.player, kept.expires) for kept in table.reservations}
        self.waiting = table.waiting

    @property
    def at(self) -> Head:
        """The head of the table's log that this picture shows."""
        return Head(n=self.n, hash=self.head)

    def _show_hand(self, event: AnyEvent, at: Instant) -> None:  # noqa: C901 - one case for each fact that a bot minds
        match event:
            case HandStarted():
                self.hand, self.playing = event.number, True
                self._restate(event.table.seats)
                self.stacks.update({player.seat: player.stack for player in event.players})
                self._name(event.turn, None)
            case HoleCardsDealt() | BoardDealt():
                self._name(self.turn, at)
            case ActionTaken():
                self.stacks[event.seat] = event.stack
                self._use_bank(event.seat, event.bank_left)
                self._name(event.turn, at)
            case PlayerProtected():
                self.protected.add(event.seat)
                self._use_bank(event.seat, event.bank_left)
                self._name(event.turn, at)
            case TurnExtended():
                self._lasts(event.extra_ms)
            case UncalledBetReturned():
                self.stacks[event.seat] = event.stack
            case StreetClosed():
                self._name(event.turn, None)
            case BettingClosed():
                self._name(None, None)
            case RakeTaken():
                self._raked = event.total
            case HandEnded():
                self.ended += 1
                self.rake += self._raked
                self.stacks.update({stack.seat: stack.amount for stack in event.stacks})
                self._over()
            case HandVoided():
                self.voided += 1
                self._restate(event.seats)
                self._over()
            case _:
                pass

    def _show_seats(self, event: AnyEvent) -> None:  # noqa: C901 - one case for each fact that a bot minds
        match event:
            case PlayerSeated():
                self._seat(event.record)
                self.reserved.pop(event.record.seat, None)
            case SeatReserved():
                kept = event.reservation
                self.reserved[kept.seat] = (kept.player, kept.expires)
            case SeatReleased():
                self.reserved.pop(event.seat, None)
            case WaitingListChanged():
                self.waiting = event.players
            case PresenceChanged(connected=True):
                self.disconnected.discard(event.seat)
            case PresenceChanged():
                self.disconnected.add(event.seat)
            case StackToppedUp():
                self.stacks[event.seat] = event.stack
            case StackAdjusted():
                self.corrected += event.amount
                self.stacks[event.seat] = event.stack
            case PlayerSatOut():
                self.sitting_out.add(event.seat)
            case PlayerReturned():
                self.sitting_out.discard(event.seat)
            case PlayerLeft():
                self.paid_out += event.stack + event.unused
                self._free(event.seat)
            case _:
                pass

    def _name(self, turn: Turn | None, opened: Instant | None) -> None:
        """Names the turn; one that was opened can be acted on."""
        self.turn, self._opened = turn, opened if turn is not None else None
        self.number = self.n if self._opened is not None else None
        self._lasts(0)

    def _lasts(self, extra_ms: Milliseconds) -> None:
        if self.turn is None or self._opened is None:
            self.ends = None
        else:
            self.ends = later(self._opened, self.turn.act_ms + self.turn.bank_ms + extra_ms)

    def _use_bank(self, seat: Seat, left: Milliseconds | None) -> None:
        if left is not None:
            self.banks[seat] = left

    def _over(self) -> None:
        """A hand is over, whether it was settled or cancelled: the rake of a cancelled one is not taken."""
        self.playing, self._raked = False, 0
        self.protected = set()
        self._name(None, None)

    def _restate(self, seats: tuple[SeatRecord, ...]) -> None:
        for record in seats:
            self._seat(record)

    def _seat(self, record: SeatRecord) -> None:
        seat = record.seat
        self.stacks[seat], self.players[seat], self.banks[seat] = record.stack, record.player, record.time_bank
        for marked, marks in ((record.sitting_out, self.sitting_out), (not record.connected, self.disconnected)):
            if marked:
                marks.add(seat)
            else:
                marks.discard(seat)

    def _free(self, seat: Seat) -> None:
        del self.stacks[seat], self.players[seat]
        self.banks.pop(seat, None)
        self.sitting_out.discard(seat)
        self.disconnected.discard(seat)
