"""A table whose chips are the cashier's: its events are made up, and its log and its fold are real."""

from dataclasses import dataclass, field
from datetime import timedelta

from contracts.cards import SeatAmount
from contracts.codec import encode
from contracts.commands import ConfirmRequest
from contracts.commit import Commit
from contracts.data import Instant
from contracts.events import AnyEvent
from contracts.events.seats import (
    SeatReleased,
    SeatReserved,
    StackAdjusted,
    StackToppedUp,
    TopUpQueued,
    TopUpReleased,
    TopUpRequested,
    WaitingListChanged,
)
from contracts.events.state import Reservation, SeatRecord
from contracts.events.table import (
    HandEnded,
    HandVoided,
    PlayerLeft,
    PlayerSeated,
    TableClosed,
    TableOpened,
    TablePaused,
)
from contracts.games import BuyIn, Stakes, TableConfig
from services.aggregate.fold import commit_of, fold
from services.aggregate.movements import is_for_the_cashier
from services.aggregate.table import Table
from services.cashier.told import open_requests
from services.cashier.transfers import Movement
from tests.cashier.books import START

CONFIG = TableConfig(
    variant="holdem",
    limit="no_limit",
    stakes=Stakes(small_blind=1, big_blind=2),
    seats=4,
    buy_in=BuyIn(minimum=10, maximum=200),
    bankroll="cashier",
)
MAXIMUM = 200
LASTING = timedelta(minutes=1)


def chips(table: Table) -> int:
    """All chips at a table: stacks, and what waits in the queue for one."""
    return sum(record.stack + record.top_up for record in table.seats.values())


@dataclass
class Stand:
    """A table and its log; `held` and `asked` are the chips, and the open requests, after each commit (0: none yet)."""

    id: str = "T1"
    room: str = "main"
    config: TableConfig = CONFIG
    at: Instant = START
    commits: list[Commit] = field(default_factory=list)
    lines: list[bytes] = field(default_factory=list)
    held: list[int] = field(default_factory=lambda: [0])
    asked: list[frozenset[int]] = field(default_factory=lambda: [frozenset()])

    def __post_init__(self) -> None:
        self.table = Table(room=self.room, id=self.id)
        self.append(TableOpened(config=self.config))

    @property
    def n(self) -> int:
        return self.table.n + 1

    @property
    def account(self) -> str:
        return f"table.{self.room}.{self.id}"

    def append(self, *events: AnyEvent) -> Commit:
        commit = commit_of(self.table, "table", events, self.at)
        data = encode(commit)
        fold(self.table, commit, data)
        self.commits.append(commit)
        self.lines.append(data)
        self.held.append(chips(self.table))
        self.asked.append(open_requests(self.table))
        self.at += timedelta(seconds=1)
        return commit

    def movements(self, after: int = 0, upto: int | None = None) -> list[Movement]:
        """The commits that the cashier has to see, as one knows them who has read the log up to commit `upto`."""
        upto = self.table.n if upto is None else upto
        open_ = self.asked[upto]
        return [
            Movement(self.room, commit, open_)
            for commit in self.commits[after:upto]
            if is_for_the_cashier(self.table, commit)
        ]

    def free(self) -> int | None:
        taken = {*self.table.seats, *self.table.reservations}
        return next((seat for seat in range(1, self.config.seats + 1) if seat not in taken), None)

    def reserve(self, player: str, buy_in: int) -> int:
        """Asks for chips for a player who sits down; gives the request."""
        seat = self.free()
        assert seat is not None
        kept = Reservation(seat=seat, player=player, number=self.n, expires=self.at + LASTING, buy_in=buy_in)
        return self.append(SeatReserved(reservation=kept)).n

    def wait(self, *players: str) -> None:
        """These stand in the waiting list."""
        self.append(WaitingListChanged(players=players))

    def confirm(self, command: ConfirmRequest) -> bool:
        """What the table does about an answer; False: no such request is open."""
        for seat, kept in self.table.reservations.items():
            if kept.number == command.request and kept.buy_in:
                if command.paid:
                    sat = self.table.sittings + 1
                    record = SeatRecord(seat=seat, player=kept.player, stack=kept.buy_in, sat=sat)
                    self.append(PlayerSeated(record=record, request=kept.number))
                else:
                    self._release(kept, "refused")
                return True
        for record in self.table.seats.values():
            if record.request == command.request:
                self._top_up(record, paid=command.paid)
                return True
        return False

    def _release(self, kept: Reservation, reason: str) -> None:
        self.append(self._released(kept, reason))

    def _released(self, kept: Reservation, reason: str) -> SeatReleased:
        return SeatReleased(seat=kept.seat, player=kept.player, request=kept.number, reason=reason)  # type: ignore[arg-type]

    def expire(self, seat: int) -> None:
        self._release(self.table.reservations[seat], "expired")

    def ask_top_up(self, seat: int, amount: int) -> int:
        record = self.table.seats[seat]
        assert record.request is None
        return self.append(
            TopUpRequested(seat=seat, player=record.player, request=self.n, amount=amount, expires=self.at + LASTING)
        ).n

    def _top_up(self, record: SeatRecord, *, paid: bool) -> None:
        """An odd request is queued, as in a hand; an even one comes in at once, as far as the maximum lets it in."""
        seat, player, request, amount = record.seat, record.player, record.request, record.requested
        assert request is not None
        if not paid:
            self.append(TopUpReleased(seat=seat, player=player, request=request, reason="refused"))
        elif request % 2:
            self.append(TopUpQueued(seat=seat, amount=amount, queued=record.top_up + amount, request=request))
        else:
            self.append(self._let_in(record, amount, request))

    def _let_in(self, record: SeatRecord, amount: int, request: int | None = None) -> StackToppedUp:
        room = max(0, min(amount, MAXIMUM - record.stack))
        return StackToppedUp(
            seat=record.seat,
            amount=room,
            stack=record.stack + room,
            unused=amount - room,
            player=record.player,
            request=request,
        )

    def hand(self, winner: int, lost: int, rake: int) -> None:
        """A hand: each other seat loses `lost` at most, the winner gets it but for the rake; queued chips come in."""
        stacks = {seat: record.stack for seat, record in self.table.seats.items()}
        gone = {seat: min(lost, stack) for seat, stack in stacks.items() if seat != winner}
        pot = sum(gone.values())
        taken = min(rake, pot)
        stacks = {seat: stack - gone.get(seat, taken - pot) for seat, stack in stacks.items()}
        number = self.table.hands + 1
        ended = HandEnded(
            number=number,
            stacks=tuple(SeatAmount(seat=seat, amount=stack) for seat, stack in stacks.items()),
            started_at=self.at,
            ended_at=self.at,
            rake=taken,
        )
        queued = [
            self._let_in(SeatRecord(seat=seat, player=record.player, stack=stacks[seat], sat=1), record.top_up)
            for seat, record in self.table.seats.items()
            if record.top_up
        ]
        self.append(ended, *queued)

    def void(self) -> Commit:
        """A hand is cancelled: every stack is as it was, and a queued top-up comes in after it."""
        voided = HandVoided(
            number=self.table.hands + 1,
            seats=tuple(self.table.seats.values()),
            last=None,
            started_at=self.at,
            voided_at=self.at,
            rake_returned=(4,),
        )
        queued = [self._let_in(record, record.top_up) for record in self.table.seats.values() if record.top_up]
        return self.append(voided, *queued)

    def leave(self, seat: int) -> None:
        self.append(*self._left(self.table.seats[seat]))

    def _left(self, record: SeatRecord) -> list[AnyEvent]:
        events: list[AnyEvent] = []
        if record.request is not None:
            events.append(TopUpReleased(seat=record.seat, player=record.player, request=record.request, reason="left"))
        left = PlayerLeft(seat=record.seat, player=record.player, stack=record.stack, at=self.at, unused=record.top_up)
        return [*events, left]

    def adjust(self, seat: int, amount: int) -> None:
        record = self.table.seats[seat]
        self.append(StackAdjusted(seat=seat, player=record.player, amount=amount, stack=record.stack + amount))

    def pause(self) -> None:
        """A commit of which the cashier need not know."""
        self.append(TablePaused())

    def close(self) -> None:
        released = [self._released(kept, "table_closed") for kept in self.table.reservations.values()]
        left = [event for record in self.table.seats.values() for event in self._left(record)]
        self.append(*released, *left, TableClosed())
