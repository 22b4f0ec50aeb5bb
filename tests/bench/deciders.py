"""Whole hands by the services' own deciders in memory: every commit is decided, encoded, hashed and folded."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from random import Random
from typing import Final, Self

from contracts.codec import encode
from contracts.commands import AnyCommand, OpenTable, TakeSeat
from contracts.commit import Cause
from contracts.events import AnyEvent, Service, fact_of
from contracts.events.dealer import DeckShuffled, SealedSeed
from contracts.events.state import Actor
from contracts.outcomes import Rejected
from contracts.subjects import guarded
from services.aggregate.debts import debt
from services.aggregate.fold import commit_of, fold
from services.aggregate.table import Table
from services.bots.games import GAMES, config_of, stakes_of
from services.dealer import decider as dealer
from services.dealer.deck import Deck
from services.dealer.decks import Decks, OpenedDecks, SealedDecks, name_of
from services.dealer.shuffle import SALT_BYTES, shuffled_cards
from services.dealer.vault import SCRIPTED, MasterKeys
from services.rake import decider as rake
from services.rake.schedules import party
from services.settlement import decider as settlement
from services.table import decider as table_service
from tests.bench.choices import STACKS, choose

AT: Final = datetime(2026, 1, 1, tzinfo=UTC)
MASTERS: Final = MasterKeys("k1", {"k1": bytes(range(32))})
type Message = tuple[str, bytes]
"""A commit as it is stored: subject and bytes."""

LOBBY: Final = Actor(kind="lobby", name="bench")

_SALTS: Final = ("0" * 2 * SALT_BYTES,) * 52


class PlainDecks:
    """Decks from the same shuffle, without salts, hashes and seal: the game alone, as other engines deal it."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._hand = 0
        self._deck: Deck | None = None

    def shuffle(self, table: Table) -> DeckShuffled:
        """Shuffles; publishes nothing."""
        self._hand, self._deck = name_of(table).hand, Deck(shuffled_cards(self._random.randbytes(32)), _SALTS)
        return DeckShuffled(hashes=(), seed=SealedSeed(key_id=SCRIPTED, nonce="", ciphertext=""))

    def deck(self, table: Table) -> Deck:
        """The deck of the hand that was shuffled last."""
        assert self._deck is not None
        assert self._hand == name_of(table).hand
        return self._deck


class RealDecks:
    """The dealer's own decks: a sealed seed, 52 salts and 52 hashes a hand."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._opened = OpenedDecks()

    def shuffle(self, table: Table) -> DeckShuffled:
        """Shuffles, hashes and seals."""
        return self._fresh().shuffle(table)

    def deck(self, table: Table) -> Deck:
        """The deck that lies open in this process."""
        return self._fresh().deck(table)

    def _fresh(self) -> SealedDecks:
        return SealedDecks(MASTERS, self._random.randbytes(32), self._random.randbytes(12), self._opened)


class Seat6:
    """A table with six players, and its log."""

    def __init__(self, name: str, game: str, stacks: tuple[int, ...] = STACKS[0]) -> None:
        self.table = Table(room="main", id=name)
        self.messages: list[Message] = []
        self.send(LOBBY, OpenTable(id="open", config=config_of(game, party(GAMES[game][1], stakes_of(game)))))
        for seat, stack in enumerate(stacks, 1):
            command = TakeSeat(id=f"seat{seat}", player=f"{name}-p{seat}", buy_in=stack, seat=seat, choice="post")
            self.send(LOBBY, command)

    def send(self, actor: Actor, command: AnyCommand) -> None:
        """Has the table decide a command that it accepts."""
        self.messages.append(_send(self.table, actor, command))


class Deciders:
    """Plays hands of one game, each at a fresh copy of a table with six players."""

    def __init__(self, tables: Sequence[Table], decks: Decks, seed: int) -> None:
        self.random = Random(seed)
        self.hands = self.commits = self.actions = 0
        self._decks = decks
        self._tables = tables

    @classmethod
    def of(cls, game: str, decks: Decks, seed: int) -> Self:
        """At tables with differing stacks."""
        return cls([Seat6("bench", game, stacks).table for stacks in STACKS], decks, seed)

    def play(self) -> None:
        """One whole hand."""
        table = self.random.choice(self._tables).copy()
        table.accepted = {}
        for _ in self.hand(table):
            self.commits += 1
        self.hands += 1

    def hand(self, table: Table) -> Iterator[Message]:
        """The commits of one hand, as they are made; none where no hand can start."""
        started = table_service.owes(table, AT)
        if started:
            yield _append(table, "table", started)
        while table.hand is not None:
            owed = debt(table)
            if owed is not None and owed.is_due(AT):
                yield _append(table, owed.service, self._owes(owed.service, table))
            else:
                yield self._act(table)

    def _owes(self, service: Service, table: Table) -> tuple[AnyEvent, ...]:
        match service:
            case "table":
                return table_service.owes(table, AT)
            case "dealer":
                return dealer.owes(table, AT, self._decks)
            case "rake":
                return rake.owes(table, AT)
            case "settlement":
                return settlement.owes(table, AT)

    def _act(self, table: Table) -> Message:
        hand = table.hand
        turn = hand.open_turn if hand is not None else None
        assert hand is not None
        assert turn is not None
        self.actions += 1
        command = choose(turn, hand.turn_number or 0, hand.number, self.random)
        return _send(table, Actor(kind="player", name=table.seats[turn.seat].player), command)


def _send(table: Table, actor: Actor, command: AnyCommand) -> Message:
    cause = Cause(actor=actor, arrived=AT, command=command)
    decided = table_service.decide(table, cause, AT)
    assert not isinstance(decided, Rejected), decided
    return _append(table, "table", decided, cause)


def _append(table: Table, by: Service, events: tuple[AnyEvent, ...], cause: Cause | None = None) -> Message:
    """What a service does with its own events; that others read what it wrote is measured with the log."""
    commit = commit_of(table, by, events, AT, cause)
    data = encode(commit)
    fold(table, commit, data)
    return guarded(table.room, table.id, by, fact_of(events[-1])).subject, data
