"""The house rules of the rooms that recorded the hands, as options of our tables."""

import re
from collections.abc import Callable
from typing import Any, Final

import msgspec

from contracts.events.state import PostKind
from contracts.games import HOLE_CARDS, BuyIn, Options, Stakes, TableConfig
from services.conformance.findings import Skipped
from services.conformance.rakes import schedule
from services.conformance.recorded import GAMES, Recorded

ACT_MS: Final = 3_600_000
"""Nobody's time runs out in a hand that was played long ago."""


type Choice = Callable[[Recorded, re.Match[str]], dict[str, Any]]


def _cap(hand: Recorded, found: re.Match[str]) -> dict[str, Any]:
    return {"cap_per_hand": int(found[1]) * hand.stakes.big_blind}


CHOICES: Final[tuple[tuple[str, Choice], ...]] = (
    (r"button with the big blind", lambda _, __: {"heads_up_button": "big_blind"}),
    (r"next raise go to two full bets", lambda _, __: {"fl_raise_after_allin": "full_level"}),
    (r"odd chip .* to the player on the button", lambda _, __: {"odd_chip_order": "button_first"}),
    (r"in units of (\d+)", lambda _, found: {"odd_chip_unit": int(found[1])}),
    (r"odd chip of the shared low goes to the high", lambda _, __: {"odd_quarter_chip": "high"}),
    (r"cap per hand.*?\((\d+) big blinds", _cap),
)
"""What a dispute's rule says, and the option with which a table of ours plays the same."""

OURS: Final = (
    r"no other player can call in full",  # R148
    r"short all-in big blind",  # R26
    r"only one player has chips left and nothing to call",  # R48
    r"heads-up with equal blinds",  # R44
)
"""What a dispute's rule says where our own rules do the same: no option is needed."""

ELSEWHERE: Final[tuple[tuple[str, str], ...]] = (
    (
        r"sitting out.*folded|folds the all-in",
        "the room folds a player who is all-in on a post but sits out; here every all-in hand stays alive (R120)",
    ),
)
"""What a dispute's rule says, and why no table of ours plays the same."""


def config(hand: Recorded) -> TableConfig:
    """The table at which a hand is played again. Raises `Skipped`."""
    variant, limit = GAMES[hand.game]
    return TableConfig(
        variant=variant,
        limit=limit,
        stakes=_stakes(hand),
        seats=10,
        buy_in=BuyIn(minimum=1),
        options=_options(hand),
        rake=schedule(hand),
    )


def hole_cards(game: str) -> int:
    """Hole cards of each player in a game."""
    return HOLE_CARDS[GAMES[game][0]]


def unknown_rule(hand: Recorded) -> str | None:
    """The rule of a dispute for which no option is known, in a sentence."""
    rule = hand.dispute.rule if hand.dispute is not None else ""
    if not rule or any(re.search(pattern, rule) for pattern in (*OURS, *(pattern for pattern, _ in CHOICES))):
        return None
    return f"no option is known for the rule of that room: {rule}"


def _stakes(hand: Recorded) -> Stakes:
    """The stakes that were played: what was posted in full goes before what the table was called.

    A big blind all-in for less is taken to be raised in the same measure as the small blind is.
    """
    nominal = hand.stakes
    small = _played(hand, "small_blind", nominal.small_blind)
    big = _played(hand, "big_blind", nominal.big_blind)
    if small > nominal.small_blind > 0 and big == nominal.big_blind:
        big = big * small // nominal.small_blind
    return Stakes(
        small_blind=small,
        big_blind=big,
        small_bet=nominal.small_bet or big,
        big_bet=nominal.big_bet or 2 * big,
        ante=nominal.ante,
    )


def _played(hand: Recorded, kind: PostKind, nominal: int) -> int:
    """A blind of another amount, from a player with chips left for more, is the real one: some records name others."""
    for post in hand.posts:
        if post.kind == kind and post.amount != nominal:
            stack = next(seated.stack for seated in hand.seats if seated.seat == post.seat)
            posted = sum(other.amount for other in hand.posts if other.seat == post.seat)
            if posted < stack or post.amount > nominal:
                return post.amount
    return nominal


def _everybody_posts_an_ante(hand: Recorded) -> bool:
    """Else an ante is one player's for the whole table: dead, and no part of the levels of the pots (R146)."""
    antes = {post.seat for post in hand.posts if post.kind == "ante"}
    return not antes or antes == {seated.seat for seated in hand.seats}


def _options(hand: Recorded) -> Options:
    options = Options(
        ante_mode="each" if _everybody_posts_an_ante(hand) else "big_blind",
        straddle=any(post.kind == "straddle" for post in hand.posts),
        act_ms=ACT_MS,
    )
    if hand.dispute is None:
        return options
    rule = hand.dispute.rule
    for pattern, reason in ELSEWHERE:
        if re.search(pattern, rule):
            raise Skipped(reason)
    for pattern, choice in CHOICES:
        found = re.search(pattern, rule)
        if found is not None:
            options = msgspec.structs.replace(options, **choice(hand, found))
    return options
