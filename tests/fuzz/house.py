"""A table at which commands of any bytes arrive, and what the services owe is paid; chips and chain are watched."""

from datetime import timedelta
from functools import cache
from random import Random
from typing import Any, Final, NamedTuple

from contracts.codec import decode_command, decode_outcome, encode
from contracts.commit import Cause
from contracts.data import Instant
from contracts.events import AnyEvent, Service, fact_of
from contracts.events.dealer import DeckShuffled
from contracts.events.state import Actor
from contracts.events.table import TableOpened
from contracts.games import BuyIn, Limit, RakeBand, RakeSchedule, TableConfig, Variant
from contracts.outcomes import Accepted, Outcome, Rejected
from contracts.subjects import ActorKind, guarded
from services.aggregate.chain import Verdict, read_table
from services.aggregate.debts import debt
from services.aggregate.draft import Draft
from services.aggregate.fold import commit_of, fold
from services.aggregate.table import Table
from services.dealer import decider as dealer
from services.dealer.deck import Deck
from services.dealer.decks import hand_in_progress
from services.dealer.scripted import ScriptedDecks
from services.rake import decider as rake
from services.replay.invariants import broken
from services.settlement import decider as settlement
from services.table import decider
from services.table.intake import read_command
from tests.table.stories import NOON, Game, config
from tests.table.test_properties import at_random

COMMITS_MAX: Final = 40
"""So many commits at most do the services make in a hand, before somebody is to act again."""
HANDS_MAX: Final = 2
"""After so many hands in which nobody can act, since all are all-in from the posts, it is enough."""
STEPS: Final = 60
RAKE: Final = RakeSchedule(
    id="percent-5", version=1, mode="percent", bands=(RakeBand(players=(2, 10), cap=200, basis_points=500),)
)
GAMES: Final[tuple[tuple[Variant, Limit, dict[str, Any]], ...]] = (
    ("holdem", "no_limit", {}),
    ("omaha", "pot_limit", {"allin_expose_time": "at_showdown", "pl_short_blind": "nominal"}),
    ("omaha8", "fixed_limit", {"button_mode": "dead", "muck": "show_all", "skipped_blind_policy": "post"}),
    ("omaha8", "no_limit", {"straddle": True, "cap_per_hand": 700, "burn_cards": False}),
)


class OneDeck:
    """A dealer's decks that are all alike: arranged, and hashed for each hand, once in a process, for speed."""

    def __init__(self) -> None:
        self._decks = ScriptedDecks({})
        self._shuffled: dict[tuple[str, int], DeckShuffled] = {}
        self._deck: Deck | None = None

    def shuffle(self, table: Table) -> DeckShuffled:
        """Publishes the hand's deck."""
        hand = table.id, hand_in_progress(table).number
        if hand not in self._shuffled:
            self._shuffled[hand] = self._decks.shuffle(table)
        return self._shuffled[hand]

    def deck(self, table: Table) -> Deck:
        """The deck of every hand: the cards in canonical order."""
        if self._deck is None:
            self._deck = self._decks.deck(table)
        return self._deck


_DECKS: Final = OneDeck()


class State(NamedTuple):
    """A table to begin with, and when."""

    table: Table
    at: Instant


def copied(table: Table) -> Table:
    """A table that can be folded on without changing this one."""
    other = table.copy()
    other.accepted = dict(table.accepted)
    return other


@cache
def states() -> tuple[State, ...]:
    """Tables after every few commits of games of each kind: before the first, between hands, in every street."""
    found = [State(Table(room="main", id="T1"), NOON)]
    for variant, limit, options in GAMES:
        game, chance = Game(_config(variant, limit, options)), Random(7)
        game.append("table", (TableOpened(config=game.config),))
        for _ in range(STEPS):
            at_random(game.wait(1), chance)
            while game.owed():
                found.append(State(copied(game.table), game.at))
            found.append(State(copied(game.table), game.at))
    return tuple(found)


def _config(variant: Variant, limit: Limit, options: dict[str, Any]) -> TableConfig:
    buy_in = BuyIn(minimum=30, maximum=2000)
    found = config(limit, variant=variant, bets=(100, 200), ante=7, seats=6, buy_in=buy_in, hand_gap_ms=1, **options)
    return TableConfig(**{name: getattr(found, name) for name in found.__struct_fields__} | {"rake": RAKE})


class House:
    """One table and its services. Everything that must hold is asserted; nothing else may be raised."""

    def __init__(self, state: State) -> None:
        self.table = copied(state.table)
        self.at = state.at

    def wait(self, ms: int) -> None:
        """Time goes by."""
        self.at += timedelta(milliseconds=ms)

    def submit(self, kind: ActorKind, name: str, body: bytes) -> Outcome:
        """What a desk does with a command; the answer."""
        before = copied(self.table)
        outcome = self._answer(kind, name, body)
        assert decode_outcome(encode(outcome)) == outcome, "an answer is read as it was written"
        if isinstance(outcome, Rejected):
            assert self.table == before, "a refused command changes nothing"
        return outcome

    def _answer(self, kind: ActorKind, name: str, body: bytes) -> Outcome:
        command = read_command(body)
        if isinstance(command, Rejected):
            return command
        assert decode_command(encode(command)) == command, "a command is read as it was written"
        cause = Cause(actor=Actor(kind=kind, name=name), arrived=self.at, command=command)
        known = decider.known(self.table, cause)
        if known is not None:
            return known
        if decider.holds(self.table, command):
            return Rejected(code="busy", message="The table waits.", id=command.id)
        before = copied(self.table)
        decided = decider.decide(self.table, cause, self.at)
        assert self.table == before, "deciding changes nothing"
        if isinstance(decided, Rejected):
            return decided
        self._append("table", decided, cause)
        accepted = decider.known(self.table, cause)
        assert isinstance(accepted, Accepted), "an accepted command is known"
        return accepted

    def pay(self) -> None:
        """The services do what they owe now, until somebody is to act."""
        last = self.table.hands + HANDS_MAX
        for _ in range(COMMITS_MAX * HANDS_MAX):
            owed = debt(self.table)
            if owed is None or not owed.is_due(self.at) or self.table.hands > last:
                return
            self._append(owed.service, self._owes(owed.service))
        raise AssertionError(f"the services go on and on: {debt(self.table)}")

    def _owes(self, service: Service) -> tuple[AnyEvent, ...]:
        match service:
            case "table":
                return decider.owes(self.table, self.at)
            case "dealer":
                return dealer.owes(self.table, self.at, _DECKS)
            case "rake":
                return rake.owes(self.table, self.at)
            case "settlement":
                return settlement.owes(self.table, self.at)

    def _append(self, by: Service, events: tuple[AnyEvent, ...], cause: Cause | None = None) -> None:
        """Writes and folds a commit as any reader would; the chips are counted after every event (R143 to R145)."""
        assert events, f"{by} owes {debt(self.table)} and pays nothing"
        commit = commit_of(self.table, by, events, self.at, cause)
        data = encode(commit)
        reading = read_table(self.table, guarded(self.table.room, self.table.id, by, fact_of(events[-1])).subject, data)
        assert reading.verdict is Verdict.NEXT, reading.reason
        assert reading.commit == commit, "a commit is read as it was written"
        draft = Draft(self.table, self.at)
        for event in events:
            before = draft.table.copy()
            draft.emit(event)
            assert [*broken(before, event, draft.table)] == [], f"an invariant is broken by {event}"
        fold(self.table, commit, data)
