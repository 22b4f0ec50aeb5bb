"""An evening at one table at which everything that can be told is told to everybody who may be told anything."""

from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from random import Random
from typing import Final, Literal

from contracts.client.picture import after
from contracts.codec import encode
from contracts.commands import (
    Act,
    AdjustStack,
    AnyCommand,
    ConfirmRequest,
    Connected,
    Disconnected,
    JoinWaitingList,
    RemovePlayer,
    ReserveSeat,
    VoidHand,
)
from contracts.commit import Cause, Commit
from contracts.data import Id
from contracts.events import AnyEvent, Service
from contracts.events.table import HandEnded, HandVoided
from contracts.games import BuyIn, Options, TableConfig
from contracts.outcomes import Rejected
from contracts.queries import PublicTable
from contracts.subjects import ActorKind
from services.aggregate.recorded import recorded
from services.aggregate.table import Table
from services.bots.games import GAMES, stakes_of
from services.cashier.told import open_requests
from tests.replay.playing import MASTERS, PLAYERS, RAKE, Session
from tests.secrecy.house import House
from tests.secrecy.truth import PUBLIC, Truth, wishes

STRANGER: Final = "zoe"
"""Somebody who never plays, and asks for everything."""
READERS: Final = (*PLAYERS, STRANGER)
ASKED_AT_ONCE: Final = 3
"""So many of the last hands are in each record."""


def drawn_config(game: str, random: Random, bankroll: Literal["lobby", "cashier"]) -> TableConfig:
    """One of the seven games, with the house's choices about cards and seats drawn anew."""
    variant, limit = GAMES[game]
    options = Options(
        muck=random.choice(("losers_may_muck", "losers_may_muck", "show_all")),
        allin_reveal=random.choice(("all", "normal")),
        allin_expose_time=random.choice(("before_board", "at_showdown")),
        burn_cards=random.choice((True, False)),
        act_ms=30_000,
        hand_gap_ms=2_000,
        time_bank_ms=random.choice((0, 10_000)),
        reserve_ms=4_000,
        disconnect_ms=random.choice((0, 5_000)),
        disconnect_protection=random.choice(("none", "allin")),
        rules=2,
    )
    stakes = stakes_of(game)
    return TableConfig(
        variant=variant,
        limit=limit,
        stakes=stakes,
        seats=5,
        buy_in=BuyIn(minimum=5 * stakes.big_blind, maximum=100 * stakes.big_blind),
        rake=random.choice((RAKE, None)),
        options=options,
        bankroll=bankroll,
    )


class Evening(Session):
    """A session of which every message to people is held against what its reader may know by then.

    `findings` say what was told that may not be: the kind of message, who read it, and what it was. `read` counts the
    messages of each kind, `happened` the events.
    """

    def __init__(self, seed: int, table: str, house: House) -> None:
        super().__init__(seed, table)
        self.house = house
        self.truth = Truth(table, MASTERS)
        self.findings: list[tuple[str, Id, str]] = []
        self.read: Counter[str] = Counter()
        self.happened: Counter[str] = Counter()
        self._asking = Random(seed)
        self._followed: PublicTable | None = None
        self._hand: list[tuple[Commit, bytes]] = []
        self._before: Table = self.table.copy()
        self._hands: list[list[Commit]] = []

    def append(self, by: Service, events: tuple[AnyEvent, ...], cause: Cause | None = None) -> None:
        """Appends a commit; then all that tells of it leaves the house."""
        before = self.table.copy()
        super().append(by, events, cause)
        commit, data = self.commits[-1], self.lines[-1]
        self.truth.take(commit)
        self.happened.update(str(event.__struct_config__.tag) for event in commit.events)
        if any(event.__struct_config__.tag == "hand_started" for event in commit.events):
            self._hand, self._before = [], before
        self._hand.append((commit, data))
        self._tell_everybody(commit)
        self._tell_each(commit)
        if any(isinstance(event, HandEnded | HandVoided) for event in commit.events):
            self._tell_the_hand(commit.hand)

    def _tell_everybody(self, commit: Commit) -> None:
        view = self.house.view(self.table, commit)
        self._hold("view", PUBLIC, encode(view), commit.hand)
        self._followed = after(self._followed, view)
        picture = self.house.picture(self.table)
        if picture is not None:
            self._hold("picture", PUBLIC, encode(picture), picture.hand)
            if picture != self._followed:
                self.findings.append(("view", PUBLIC, "something else than the table is"))

    def _tell_each(self, commit: Commit) -> None:
        for reader in READERS if commit.by == "dealer" else ():
            cards = self.house.sent(self.table, commit.hand, reader)
            if cards is not None:
                self._hold("cards sent", reader, encode(cards), cards.hand)
        for reader in self._asking.sample(READERS, 2):
            answer = self.house.cards(self.table, reader)
            self._hold("cards asked for", reader, encode(answer), self.table.hands)

    def _tell_the_hand(self, number: int) -> None:
        self._hands = [*self._hands, [commit for commit, _ in self._hand]][-ASKED_AT_ONCE:]
        for line in self.house.narrated(self._before, self._hand):
            self._hold("narration", PUBLIC, line.encode(), number)
        for reader in READERS:
            played = [part for commits in self._hands for part in recorded(commits, reader)]
            for record in self.house.recorded(self.table.id, played):
                self._hold("record", reader, encode(record), record.hand)

    def send(self, kind: ActorKind, name: str, command: Callable[[str, int], AnyCommand]) -> Rejected | None:
        """Has somebody ask the table for something; a refusal is read by who asked."""
        refused = super().send(kind, name, command)
        if refused is not None:
            refused = self.house.refused(self.table, refused)
            reader = name if kind == "player" else PUBLIC
            self._hold("refusal", reader, encode(refused), self.table.hands)
        return refused

    def _hold(self, kind: str, reader: Id, data: bytes, hand: int) -> None:
        self.read[kind] += 1
        found = [*self.truth.leaks(reader, data, hand)]
        if b'"shares"' in data:
            found += self.truth.worded(data, hand)
        if kind in {"view", "picture"}:
            found += wishes(data)
        self.findings += [(kind, reader, what) for what in found]

    def settle(self) -> None:
        """Lets every service pay what it owes, and the cashier answer what the table has asked."""
        super().settle()
        for request in sorted(open_requests(self.table)):
            paid = self.random.random() < 0.8
            self.send(
                "cashier",
                "cashier",
                lambda key, hand, request=request, paid=paid: ConfirmRequest(  # type: ignore[misc]
                    id=key, hand=hand, request=request, paid=paid, message="" if paid else "there is not enough"
                ),
            )
            super().settle()

    def _come_and_go(self) -> None:
        """People come and go as in any session, lose their connections, and ask for what cannot be."""
        super()._come_and_go()
        player, kind = self.random.choice(PLAYERS), self.random.randrange(9)
        if kind == 0:
            self.send("lobby", "web", lambda key, hand: Disconnected(id=key, hand=hand, player=player))
        elif kind in {1, 2}:
            self.send("lobby", "web", lambda key, hand: Connected(id=key, hand=hand, player=player))
        elif kind == 3:
            self.send("player", player, lambda key, hand: JoinWaitingList(id=key, hand=hand))
        elif kind == 4 and self.table.hand is not None:
            self.send("operator", "floor", lambda key, hand: VoidHand(id=key, hand=hand, reason="a fault"))
        elif kind == 5:
            self.send(
                "operator", "floor", lambda key, hand: RemovePlayer(id=key, hand=hand, player=player, reason="rude")
            )
        elif kind == 6:
            self.send("lobby", "web", lambda key, hand: ReserveSeat(id=key, hand=hand, player=player, seat=1))
        elif kind == 7:
            self.send(
                "operator",
                "floor",
                lambda key, hand: AdjustStack(id=key, hand=hand, player=player, amount=100, reason="a tip"),
            )

    def act(self, choice: tuple[str, int | None]) -> None:
        """The one whose turn it is decides, after others have tried what they may not."""
        hand = self.table.hand
        assert hand is not None
        turn, number = hand.open_turn, hand.turn_number
        assert turn is not None
        assert number is not None
        if self.random.random() < 0.2:
            for player, to in ((self.random.choice(READERS), None), (self.table.seats[turn.seat].player, 1)):
                self.send(
                    "player",
                    player,
                    lambda key, hand, to=to: Act(id=key, hand=hand, turn=number, action="raise", to=to),  # type: ignore[misc]
                )
        if self.table.hand is hand and hand.turn_number == number:
            super().act(choice)


def evening(game: str, seed: int, hands: int, house: House | None = None) -> Evening:
    """An evening of so many hands at one table."""
    played = Evening(seed, f"{game}-{seed}", house or House())
    played.open(drawn_config(game, played.random, "cashier" if seed % 2 else "lobby"))
    assert played.table.config is not None
    for player in PLAYERS[:5]:
        assert played.sit(player, played.random.randrange(10, 60) * 100) is None
        played.at += timedelta(seconds=1)
    played.play(hands)
    return played
