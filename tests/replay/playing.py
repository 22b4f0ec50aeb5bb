"""Whole sessions at one table, played by the services' own deciders into a log in memory: what replay is tested on."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from random import Random
from typing import Final

from contracts.codec import encode
from contracts.commands import Act, AnyCommand, LeaveTable, OpenTable, ReturnToPlay, SitOut, TakeSeat, TopUp
from contracts.commit import Cause, Commit
from contracts.events import AnyEvent, Service, fact_of
from contracts.events.dealer import DeckShuffled
from contracts.events.state import Actor, Turn
from contracts.events.table import HandStarted
from contracts.games import BuyIn, Options, RakeBand, RakeSchedule, Stakes, TableConfig
from contracts.outcomes import Rejected
from contracts.queries import HandKey
from contracts.subjects import ActorKind, guarded
from services.aggregate.chain import Verdict, read_table
from services.aggregate.debts import debt
from services.aggregate.fold import commit_of, fold
from services.aggregate.table import Table
from services.bus.memory import MemoryLog
from services.dealer import decider as dealer
from services.dealer.decks import Decks, SealedDecks
from services.dealer.vault import HandName, MasterKeys
from services.rake import decider as rake
from services.settlement import decider as settlement
from services.table import decider as table_service
from services.table.refusals import refused_events

ROOM: Final = "main"
BEGINNING: Final = datetime(2026, 3, 1, 20, 0, tzinfo=UTC)
MASTERS: Final = MasterKeys("k1", {"k1": bytes(range(32))})
RAKE: Final = RakeSchedule(
    id="percent-5",
    version=2,
    mode="percent",
    bands=(RakeBand(players=(2, 4), basis_points=500, cap=200), RakeBand(players=(5, 10), basis_points=500, cap=300)),
)

NLHE: Final = TableConfig(
    variant="holdem",
    limit="no_limit",
    stakes=Stakes(small_blind=50, big_blind=100),
    seats=6,
    buy_in=BuyIn(minimum=1000, maximum=20_000),
    rake=RAKE,
    options=Options(act_ms=30_000, hand_gap_ms=2_000),
)
PLO8: Final = TableConfig(
    variant="omaha8",
    limit="pot_limit",
    stakes=Stakes(small_blind=50, big_blind=100),
    seats=6,
    buy_in=BuyIn(minimum=1000, maximum=20_000),
    rake=RAKE,
    options=Options(muck="show_all"),
)
LO8: Final = TableConfig(
    variant="omaha8",
    limit="fixed_limit",
    stakes=Stakes(small_blind=50, big_blind=100, small_bet=100, big_bet=200),
    seats=6,
    buy_in=BuyIn(minimum=300),
    money="play",
    options=Options(fl_cap_headsup="unlimited", button_mode="dead"),
)
GAMES: Final = {"nlhe": NLHE, "plo8": PLO8, "lo8": LO8}
PLAYERS: Final = ("alice", "bob", "carol", "dave", "erin", "frank")


class Session:
    """A table, its log, and a clock that moves when it is told to."""

    def __init__(self, seed: int = 0, table: str = "T1", decks: Decks | None = None) -> None:
        self.random = Random(seed)
        self.table = Table(room=ROOM, id=table)
        self.log = MemoryLog()
        self.at = BEGINNING
        self.commits: list[Commit] = []
        self.lines: list[bytes] = []
        self.states: dict[int, Table] = {}
        self._sequence = 0
        self._sent = 0
        self._drawn = seed
        self._arranged = decks

    @property
    def messages(self) -> list[tuple[str, bytes]]:
        return [(stored.subject, stored.data) for stored in self.log.messages]

    def append(self, by: Service, events: tuple[AnyEvent, ...], cause: Cause | None = None) -> None:
        commit = commit_of(self.table, by, events, self.at, cause)
        data = encode(commit)
        stored = self.log.store(guarded(ROOM, self.table.id, by, fact_of(events[-1])), data, self._sequence)
        self._sequence = stored.sequence
        reading = read_table(self.table, stored.subject, data)
        assert reading.verdict is Verdict.NEXT, reading.reason
        fold(self.table, commit, data)
        self.commits.append(commit)
        self.lines.append(data)

    def send(self, kind: ActorKind, name: str, command: Callable[[str, int], AnyCommand]) -> Rejected | None:
        self._sent += 1
        asked = command(f"c{self._sent}", self.table.hands)
        cause = Cause(actor=Actor(kind=kind, name=name), arrived=self.at, command=asked)
        decided = table_service.decide(self.table, cause, self.at)
        if not isinstance(decided, Rejected):
            self.append("table", decided, cause)
            return None
        written = refused_events(decided, cause)
        if written:
            self.append("table", written, cause)
        return decided

    def owed(self) -> tuple[Service, tuple[AnyEvent, ...]]:
        found = debt(self.table)
        if found is None:
            return "table", ()
        match found.service:
            case "table":
                return "table", table_service.owes(self.table, self.at)
            case "dealer":
                return "dealer", dealer.owes(self.table, self.at, self._decks())
            case "rake":
                return "rake", rake.owes(self.table, self.at)
            case "settlement":
                return "settlement", settlement.owes(self.table, self.at)

    def settle(self) -> None:
        """Lets every service pay what it owes at this moment."""
        while True:
            by, events = self.owed()
            if not events:
                return
            self.append(by, events)
            self.at += timedelta(milliseconds=7)

    def open(self, config: TableConfig) -> None:
        assert self.send("operator", "floor", lambda key, hand: OpenTable(id=key, hand=hand, config=config)) is None

    def sit(self, player: str, chips: int) -> Rejected | None:
        return self.send(
            "lobby", "web", lambda key, hand: TakeSeat(id=key, hand=hand, player=player, buy_in=chips, choice="post")
        )

    def act(self, choice: tuple[str, int | None]) -> None:
        hand = self.table.hand
        assert hand is not None
        turn, number = hand.open_turn, hand.turn_number
        assert turn is not None
        assert number is not None
        action, to = choice
        refused = self.send(
            "player",
            self.table.seats[turn.seat].player,
            lambda key, hand: Act(id=key, hand=hand, turn=number, action=action, to=to),  # type: ignore[arg-type]
        )
        assert refused is None, refused

    def step(self) -> None:
        """Somebody does something, or time passes."""
        self.settle()
        hand = self.table.hand
        if hand is None or hand.open_turn is None:
            self.at += timedelta(seconds=2)
            self._come_and_go()
        elif self.random.random() < 0.03:
            self.at += timedelta(seconds=31)
        else:
            self.at += timedelta(milliseconds=self.random.randrange(300, 9000))
            self.act(self._choice(hand.open_turn))
            if self.random.random() < 0.08:
                self._come_and_go()
        self.settle()

    def play(self, hands: int) -> None:
        """Plays until so many hands have ended."""
        while self.table.hands < hands or self.table.hand is not None:
            before = self.table.hand
            self.step()
            if before is not None and (self.table.hand is None or self.table.hand.number != before.number):
                self.states[before.number] = self.table.copy()

    def hand_key(self, hand: int) -> HandKey:
        """What `croupier reveal` would give for a hand."""
        rules = 1
        for commit in self.commits:
            for event in commit.events:
                if isinstance(event, HandStarted):
                    rules = event.rules
                if isinstance(event, DeckShuffled) and commit.hand == hand:
                    seed = event.seed
                    key = MASTERS.hand_key(HandName(self.table.id, hand, rules), seed).hex()
                    return HandKey(room=ROOM, table=self.table.id, hand=hand, key_id=seed.key_id, key=key)
        raise KeyError(hand)

    def _decks(self) -> Decks:
        if self._arranged is not None:
            return self._arranged
        self._drawn += 1
        drawn = sha256(f"{self.table.id}/{self._drawn}/{self.table.n}".encode()).digest()
        return SealedDecks(MASTERS, drawn, drawn[:12])

    def _choice(self, turn: Turn) -> tuple[str, int | None]:
        choices: list[tuple[str, int | None]] = [("fold", None)]
        choices += [("check", None)] * 6 if turn.check else []
        choices += [("call", None)] * 6 if turn.call is not None else []
        if turn.wager is not None:
            assert turn.minimum is not None
            assert turn.maximum is not None
            choices += [(turn.wager, turn.minimum)] * 2
            choices += [(turn.wager, self.random.randint(turn.minimum, turn.maximum)), ("all_in", None)]
            if turn.minimum != turn.maximum and self.table.config and self.table.config.limit == "fixed_limit":
                choices = [(action, turn.minimum if to is not None else to) for action, to in choices]
        return self.random.choice(choices)

    def _come_and_go(self) -> None:
        player = self.random.choice(PLAYERS)
        kind = self.random.randrange(5)
        seat = self.table.seat_of(player)
        if seat is None or (seat.stack == 0 and kind == 0):
            self.sit(player, self.random.randrange(1000, 6000))
        elif kind == 1:
            self.send("player", player, lambda key, hand: SitOut(id=key, hand=hand))
        elif kind == 2 and len(self.table.seats) > 3:
            self.send("player", player, lambda key, hand: LeaveTable(id=key, hand=hand))
        elif kind == 3 or seat.stack == 0:
            self.send("lobby", "web", lambda key, hand: TopUp(id=key, hand=hand, player=player, amount=2000))
        else:
            self.send("player", player, lambda key, hand: ReturnToPlay(id=key, hand=hand, choice="post"))


def session(game: str, seed: int = 0, hands: int = 12) -> Session:
    """A session of some hands, in which people come, go, run out of time and out of chips."""
    played = Session(seed, f"{game}-{seed}")
    played.open(GAMES[game])
    for player in PLAYERS[:5]:
        assert played.sit(player, played.random.randrange(1000, 8000)) is None
        played.at += timedelta(seconds=1)
    played.play(hands)
    return played
