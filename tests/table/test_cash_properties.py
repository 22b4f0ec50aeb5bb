"""What holds at every table around the hand: who owes, where the chips are, and that nothing waits for ever."""

from collections.abc import Callable
from random import Random
from typing import Any, Final

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from contracts.codec import decode_commit, encode
from contracts.commands import (
    AdjustStack,
    AnyCommand,
    ChangeOptions,
    CloseTable,
    ConfirmRequest,
    Connected,
    Disconnected,
    JoinWaitingList,
    LeaveTable,
    LeaveWaitingList,
    PauseTable,
    ReleaseSeat,
    RemovePlayer,
    ReserveSeat,
    ResumeTable,
    ReturnToPlay,
    SitOut,
    TakeSeat,
    TopUp,
    VoidHand,
)
from contracts.commit import Cause
from contracts.data import Chips
from contracts.events import AnyEvent, Service
from contracts.events.seats import (
    SeatReleased,
    SeatReserved,
    StackAdjusted,
    StackToppedUp,
    TopUpQueued,
    TopUpReleased,
    TopUpRequested,
)
from contracts.events.table import HandEnded, HandStarted, PlayerLeft, PlayerSeated, TableOpened, TableRestated
from contracts.games import BuyIn, RakeBand, RakeSchedule, TableConfig
from contracts.outcomes import Rejected
from contracts.subjects import ActorKind
from services.aggregate.debts import debt
from services.aggregate.evolve import evolve
from services.aggregate.fold import commit_of, fold
from services.aggregate.movements import moves_chips
from services.aggregate.table import Table
from services.dealer import decider as dealer
from services.rake import decider as rake
from services.settlement import decider as settlement
from services.table import decider as table_service
from tests.table.cash import at_the_table, cash
from tests.table.stories import Game
from tests.table.test_properties import chosen

STEPS: Final = 80
EXAMPLES: Final = 40
RAKE: Final = RakeSchedule(
    id="five", version=1, mode="percent", bands=(RakeBand(players=(2, 10), basis_points=500, cap=300),)
)
OPTIONS: Final[dict[str, tuple[Any, ...]]] = {
    "button_mode": ("moving", "dead"),
    "skipped_blind_policy": ("forgive", "post"),
    "rules": (1, 2, 3),
    "time_bank_ms": (0, 2_000),
    "disconnect_ms": (0, 3_000),
    "disconnect_protection": ("none", "allin"),
    "sit_out_ms": (0, 20_000),
    "sit_out_blinds": (0, 2),
    "break_ms": (0, 60_000),
    "hand_gap_ms": (0, 1_000),
    "rathole_ms": (0, 30_000),
    "reserve_ms": (5_000, 60_000),
}
PLAYERS: Final = tuple(f"P{n}" for n in range(8))


@st.composite
def tables(draw: st.DrawFn) -> TableConfig:
    options = {name: draw(st.sampled_from(values)) for name, values in OPTIONS.items()}
    table = cash(buy_in=BuyIn(minimum=200, maximum=2_000), seats=draw(st.sampled_from((2, 4))), act_ms=5_000, **options)
    bankroll = draw(st.sampled_from(("cashier", "cashier", "lobby")))
    return replace(table, bankroll=bankroll, rake=draw(st.sampled_from((None, RAKE))))


class Watched(Game):
    """A game of which every commit is held against what may be."""

    def __init__(self, config: TableConfig) -> None:
        super().__init__(config)
        self.open: set[int] = set()
        self.closed: set[int] = set()
        self.moved = 0
        self.append("table", (TableOpened(config=config),))

    def append(self, by: Service, events: tuple[AnyEvent, ...], cause: Cause | None = None) -> None:
        events = decode_commit(encode(commit_of(self.table, by, events, self.at, cause))).events
        self.chips_move_as_said(events)
        super().append(by, events, cause)
        for event in events:
            self.requests_are_closed_once(event)
        self.one_service_owes()
        cashier = self.table.config is not None and self.table.config.bankroll == "cashier"
        if cashier and any(map(moves_chips, events)):
            self.moved = self.table.n
        if not isinstance(events[0], TableRestated):
            assert self.table.moved == self.moved

    def chips_move_as_said(self, events: tuple[AnyEvent, ...]) -> None:
        """R143, R136: chips come, go and vanish into the rake only by the events that say how many."""
        draft = self.table.copy()
        draft.n, draft.at = draft.n + 1, self.at
        for event in events:
            before, said = at_the_table_of(draft), moved_by(draft, event)
            evolve(draft, event)
            assert at_the_table_of(draft) == before + said, event
            assert all(record.stack >= 0 and record.top_up >= 0 for record in draft.seats.values())

    def requests_are_closed_once(self, event: AnyEvent) -> None:
        """R136: what the cashier was asked for is open until exactly one event names it."""
        asked, answered = requested(event), closes(event)
        if asked is not None:
            assert asked == self.table.n
            self.open.add(asked)
        if answered is not None and answered in self.open | self.closed:
            assert answered in self.open, f"closed twice: {event}"
            self.open.remove(answered)
            self.closed.add(answered)
        kept = {each.number for each in self.table.reservations.values() if each.buy_in}
        waiting = {record.request for record in self.table.seats.values() if record.request is not None}
        if event is self.events[-1]:
            assert kept | waiting == self.open

    def one_service_owes(self) -> None:
        """DESIGN 2: what one service owes, no other does; and what is due is paid by the one that owes it."""
        owed = debt(self.table)
        paying = {
            "table": bool(table_service.owes(self.table, self.at)),
            "dealer": bool(dealer.owes(self.table, self.at, self.decks)),
            "rake": bool(rake.owes(self.table, self.at)),
            "settlement": bool(settlement.owes(self.table, self.at)),
        }
        due = owed is not None and owed.is_due(self.at)
        assert [name for name, pays in paying.items() if pays] == ([owed.service] if owed is not None and due else [])


def at_the_table_of(table: Table) -> Chips:
    """All chips at the table."""
    game = Game.__new__(Game)
    game.table = table
    return at_the_table(game)


def moved_by(table: Table, event: AnyEvent) -> int:
    """By how much the chips of a table change with an event."""
    match event:
        case PlayerSeated():
            return event.record.stack
        case TopUpQueued():
            return event.amount
        case StackToppedUp():
            return event.amount - table.seats[event.seat].top_up
        case StackAdjusted():
            return event.amount
        case PlayerLeft():
            return -event.stack - event.unused
        case HandEnded():
            hand = table.hand
            assert hand is not None
            assert hand.rake is not None
            assert table.config is not None
            assert event.rake == (hand.rake.total if table.config.bankroll == "cashier" else 0)
            return -hand.rake.total
        case _:
            return 0


def requested(event: AnyEvent) -> int | None:
    match event:
        case SeatReserved() if event.reservation.buy_in:
            return event.reservation.number
        case TopUpRequested():
            return event.request
        case _:
            return None


def closes(event: AnyEvent) -> int | None:
    match event:
        case PlayerSeated() | SeatReleased() | TopUpQueued() | StackToppedUp() | TopUpReleased():
            return event.request
        case _:
            return None


def from_lobby(chance: Random, player: str, config: TableConfig) -> AnyCommand:
    seat = chance.choice((None, None, chance.randint(1, config.seats)))
    return chance.choice(
        (
            TakeSeat(id="", player=player, buy_in=chance.choice((200, 1000, 2000, 1)), seat=seat, choice="post"),
            TakeSeat(id="", player=player, buy_in=chance.randint(200, 2000)),
            TakeSeat(id="", player=player, buy_in=chance.randint(200, 2000)),
            ReserveSeat(id="", player=player, seat=seat),
            TopUp(id="", player=player, amount=chance.choice((1, 300, 2000, 2000))),
            TopUp(id="", player=player, amount=chance.randint(1, 1000)),
            TopUp(id="", player=player, amount=chance.randint(1, 1000)),
            Disconnected(id="", player=player),
            Connected(id="", player=player),
        )
    )


def from_player(chance: Random) -> AnyCommand:
    return chance.choice(
        (
            JoinWaitingList(id=""),
            JoinWaitingList(id=""),
            LeaveWaitingList(id=""),
            ReleaseSeat(id=""),
            SitOut(id=""),
            ReturnToPlay(id="", choice="post"),
            ReturnToPlay(id=""),
            ReturnToPlay(id=""),
            LeaveTable(id=""),
        )
    )


def from_operator(chance: Random, player: str, config: TableConfig) -> AnyCommand:
    changed = replace(
        config,
        seats=chance.choice((2, 3, 4, 4)),
        options=replace(config.options, sit_out_ms=chance.choice((0, 10_000)), rules=chance.choice((1, 2, 2))),
    )
    if chance.random() < 0.01:
        return CloseTable(id="")
    return chance.choice(
        (
            PauseTable(id=""),
            ResumeTable(id=""),
            ResumeTable(id=""),
            ResumeTable(id=""),
            RemovePlayer(id="", player=player, reason="r"),
            AdjustStack(id="", player=player, amount=chance.choice((-100, -10_000, 1, 500, 0)), reason="r"),
            AdjustStack(id="", player=player, amount=chance.randint(-500, 500), reason="r"),
            ChangeOptions(id="", config=changed, reason="r"),
            VoidHand(id="", reason="r"),
            VoidHand(id="", reason="r"),
        )
    )


def from_cashier(chance: Random, game: Watched) -> AnyCommand:
    """Mostly an answer to what is open; also a copy of an old one, and one to a request that never was."""
    numbers = sorted(game.open) * 8 + sorted(game.closed)[-2:] + [game.table.n]
    return ConfirmRequest(id="", request=chance.choice(numbers), paid=chance.random() < 0.8)


def somebody(game: Watched, chance: Random) -> None:
    """A command, which is accepted or changes nothing."""
    config, player = game.table.config, chance.choice(PLAYERS)
    assert config is not None
    queued = [record.player for record in game.table.seats.values() if record.top_up and not record.leaving]
    if queued and chance.random() < 0.2:  # else it is rare that who leaves has chips queued
        assert not isinstance(game.send("player", chance.choice(queued), LeaveTable(id="")), Rejected)
        return
    senders: dict[ActorKind, tuple[str, Callable[[], AnyCommand]]] = {
        "lobby": ("L1", lambda: from_lobby(chance, player, config)),
        "player": (player, lambda: from_player(chance)),
        "operator": ("O1", lambda: from_operator(chance, player, config)),
        "cashier": ("C1", lambda: from_cashier(chance, game)),
    }
    kind: ActorKind = chance.choices(("lobby", "player", "operator", "cashier"), (8, 4, 2, 5))[0]
    who, command = senders[kind]
    before = game.table.copy()
    if isinstance(game.send(kind, who, command()), Rejected):
        assert game.table == before


@settings(max_examples=EXAMPLES)
@given(table=tables(), seed=st.integers(0, 2**32))
def test_whatever_happens_around_the_hands(table: TableConfig, seed: int) -> None:
    """R4 to R12, R120 to R124, R136, R143: for any players, lobby, operator, cashier and clock."""
    game, chance = Watched(table), Random(seed)
    for _ in range(STEPS):
        if game.table.status == "closed":
            break
        turn = game.turn
        if turn is not None and chance.random() < 0.5:
            act = chosen(game, turn, chance)
            assert not isinstance(game.send("player", game.table.seats[turn.seat].player, act), Rejected)
        else:
            somebody(game, chance)
        game.wait(chance.choice((0, 1, 100, 1000, 6000)))
        for _ in range(STEPS):
            if not game.owed():
                break
    assert_the_fold_may_begin_anywhere(game)
    assert_nothing_waits_for_ever(game)


def assert_the_fold_may_begin_anywhere(game: Watched) -> None:
    """DESIGN 2: from any `hand_started` the fold is the same as from commit 1, kept seats and all."""
    commits = [decode_commit(data) for data in game.stored]
    for start, commit in enumerate(commits):
        if isinstance(commit.events[0], HandStarted):
            table = Table(room=game.table.room, id=game.table.id)
            for later, data in zip(commits[start:], game.stored[start:], strict=True):
                fold(table, later, data)
            assert table == game.table


def assert_nothing_waits_for_ever(game: Watched) -> None:
    """Nobody says anything any more, not even the cashier: who waits has a seat kept for a time, no more."""
    for _ in range(len(PLAYERS) + 1):
        game.wait(120_000)
        for _ in range(STEPS):
            if not game.owed():
                break
    assert game.table.reservations == {}
    config = game.table.config
    assert config is not None
    full = len(game.table.seats) == config.seats
    assert full or not game.table.waiting
    assert game.open == {record.request for record in game.table.seats.values() if record.request is not None}
