"""Looks at the record of every player at the end of a seed: nothing hidden, missing, or from nowhere."""

from collections.abc import Iterable, Iterator

from contracts.cards import Card
from contracts.codec import encode
from contracts.commit import Commit
from contracts.events.settlement import HandsShown
from contracts.games import HOLE_CARDS
from contracts.records import RecordedHand
from services.aggregate.recorded import recorded
from services.dealer.recalled import recorded_hands
from tests.simulation.examiner import MASTERS
from tests.simulation.judge import CARD


def faults_of(table: str, commits: list[Commit], players: Iterable[str]) -> Iterator[str]:
    """What is wrong with the players' records of a table's hands (R88, R128)."""
    shown = _shown(commits)
    results: dict[int, int] = {}
    for player in sorted(set(players)):
        for hand in recorded_hands(table, recorded(commits, player), MASTERS):
            yield from (
                f"{table}: hand {hand.hand} in the record of {player} {fault}" for fault in _faults(hand, shown)
            )
            results[hand.hand] = results.get(hand.hand, hand.rake) + hand.result
    for number, left_over in results.items():
        if left_over:
            yield f"{table}: the records of hand {number} leave {left_over} chips over"


def _faults(hand: RecordedHand, shown: dict[int, set[Card]]) -> Iterator[str]:
    cards = set(CARD.findall(encode(hand).decode()))
    hidden = cards - {*hand.cards, *hand.board} - shown.get(hand.hand, set())
    if hidden:
        yield f"shows {', '.join(sorted(hidden))}"
    was_dealt = hand.cards or hand.actions or not hand.cancelled
    if was_dealt and len(hand.cards) != HOLE_CARDS[hand.variant]:
        yield f"has {len(hand.cards)} own cards"
    if hand.end != hand.start - hand.wagered + hand.won or hand.end - hand.start != hand.result:
        yield f"goes from {hand.start} to {hand.end} with {hand.wagered} wagered and {hand.won} won"


def _shown(commits: Iterable[Commit]) -> dict[int, set[Card]]:
    found: dict[int, set[Card]] = {}
    for commit in commits:
        for event in commit.events:
            if isinstance(event, HandsShown):
                found.setdefault(commit.hand, set()).update(card for each in event.hands for card in each.cards)
    return found
