"""Whether a recorded hand can be put on a table at all; what contradicts itself is told before anything is played."""

from collections.abc import Iterator

from contracts.cards import DECK
from contracts.games import HOLE_CARDS
from services.conformance.recorded import GAMES, Recorded

SEAT_MAX = 10
_CARDS = frozenset(DECK)


def flaw(hand: Recorded) -> str | None:
    """The first thing that makes the record contradict itself, in a sentence; None for a sound one."""
    return next(_flaws(hand), None)


def _flaws(hand: Recorded) -> Iterator[str]:
    yield from _seats(hand)
    yield from _cards(hand)
    yield from _amounts(hand)


def _seats(hand: Recorded) -> Iterator[str]:
    seats = [seated.seat for seated in hand.seats]
    if len(seats) != len(set(seats)):
        yield "a seat is listed twice"
    if len(seats) < 2:  # noqa: PLR2004
        yield "fewer than two players are dealt in"
    for seat in (*seats, hand.button):
        if not 0 <= seat <= SEAT_MAX:
            yield f"seat {seat} is not one of 0 to {SEAT_MAX}"
    named = {
        "posts": [post.seat for post in hand.posts],
        "hole": [seat for seat, cards in hand.hole.items() if cards],
    }
    for field, found in named.items():
        for seat in found:
            if seat not in seats:
                yield f"{field} names seat {seat}, where nobody is dealt in"


def _cards(hand: Recorded) -> Iterator[str]:
    cards = [card for held in hand.hole.values() for card in held or ()] + list(hand.board)
    for card in cards:
        if card not in _CARDS:
            yield f"{card!r} is not a card"
        if cards.count(card) > 1:
            yield f"the card {card} is there twice"
    for seat, held in hand.hole.items():
        if hand.game in GAMES and len(held or ()) > HOLE_CARDS[GAMES[hand.game][0]]:
            yield f"seat {seat} holds {len(held or ())} cards"
    if len(hand.board) not in (0, 3, 4, 5):
        yield f"a board of {len(hand.board)} cards"


def _amounts(hand: Recorded) -> Iterator[str]:
    """Only what cannot be put on a table: an action too large, or a result that does not add up, is played and told."""
    if hand.stakes.big_blind < 1 or hand.stakes.small_blind < 0:
        yield f"blinds of {hand.stakes.small_blind} and {hand.stakes.big_blind}"
    stacks = {seated.seat: seated.stack for seated in hand.seats}
    if min(stacks.values(), default=1) < 1:
        yield "a player is dealt in without chips"
    for post in hand.posts:
        if post.seat in stacks:
            stacks[post.seat] -= post.amount
            if post.amount < 1 or stacks[post.seat] < 0:
                yield f"seat {post.seat} posts chips that it does not have"
