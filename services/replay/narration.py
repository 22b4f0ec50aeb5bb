"""A hand as text that an operator reads in a dispute: who did what, when, in which commit, and what it changed.

Amounts are in the smallest chip unit. Cards are those that the table saw; with the hand's key also the folded and
mucked ones and the burns. A mucked hand is not told otherwise, although the log of a finished hand holds it (R88).
"""

from collections.abc import Iterable, Iterator
from typing import Final

from contracts.cards import Card
from contracts.commit import Commit
from contracts.data import Data, Instant
from contracts.dealing import hole_positions
from contracts.events import AnyEvent
from contracts.events.dealer import BoardDealt, DeckShuffled, HoleCardsDealt
from contracts.events.table import HandStarted
from services.aggregate.draft import Draft
from services.aggregate.fold import fold
from services.aggregate.table import Hand, Table
from services.dealer.deck import Deck
from services.replay.cards import HandKeys, opened
from services.replay.phrases import phrases
from services.table.betting.fixed_limit import unit

INDENT: Final = " " * 20


class Line(Data, frozen=True):
    """One line: what it says, and the number and time of the commit that says so; neither in a hand's heading.

    `by_key` lines tell what only the hand key does.
    """

    text: str
    n: int | None = None
    at: Instant | None = None
    by_key: bool = False

    def __str__(self) -> str:
        """The line as an operator reads it."""
        if self.n is None or self.at is None:
            return self.text
        return f"{INDENT}{self.text}" if self.by_key else f"{clock(self.at)} {f'#{self.n}'.ljust(6)} {self.text}"


def narrate(start: Table, commits: Iterable[tuple[Commit, bytes]], keys: HandKeys) -> Iterator[str]:
    """The lines of `told` as text."""
    yield from map(str, told(start, commits, keys))


def told(start: Table, commits: Iterable[tuple[Commit, bytes]], keys: HandKeys) -> Iterator[Line]:
    """Tells commits that follow on `start`, line by line.

    Raises `CannotOpen` or `DeckDiffers` where a hand key does not open its deck, KeyError or AttributeError for
    commits that cannot be folded.
    """
    table = start.copy()
    deck: Deck | None = None
    for commit, data in commits:
        draft = Draft(table, commit.at)
        for event in commit.events:
            before = draft.table.copy()
            draft.emit(event)
            if isinstance(event, DeckShuffled) and before.hand is not None:
                deck = opened(table.id, before.hand.number, before.hand.rules, event, keys)
            if isinstance(event, HandStarted):
                yield from (Line(text=text) for text in _headed(commit, event))
            if event is commit.events[0] and (asked := _asked(commit)) is not None:
                yield Line(text=asked, n=commit.n, at=commit.at)
            for phrase in phrases(before, event, draft.table):
                yield Line(text=phrase, n=commit.n, at=commit.at)
            for text in _known_by_the_key(draft.table.hand, event, deck):
                yield Line(text=text, n=commit.n, at=commit.at, by_key=True)
        fold(table, commit, data)


def _asked(commit: Commit) -> str | None:
    """Who asked for what follows, and why, where the command gives a reason: it stays in the log."""
    if commit.cause is None:
        return None
    actor, command = commit.cause.actor, commit.cause.command
    reason = getattr(command, "reason", "")
    what = str(command.__struct_config__.tag).replace("_", " ")
    return f"{actor.kind} {actor.name} asks to {what}: {reason}" if reason else None


def clock(at: Instant) -> str:
    """The time of day, to the millisecond (R125)."""
    return at.strftime("%H:%M:%S.") + f"{at.microsecond // 1000:03d}"


def moment(at: Instant) -> str:
    """Day and time, to the millisecond."""
    return f"{at.strftime('%Y-%m-%d')} {clock(at)} UTC"


def _headed(commit: Commit, event: HandStarted) -> Iterator[str]:
    config = event.table.config
    game = f"{config.limit.replace('_', ' ')} {config.variant}"
    stakes = f"blinds {config.stakes.small_blind}/{config.stakes.big_blind}"
    if config.limit == "fixed_limit":
        stakes += f", bets {unit(config, 'flop')}/{unit(config, 'turn')}"
    if config.stakes.ante:
        stakes += f", ante {config.stakes.ante}"
    yield f"Hand {event.number} at table {commit.table}: {game}, {stakes}, {config.money} {config.currency}"
    yield f"{commit.at.strftime('%Y-%m-%d %H:%M:%S')} UTC, rules {event.rules}, amounts in the smallest chip unit"
    dealt_in = {player.seat for player in event.players}
    for record in sorted(event.table.seats, key=lambda record: record.seat):
        marks = [
            *(["button"] if record.seat == event.positions.button else []),
            *(["not dealt in"] if record.seat not in dealt_in else []),
        ]
        yield f"Seat {record.seat}: {record.player}, {record.stack}{''.join(f', {mark}' for mark in marks)}"
    if event.positions.button not in {record.seat for record in event.table.seats}:
        yield f"Seat {event.positions.button}: empty, button"


def _known_by_the_key(hand: Hand | None, event: AnyEvent, deck: Deck | None) -> Iterator[str]:
    """What only the hand key tells: all hole cards, and the burns."""
    if deck is None or hand is None:
        return
    if isinstance(event, HoleCardsDealt):
        for seat, positions in hole_positions(event.seats, event.cards_each).items():
            cards = " ".join(deck.cards[position] for position in positions)
            yield f"by the hand key: {hand.players[seat].player} (seat {seat}) holds {cards}"
    if isinstance(event, BoardDealt) and event.burn is not None:
        burn: Card = deck.cards[event.burn]
        yield f"by the hand key: the card burnt is {burn}"
