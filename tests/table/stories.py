"""The words in which the table's tests are told: a table with its players, what they do, and what comes of it.

    game = no_limit(blinds=(50, 100)).given({1: 5000, 2: 5000, 3: 250}, button=3)
    game.when(raise_to(3, 200), call(1), fold(2))
    assert game.offers(...) == ...

Every commit is encoded, decoded and folded as it would be from a log, and after each one all chips are counted (R143).
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Literal

import msgspec

from contracts.codec import decode_commit, encode
from contracts.commands import Act, AnyCommand, TakeSeat
from contracts.commit import Cause
from contracts.data import Chips, Instant, Seat
from contracts.events import AnyEvent, Service
from contracts.events.state import Actor, Owed, Positions, SeatRecord, Turn
from contracts.events.table import TableOpened, TableRestated
from contracts.games import BuyIn, Limit, Options, Stakes, TableConfig, Variant
from contracts.outcomes import Rejected
from contracts.subjects import ActorKind
from services.aggregate.debts import debt
from services.aggregate.fold import commit_of, fold
from services.aggregate.table import Table
from services.dealer import decider as dealer
from services.dealer.scripted import Script, ScriptedDecks
from services.rake import decider as rake
from services.settlement import decider as settlement
from services.table import decider
from services.table.betting.turn import clockwise
from services.table.blinds import hand_started, posts
from services.table.button import Seating

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
UNBOUNDED = BuyIn(minimum=1)

type Move = tuple[Seat, Literal["fold", "check", "call", "bet", "raise", "all_in"], Chips | None]


def fold_(seat: Seat) -> Move:
    return seat, "fold", None


def check(seat: Seat) -> Move:
    return seat, "check", None


def call(seat: Seat) -> Move:
    return seat, "call", None


def bet(seat: Seat, to: Chips) -> Move:
    return seat, "bet", to


def raise_to(seat: Seat, to: Chips) -> Move:
    return seat, "raise", to


def all_in(seat: Seat) -> Move:
    return seat, "all_in", None


def config(
    limit: Limit = "no_limit",
    *,
    blinds: tuple[Chips, Chips] = (50, 100),
    bets: tuple[Chips, Chips] = (0, 0),
    ante: Chips = 0,
    variant: Variant = "holdem",
    seats: int = 10,
    buy_in: BuyIn = UNBOUNDED,
    **options: object,
) -> TableConfig:
    stakes = Stakes(small_blind=blinds[0], big_blind=blinds[1], small_bet=bets[0], big_bet=bets[1], ante=ante)
    chosen = msgspec.convert(options, Options)
    return TableConfig(
        variant=variant, limit=limit, stakes=stakes, seats=seats, buy_in=buy_in, options=chosen, money="play"
    )


def name(seat: Seat) -> str:
    return f"P{seat}"


class Game:
    """One table and all that happened at it."""

    def __init__(self, config: TableConfig, script: Script = Script()) -> None:  # noqa: B008
        self.config = config
        self.table = Table(room="main", id="T1")
        self.at: Instant = NOON
        self.events: list[AnyEvent] = []
        self.stored: list[bytes] = []
        self.commands = 0
        self.decks = ScriptedDecks({1: script})
        self.chips: Chips | None = None

    # given

    def given(
        self,
        stacks: dict[Seat, Chips],
        button: Seat,
        posting: dict[Seat, Owed] | None = None,
        positions: Positions | None = None,
    ) -> Game:
        """A hand that was just dealt to these stacks."""
        order = sorted(stacks, key=lambda seat: clockwise(seat, button))
        small, big = (button, order[0]) if len(order) == 2 else (order[0], order[1])
        where = positions or Positions(button=button, small_blind=small, big_blind=big)
        seats = {
            seat: SeatRecord(seat=seat, player=name(seat), stack=stack, sat=place)
            for place, (seat, stack) in enumerate(stacks.items(), 1)
        }
        self.between_hands(seats)
        seating = Seating(where, tuple(sorted(stacks)), (), posting or {}, {}, fresh=False)
        taken = posts(self.config, self.table.seats, seating)
        self.append("table", (hand_started(self.table, self.at, where, seating.dealt, taken),))
        return self.settle()

    def between_hands(self, seats: dict[Seat, SeatRecord], last: Positions | None = None) -> Game:
        """A table with these players, and no hand yet."""
        self.append("table", (TableOpened(config=self.config),))
        record = self.table.record(())
        record = msgspec.structs.replace(record, seats=tuple(seats.values()), sittings=len(seats), last=last)
        self.append("table", (TableRestated(table=record),))
        return self

    # when

    def when(self, *moves: Move) -> Game:
        """These players decide, one after the other, and the house does what it owes."""
        for seat, action, to in moves:
            turn = self.table.hand.turn_number if self.table.hand is not None else 0
            outcome = self.send("player", name(seat), Act(id="", turn=turn or 0, action=action, to=to))
            assert not isinstance(outcome, Rejected), f"{seat}: {action} {to}: {outcome}"
            self.settle()
        return self

    def send(
        self, kind: ActorKind, who: str, command: AnyCommand, hand: int | None = None
    ) -> tuple[AnyEvent, ...] | Rejected:
        """Somebody sends a command that names the table's hand, or another one; an accepted one is in the log."""
        self.commands += 1
        named = self.table.hands if hand is None else hand
        stamped = msgspec.structs.replace(command, id=command.id or f"c{self.commands}", hand=named)
        cause = Cause(actor=Actor(kind=kind, name=who), arrived=self.at, command=stamped)
        outcome = decider.decide(self.table, cause, self.at)
        if not isinstance(outcome, Rejected):
            self.append("table", outcome, cause)
        return outcome

    def sit(self, seat: Seat, chips: Chips) -> Game:
        """A player sits down."""
        outcome = self.send("lobby", "L1", TakeSeat(id="", player=name(seat), buy_in=chips, seat=seat))
        assert not isinstance(outcome, Rejected), outcome
        return self

    def wait(self, ms: int) -> Game:
        """Time goes by."""
        self.at += timedelta(milliseconds=ms)
        return self

    def settle(self) -> Game:
        """The services do what they owe, until a player is to act or the hand is over."""
        while self.table.hand is not None and self.owed():
            pass
        return self

    def owed(self) -> bool:
        """The service that owes does what it owes now; whether there was one."""
        owed = debt(self.table)
        if owed is None or not owed.is_due(self.at):
            return False
        events: tuple[AnyEvent, ...]
        match owed.service:
            case "table":
                events = decider.owes(self.table, self.at)
            case "dealer":
                events = dealer.owes(self.table, self.at, self.decks)
            case "rake":
                events = rake.owes(self.table, self.at)
            case "settlement":
                events = settlement.owes(self.table, self.at)
        assert events, owed
        self.append(owed.service, events)
        return True

    def append(self, by: Service, events: tuple[AnyEvent, ...], cause: Cause | None = None) -> None:
        """Stores and folds a commit as any reader would, and counts the chips."""
        data = encode(commit_of(self.table, by, events, self.at, cause))
        commit = decode_commit(data)
        before = self.in_play()
        fold(self.table, commit, data)
        self.stored.append(data)
        self.events.extend(commit.events)
        if before is not None and self.table.hand is not None:
            assert self.in_play() == before, f"chips were made or lost by {commit.events}"

    # then

    def in_play(self) -> Chips | None:
        """All chips of a hand: stacks and pot (R143); None between hands."""
        hand = self.table.hand
        if hand is None:
            return None
        return sum(player.stack for player in hand.players.values()) + hand.pot

    @property
    def turn(self) -> Turn | None:
        """The open turn."""
        return self.table.hand.open_turn if self.table.hand is not None else None

    def offers(self) -> dict[str, object]:
        """The open turn as the vectors write it: legal actions, chips to call, range of street totals."""
        turn = self.turn
        assert turn is not None
        reach = [turn.minimum, turn.maximum] if turn.wager is not None else None
        return {
            "seat": turn.seat,
            "check": turn.check,
            "call": turn.call,
            "bet": reach if turn.wager == "bet" else None,
            "raise_to": reach if turn.wager == "raise" else None,
        }

    def last[T: AnyEvent](self, kind: type[T]) -> T:
        """The last event of a kind."""
        return next(event for event in reversed(self.events) if isinstance(event, kind))

    def stacks(self) -> dict[Seat, Chips]:
        """The stacks of all who are seated, as they are on the table now."""
        held = {seat: record.stack for seat, record in self.table.seats.items()}
        return held | ({s: p.stack for s, p in self.table.hand.players.items()} if self.table.hand is not None else {})


def play_on(game: Game, hand: int) -> None:
    """Has everybody fold until this hand has started."""
    while game.table.hands < hand:
        if game.turn is not None:
            game.when(fold_(game.turn.seat))
        else:
            assert game.owed()
