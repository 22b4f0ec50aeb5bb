"""The state of a table: nothing but the fold of its commits. It decides nothing."""

from typing import Final

import msgspec

from contracts.cards import Card, SeatCards, Street
from contracts.commit import GENESIS
from contracts.data import Chips, Id, Instant, Milliseconds, Seat, Sha256
from contracts.events.dealer import BoardDealt, DeckShuffled, HoleCardsDealt
from contracts.events.rake import RakeTaken
from contracts.events.settlement import PotsAwarded
from contracts.events.state import (
    Acceptance,
    Betting,
    Departure,
    HandPlayer,
    Positions,
    Post,
    Pot,
    Reservation,
    SeatRecord,
    TableRecord,
    TableStatus,
    Turn,
)
from contracts.events.table import BettingClosed
from contracts.games import TableConfig

RESTATE_AFTER_COMMITS: Final = 1000
"""A table that goes this long without a hand restates itself (DESIGN 2)."""


class Hand(msgspec.Struct, kw_only=True):
    """A hand in progress. `players` are in dealing order: the first seat left of the button first.

    `turn` is the turn named by the last commit that named one, `turn_number` the commit that opened it (None: it
    waits for the deal) and `turn_opened` when that was; `extra_ms` is what it was extended by (R118). `before` are the
    seats, and `last_before` the positions, as they were before the hand: what a void restores (R122).
    """

    number: int
    started_at: Instant
    started_n: int
    rules: int
    positions: Positions
    players: dict[Seat, HandPlayer]
    posts: tuple[Post, ...]
    pot: Chips
    betting: Betting
    street: Street = "preflop"
    turn: Turn | None = None
    turn_number: int | None = None
    turn_opened: Instant | None = None
    extra_ms: Milliseconds = 0
    before: tuple[SeatRecord, ...] = ()
    last_before: Positions | None = None
    pots: tuple[Pot, ...] = ()
    deck: DeckShuffled | None = None
    deal: HoleCardsDealt | None = None
    boards: tuple[BoardDealt, ...] = ()
    closed: BettingClosed | None = None
    revealed: tuple[SeatCards, ...] | None = None
    shown: tuple[Seat, ...] = ()
    mucked: tuple[Seat, ...] = ()
    rake: RakeTaken | None = None
    awards: PotsAwarded | None = None

    @property
    def board(self) -> tuple[Card, ...]:
        """The board cards in the order dealt."""
        return tuple(dealt.card for board in self.boards for dealt in board.cards)

    @property
    def open_turn(self) -> Turn | None:
        """The turn that can be acted on now; None while nobody may act (R150)."""
        return self.turn if self.turn_number is not None else None

    def live(self) -> list[HandPlayer]:
        """The players who have not folded, in dealing order."""
        return [player for player in self.players.values() if not player.folded]

    def copy(self) -> "Hand":
        """A hand that can be changed without changing this one."""
        other = msgspec.structs.replace(self)
        other.players = dict(self.players)
        return other


class Table(msgspec.Struct, kw_only=True):
    """A table after commit `n`, whose SHA-256 is `head` and whose time is `at`.

    `config` is None before `table_opened`. `hands` is the number of the last hand started, `sittings` counts those who
    ever sat down, `last` the last positions, `last_ended` when the last hand ended. `accepted` knows the commands
    that are in the log, refused ones included, of this hand and the one before, by (kind, name, id); also those of the
    last minutes, but for acts and, from rules 3 on, for what says who is connected. `reservations` are the seats kept
    for players, `waiting` is the waiting list, and `next_config` the configuration of the hands after the one in
    progress, if it changes. `moved` is the last commit that the cashier has to see. `stated_n` is the commit from which
    a fold could begin.
    """

    room: str
    id: str
    n: int = 0
    head: Sha256 = GENESIS
    at: Instant | None = None
    config: TableConfig | None = None
    status: TableStatus = "open"
    hands: int = 0
    sittings: int = 0
    seats: dict[Seat, SeatRecord] = msgspec.field(default_factory=dict)
    last: Positions | None = None
    last_ended: Instant | None = None
    hand: Hand | None = None
    accepted: dict[tuple[str, str, str], Acceptance] = msgspec.field(default_factory=dict)
    departures: tuple[Departure, ...] = ()
    reservations: dict[Seat, Reservation] = msgspec.field(default_factory=dict)
    waiting: tuple[Id, ...] = ()
    next_config: TableConfig | None = None
    moved: int = 0
    stated_n: int = 0

    def seat_of(self, player: str) -> SeatRecord | None:
        """The seat that a player holds."""
        for record in self.seats.values():
            if record.player == player:
                return record
        return None

    def copy(self) -> "Table":
        """A table that can be changed without changing this one; `accepted` is shared, for events never change it."""
        other = msgspec.structs.replace(self)
        other.seats = dict(self.seats)
        other.reservations = dict(self.reservations)
        other.hand = self.hand.copy() if self.hand is not None else None
        return other

    def become(self, before: "Table") -> None:
        """Takes back all that came after `before`, a copy of this table."""
        for field in self.__struct_fields__:
            setattr(self, field, getattr(before, field))
        self.accepted = {key: known for key, known in before.accepted.items() if known.n <= before.n}

    def record(self, accepted: tuple[Acceptance, ...]) -> TableRecord:
        """All that is kept between hands, with the accepted commands that are still to be known.

        Raises ValueError on a table that was never opened.
        """
        if self.config is None:
            message = f"table {self.id} has not been opened"
            raise ValueError(message)
        return TableRecord(
            config=self.config,
            status=self.status,
            hands=self.hands,
            sittings=self.sittings,
            seats=tuple(self.seats.values()),
            last=self.last,
            last_ended=self.last_ended,
            accepted=accepted,
            departures=self.departures,
            reservations=tuple(self.reservations.values()),
            waiting=self.waiting,
            moved=self.moved,
        )
