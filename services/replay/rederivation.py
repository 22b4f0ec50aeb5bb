"""What each service should have said: every decider is run again, on the log's own state before a commit."""

from contracts.commit import Cause, Commit
from contracts.events import AnyEvent
from contracts.events.dealer import DeckShuffled, HandKeyRevealed
from contracts.events.table import HandStarted, TableOpened
from contracts.games import RULES_VERSION
from contracts.outcomes import Rejected
from services.aggregate.debts import debt
from services.aggregate.fold import commit_of
from services.aggregate.table import Table
from services.dealer import decider as dealer
from services.dealer.deck import Deck
from services.dealer.decks import hand_in_progress, published
from services.rake import decider as rake
from services.replay.cards import HandKeys, deck_as_recorded, opened
from services.settlement import decider as settlement
from services.table import decider as table_service
from services.table.refusals import refused_events


class Underivable(Exception):
    """No decider gives such a commit in this state; the message says what it would have done instead."""


class RecordedDecks:
    """The decks of a log that is derived again: from hand keys where there are any, else as the commit has it."""

    def __init__(self, commit: Commit, keys: HandKeys) -> None:
        self._commit = commit
        self._keys = keys

    def shuffle(self, table: Table) -> DeckShuffled:
        """The shuffle as it was recorded: chance cannot be derived again. Raises `Underivable` if there is none."""
        for event in self._commit.events:
            if isinstance(event, DeckShuffled):
                return event
        raise Underivable(f"the dealer owed the deck of hand {hand_in_progress(table).number}")

    def deck(self, table: Table) -> Deck:
        """The hand's deck. Raises `Underivable` where the recorded cards cannot be of one."""
        hand = hand_in_progress(table)
        try:
            deck = opened(table.id, hand.number, hand.rules, published(table), self._keys)
            return deck if deck is not None else deck_as_recorded(self._commit)
        except ValueError as error:
            raise Underivable(f"the cards are not of one deck: {error}") from error


def derived(table: Table, commit: Commit, keys: HandKeys) -> Commit:
    """The commit that the rules give in place of a recorded one, on the state before it.

    Raises `Underivable`, and what the dealer's vault raises where a hand key does not open the deck.
    """
    events = _events(table, commit, keys)
    if not events:
        owed = debt(table)
        duty = f"{owed.service} owed {owed.duty}" if owed is not None else "nobody owed anything"
        raise Underivable(f"{commit.by} owed nothing then: {duty}")
    return commit_of(table, commit.by, events, commit.at, commit.cause)


def _events(table: Table, commit: Commit, keys: HandKeys) -> tuple[AnyEvent, ...]:
    match commit.by:
        case "table" if commit.cause is not None:
            decided = table_service.decide(table, commit.cause, commit.at)
            return _refused(decided, commit.cause) if isinstance(decided, Rejected) else decided
        case "table":
            return table_service.owes(table, commit.at)
        case "dealer":
            return _of_the_dealer(table, commit, keys)
        case "rake":
            return rake.owes(table, commit.at)
        case "settlement":
            return settlement.owes(table, commit.at)


def _refused(rejected: Rejected, cause: Cause) -> tuple[AnyEvent, ...]:
    written = refused_events(rejected, cause)
    if not written:
        raise Underivable(f"this command is refused: {rejected.code}, {rejected.message}")
    return written


def _of_the_dealer(table: Table, commit: Commit, keys: HandKeys) -> tuple[AnyEvent, ...]:
    first = commit.events[0]
    if not isinstance(first, HandKeyRevealed):
        return dealer.owes(table, commit.at, RecordedDecks(commit, keys))
    ended = table.hands if table.hand is None else table.hands - 1
    if not 1 <= first.hand <= ended:
        raise Underivable(f"the key of hand {first.hand} is not to be given out before the hand has ended")
    return (first,)


def rules_of(table: Table, commit: Commit) -> int:
    """The version of the rules by which a commit was decided."""
    first = commit.events[0]
    if isinstance(first, HandStarted):
        return first.rules
    if isinstance(first, TableOpened):
        return first.config.options.rules
    if table.hand is not None:
        return table.hand.rules
    return table.config.options.rules if table.config is not None else RULES_VERSION


def knows_rules(table: Table, commit: Commit) -> bool:
    """Whether this release can derive the commit again."""
    return rules_of(table, commit) <= RULES_VERSION
