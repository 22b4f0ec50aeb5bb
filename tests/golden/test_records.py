"""What a log says without the house that wrote it: in what order, when, and all about each hand (R125, R127)."""

from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from contracts.codec import decode_commit, digest
from contracts.commit import GENESIS, Commit
from contracts.events.dealer import BoardDealt, DeckShuffled, HoleCardsDealt
from contracts.events.table import ActionTaken, HandEnded, HandStarted, HandVoided
from contracts.games import HOLE_CARDS
from tests.golden.logs import logs, messages_of, recorded_keys

LOGS = logs()
NAMES = [f"{log.parent.name}/{log.stem}" for log in LOGS]


def commits_of(log: Path) -> list[Commit]:
    return [decode_commit(data) for _, data in messages_of(log)]


@pytest.mark.parametrize("log", LOGS, ids=NAMES)
def test_every_change_is_ordered_dated_in_utc_and_chained_to_the_one_before(log: Path) -> None:
    """R125: immutable, numbered without a gap, in time, and altered by nobody without it being seen."""
    commits = commits_of(log)
    assert [commit.n for commit in commits] == list(range(1, len(commits) + 1))
    assert all(commit.at.utcoffset() == timedelta(0) for commit in commits)
    assert all(one.at <= other.at for one, other in pairwise(commits))
    hashes = [GENESIS, *(digest(data) for _, data in messages_of(log))]
    assert [commit.prev for commit in commits] == hashes[:-1]


@pytest.mark.parametrize("log", LOGS, ids=NAMES)
def test_no_card_comes_before_the_blinds(log: Path) -> None:
    """R30: who plays and the button, then the posts, then the deck, then hole cards, then the board."""
    kinds = (HandStarted, DeckShuffled, HoleCardsDealt, BoardDealt)
    events = [event for commit in commits_of(log) for event in commit.events if isinstance(event, kinds)]
    starts = [index for index, event in enumerate(events) if isinstance(event, HandStarted)]
    assert starts[0] == 0
    for begins, ends in zip(starts, [*starts[1:], len(events)], strict=True):
        order = [kinds.index(type(event)) for event in events[begins:ends]]
        assert order == sorted(order)
        assert all(order.count(kind) <= 1 for kind in (0, 1, 2))


@pytest.mark.parametrize("log", LOGS, ids=NAMES)
def test_the_big_blind_is_the_stake_that_the_table_has_for_it(log: Path) -> None:
    """R20, R26: the lower stake of the table; less only from a player who is then all-in."""
    for commit in commits_of(log):
        for event in commit.events:
            if isinstance(event, HandStarted):
                posted = [post for post in event.posts if post.kind == "big_blind"]
                assert [post.seat for post in posted] == [event.positions.big_blind]
                stake = event.table.config.stakes.big_blind
                assert all(post.amount == stake or (post.amount < stake and post.all_in) for post in posted)


@pytest.mark.parametrize("log", LOGS, ids=NAMES)
def test_a_hand_is_told_whole_by_its_own_commits(log: Path) -> None:
    """R127: who, where, by which rules and stakes, when, with how much before and after, what each did and when.

    All cards, folded hands and burns included, follow from the key that is kept for the hand.
    """
    keys = recorded_keys(log)
    hands: dict[int, list[Commit]] = {}
    for commit in commits_of(log):
        hands.setdefault(commit.hand, []).append(commit)
    hands.pop(0, None)
    assert hands
    assert sorted(keys) == sorted(hands)
    for number, commits in hands.items():
        started = commits[0].events[0]
        assert isinstance(started, HandStarted)
        assert started.number == number
        assert len({commit.table for commit in commits}) == 1
        assert started.rules >= 1
        config, players = started.table.config, {player.seat: player.player for player in started.players}
        assert config.stakes.big_blind > 0
        before = {record.seat: record.stack for record in started.table.seats}
        assert set(players) <= set(before)
        events = [event for commit in commits for event in commit.events]
        dealt = next(event for event in events if isinstance(event, HoleCardsDealt))
        assert (set(dealt.seats), dealt.cards_each) == (set(players), HOLE_CARDS[config.variant])
        assert all(event.seat in players for event in events if isinstance(event, ActionTaken))
        over = [event for event in events if isinstance(event, HandEnded | HandVoided)]
        assert [event.number for event in over] == [number]
        if isinstance(over[0], HandEnded):
            assert {stack.seat for stack in over[0].stacks} == set(players)
            assert over[0].started_at == commits[0].at <= over[0].ended_at
