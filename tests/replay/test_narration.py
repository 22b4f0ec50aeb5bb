"""A hand as an operator reads it: every amount, every shown card, and no card that nobody saw."""

from collections.abc import Iterator
from datetime import timedelta

import msgspec
import pytest

from contracts.commit import Commit
from contracts.events import EMITTERS, tag_of
from contracts.events.dealer import BoardDealt, HandsRevealed
from contracts.events.settlement import HandsMucked
from contracts.events.table import ActionTaken, BettingClosed, HandStarted, StreetClosed
from contracts.games import Stakes
from services.aggregate.table import Table
from services.bus.aggregates import TABLES
from services.bus.reading import Reading
from services.dealer.scripted import Script, ScriptedDecks
from services.dealer.vault import CannotOpen
from services.replay.narration import narrate, told
from services.replay.phrases import PHRASES
from services.replay.picture import picture, record
from tests.replay.playing import GAMES, NLHE, ROOM, Session, session

STORY = Script(hole={1: ("As", "Ad"), 2: ("Kh", "Kc"), 3: ("7h", "2c")}, board=("Kd", "Ah", "9s", "4d", "4c"))

TOLD = [
    "Hand 1 at table T1: no limit holdem, blinds 50/100, real USD",
    "2026-03-01 20:00:00 UTC, rules 1, amounts in the smallest chip unit",
    "Seat 1: alice, 10000, button",
    "Seat 2: bob, 2001",
    "Seat 3: carol, 5000",
    "20:00:00.000 #5     bob (seat 2) posts the small blind: 50",
    "20:00:00.000 #5     carol (seat 3) posts the big blind: 100",
    "20:00:00.000 #5     in the middle: 150",
    "20:00:00.007 #6     the deck is fixed: 52 card hashes are published",
    "20:00:00.007 #6     *** PRE-FLOP *** 2 cards each to seats 2, 3, 1, in this order",
    "20:00:02.014 #7     alice (seat 1) raises to 300 (adds 300); pot 450, 9700 behind, after 2.0 s",
    "20:00:04.014 #8     bob (seat 2) calls 250; pot 700, 1701 behind, after 2.0 s",
    "20:00:06.014 #9     carol (seat 3) folds; pot 700, 4900 behind, after 2.0 s",
    "20:00:06.014 #9     betting is over before the flop; main pot 700 (seats 2, 1)",
    "20:00:06.014 #10    *** FLOP [Kd Ah 9s] *** board: Kd Ah 9s, after a burn",
    "20:00:08.021 #11    bob (seat 2) checks; pot 700, 1701 behind, after 2.0 s",
    "20:00:10.021 #12    alice (seat 1) checks; pot 700, 9700 behind, after 2.0 s",
    "20:00:10.021 #12    betting is over before the turn; main pot 700 (seats 2, 1)",
    "20:00:10.021 #13    *** TURN [4d] *** board: Kd Ah 9s 4d, after a burn",
    "20:00:12.028 #14    bob (seat 2) checks; pot 700, 1701 behind, after 2.0 s",
    "20:00:14.028 #15    alice (seat 1) checks; pot 700, 9700 behind, after 2.0 s",
    "20:00:14.028 #15    betting is over before the river; main pot 700 (seats 2, 1)",
    "20:00:14.028 #16    *** RIVER [4c] *** board: Kd Ah 9s 4d 4c, after a burn",
    "20:00:16.035 #17    bob (seat 2) checks; pot 700, 1701 behind, after 2.0 s",
    "20:00:18.035 #18    alice (seat 1) bets 700; pot 1400, 9000 behind, after 2.0 s",
    "20:00:20.035 #19    bob (seat 2) calls 700; pot 2100, 1001 behind, after 2.0 s",
    "20:00:20.035 #19    all betting is over; main pot 2100 (seats 2, 1); showdown in the order of seats 1, 2",
    "20:00:20.035 #20    the dealer gives the hands of seats 2, 1 to the settlement",
    "20:00:20.042 #21    rake 105 of 2100 (schedule percent-5 version 2, 3 players, computed 105, capped at 200)",
    "20:00:20.049 #22    alice (seat 1) shows As Ad: full house A-4",
    "20:00:20.049 #22    bob (seat 2) mucks",
    "20:00:20.049 #22    main pot: 2100, rake 105",
    "20:00:20.049 #22      all of it: alice (seat 1) wins 1995 with full house A-4",
    "20:00:20.056 #23    hand 1 is over, after 20.1 s",
    "20:00:20.056 #23    bob (seat 2) has 1001 (-1000)",
    "20:00:20.056 #23    carol (seat 3) has 4900 (-100)",
    "20:00:20.056 #23    alice (seat 1) has 10995 (+995)",
]


@pytest.fixture
def story() -> Session:
    """Carol folds; on the river alice bets three aces, bob calls with three kings and does not show them."""
    played = Session(decks=ScriptedDecks({1: STORY}))
    played.open(NLHE)
    for player, chips in (("alice", 10_000), ("bob", 2_001), ("carol", 5_000)):
        assert played.sit(player, chips) is None
    played.settle()
    check = ("check", None)
    for choice in (("raise", 300), ("call", None), ("fold", None), *[check] * 5, ("bet", 700), ("call", None)):
        played.at += timedelta(seconds=2)
        played.act(choice)
        played.settle()
    return played


def hand_of(played: Session, hand: int) -> tuple[Table, list[tuple[Commit, bytes]]]:
    """The table before a hand, and the hand."""
    reading = Reading(TABLES, Table(room=ROOM, id=played.table.id))
    commits = list(zip(played.commits, played.lines, strict=True))
    begins = next(index for index, (commit, _) in enumerate(commits) if commit.hand == hand)
    for message in played.messages[:begins]:
        reading.take(message)
    return reading.state, [(commit, data) for commit, data in commits if commit.hand == hand]


def test_a_hand_is_told_with_every_amount_and_no_card_that_nobody_saw(story: Session) -> None:
    """R88: bob's kings were called and not shown."""
    start, commits = hand_of(story, 1)
    assert list(narrate(start, commits, {})) == TOLD


def test_the_state_after_a_commit_says_whose_turn_it_is_and_all_that_is_allowed(story: Session) -> None:
    start, commits = hand_of(story, 1)
    reading = Reading(TABLES, start)
    for commit, data in commits:
        if commit.n <= 10:
            reading.fold(commit, data)
    assert list(picture(reading.state))[1:] == [
        "at 2026-03-01 20:00:06.014 UTC",
        "Betting on the flop, board [Kd Ah 9s], pot 700, wager level 0",
        "Button 1, small blind 2, big blind 3",
        "main pot 700 (seats 2, 1)",
        "Turn: seat 2 (fold, check, bet to 100..1701), opened by commit 10",
        "Seat 1: alice, 9700 behind, 0 on this street, 300 in the hand",
        "Seat 2: bob, 1701 behind, 0 on this street, 300 in the hand",
        "Seat 3: carol, 4900 behind, 0 on this street, 100 in the hand, folded",
        "Owed by table: act_for_player, due 2026-03-01 20:00:36.014 UTC",
    ]


def state_after(played: Session, kind: type, hand: int = 1) -> list[str]:
    """The picture after the last commit of a hand that ends with an event of this kind."""
    start, commits = hand_of(played, hand)
    reading, lines = Reading(TABLES, start), list[str]()
    for commit, data in commits:
        reading.fold(commit, data)
        if isinstance(commit.events[-1], kind):
            lines = list(picture(reading.state))
    return lines


def test_a_board_that_is_dealt_without_betting_is_no_betting_round() -> None:
    """R45: all in before the flop: the streets follow, and nobody bets on them."""
    script = Script(hole={1: ("As", "Ad"), 2: ("Kh", "Kc")}, board=STORY.board)
    played = Session(decks=ScriptedDecks({1: script}))
    played.open(NLHE)
    for player in ("alice", "bob"):
        assert played.sit(player, 2000) is None
    played.settle()
    for choice in (("all_in", None), ("call", None)):
        played.act(choice)
        played.settle()
    assert "All betting is over, board [Kd Ah 9s 4d 4c], pot 4000" in state_after(played, BoardDealt)
    assert "All betting is over, board [], pot 4000" in state_after(played, BettingClosed)
    assert "Pre-flop cards are to be dealt, board [], pot 150, wager level 100" in state_after(played, HandStarted)


def test_a_street_that_is_not_dealt_yet_is_told_as_such(story: Session) -> None:
    assert "The river is to be dealt, board [Kd Ah 9s 4d], pot 700" in state_after(story, StreetClosed)


def hands_of_sessions() -> Iterator[tuple[Session, int]]:
    """Every hand of some sessions, in which people come and go in every way."""
    for seed in (1, 2, 3, 4, 12):
        played = session("plo8", seed=seed, hands=25)
        for hand in range(1, played.table.hands + 1):
            yield played, hand


def test_what_the_table_decided_is_not_told_as_the_players_own_act() -> None:
    """R116, R119, R120: who is away, has left or ran out of time did not fold."""
    seen = set[str]()
    for played, hand in hands_of_sessions():
        start, commits = hand_of(played, hand)
        lines = list(told(start, commits, {}))
        for commit, _ in commits:
            of_commit = [line.text for line in lines if line.n == commit.n]
            by_table = [text for text in of_commit if ": the table " in text]
            acted = any(isinstance(event, ActionTaken) for event in commit.events)
            assert len(by_table) == (acted and commit.cause is None), of_commit
            seen |= {text.partition(") ")[2].partition(";")[0] for text in by_table}
            if commit.cause is None:
                assert not any("asks to" in text for text in of_commit)
    assert seen == {
        "is away: the table folds",
        "has left: the table folds",
        "ran out of time: the table checks",
        "ran out of time: the table folds",
    }


def test_who_comes_back_is_no_new_player() -> None:
    """R21, R25."""
    seen = set[str]()
    for played, hand in hands_of_sessions():
        start, commits = hand_of(played, hand)
        started = commits[0][0].events[0]
        assert isinstance(started, HandStarted)
        lines = [line.text for line in told(start, commits[:1], {})]
        for post in started.posts:
            if post.kind == "new_player_blind":
                owed = start.seats[post.seat].owes
                what = "a blind as a new player" if owed == "new" else "a big blind that was missed"
                player = start.seats[post.seat].player
                assert f"{player} (seat {post.seat}) posts {what}: {post.amount}" in lines
                unknown = [line.text for line in told(Table(room=ROOM, id=played.table.id, n=start.n), commits[:1], {})]
                plain = what if owed == "missed_both" else "a big blind to come in"
                assert f"{player} (seat {post.seat}) posts {plain}: {post.amount}" in unknown
                seen.add(owed)
    assert seen == {"new", "missed_both"}


def test_a_fixed_limit_game_is_headed_by_the_bets_that_count() -> None:
    """R65: bets that the stakes leave out are one and two big blinds."""
    stakes = Stakes(small_blind=50, big_blind=100)
    played = Session()
    played.open(msgspec.structs.replace(GAMES["lo8"], stakes=stakes))
    for player in ("alice", "bob"):
        assert played.sit(player, 2000) is None
    played.settle()
    start, commits = hand_of(played, 1)
    assert next(iter(narrate(start, commits, {}))) == (
        "Hand 1 at table T1: fixed limit omaha8, blinds 50/100, bets 100/200, play USD"
    )


@pytest.mark.parametrize("game", GAMES)
def test_cards_that_were_not_shown_are_told_only_by_the_hand_key(game: str) -> None:
    """Folded hands, mucked hands and burns: 0 without the key, and all of them with it."""
    played = session(game, seed=1, hands=25)
    mucks, losers_may_muck = 0, GAMES[game].options.muck == "losers_may_muck"
    for hand in range(1, played.table.hands + 1):
        start, commits = hand_of(played, hand)
        events = [event for commit, _ in commits for event in commit.events]
        mucked = {seat for event in events if isinstance(event, HandsMucked) for seat in event.seats}
        revealed = [held for event in events if isinstance(event, HandsRevealed) for held in event.hands]
        plain = "\n".join(narrate(start, commits, {}))
        lines = list(told(start, commits, {hand: played.hand_key(hand)}))
        whole = "\n".join(map(str, lines))
        holds = [line for line in lines if line.by_key and " holds " in line.text]
        started = commits[0][0].events[0]
        assert isinstance(started, HandStarted)
        assert len(holds) == len(started.players)
        assert [str(line) for line in lines if not line.by_key] == plain.splitlines()
        for held in revealed:
            cards = " ".join(dealt.card for dealt in held.cards)
            assert f"(seat {held.seat}) holds {cards}" in whole
            assert (f"(seat {held.seat}) shows {cards}" in plain) == (held.seat not in mucked)
            assert (cards in plain) == (held.seat not in mucked)
            mucks += held.seat in mucked
    assert (mucks > 0) == losers_may_muck, "no hand was mucked: the session tells nothing"


def test_every_action_is_told_with_its_time_and_commit() -> None:
    played = session("lo8", seed=5, hands=5)
    for hand in range(1, played.table.hands + 1):
        start, commits = hand_of(played, hand)
        lines = list(told(start, commits, {}))
        started = commits[0][0].events[0]
        assert isinstance(started, HandStarted)
        players = {player.seat: player.player for player in started.players}
        for commit, _ in commits:
            for event in commit.events:
                if isinstance(event, ActionTaken):
                    state = f"; pot {event.pot}, {event.stack} behind"
                    line = next(line for line in lines if line.n == commit.n and state in line.text)
                    assert line.at == commit.at
                    assert line.text.startswith(f"{players[event.seat]} (seat {event.seat}) ")
                    assert ("ran out of time" in line.text) == event.timed_out


def test_a_key_of_another_hand_is_refused(nlhe: Session) -> None:
    start, commits = hand_of(nlhe, 1)
    other = msgspec.structs.replace(nlhe.hand_key(2), hand=1)
    with pytest.raises(CannotOpen, match="does not open with this key"):
        list(narrate(start, commits, {1: other}))


def test_a_state_as_a_record_holds_no_hole_cards(nlhe: Session) -> None:
    """R88: between the reveal and the end of a hand the fold knows mucked hands; an operator's record does not."""
    reading = Reading(TABLES, Table(room=ROOM, id=nlhe.table.id))
    seen = 0
    for message in nlhe.messages:
        reading.take(message)
        if reading.state.hand is not None and reading.state.hand.revealed is not None:
            assert record(reading.state)["hand"]["revealed"] is None
            seen += 1
    assert seen > 0


def test_there_are_words_for_every_fact() -> None:
    """A log that holds a new kind of event can be told from the day that it can be written."""
    assert {tag_of(kind) for kind in PHRASES} == set(EMITTERS)
