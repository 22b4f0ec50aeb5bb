"""A player's own record of hands (R128): all that the player did, saw, won and lost, and no card but those seen."""

import re

import pytest

from contracts.cards import Card
from contracts.codec import encode
from contracts.events.dealer import HandsRevealed
from contracts.events.settlement import HandsShown
from contracts.events.state import Post
from contracts.events.table import ActionTaken, HandEnded, HandStarted, HandVoided
from contracts.games import HOLE_CARDS, Stakes
from contracts.records import RecordedAction, RecordedHand, RecordedSeat
from services.aggregate.recorded import recorded
from services.bus.recall import recall
from services.dealer.recalled import recorded_hands
from tests.replay.playing import BEGINNING, MASTERS, NLHE, PLAYERS, ROOM, Session, session

CARD = re.compile('"([2-9TJQKA][cdhs])"')
type Records = dict[tuple[int, str], RecordedHand]
"""By hand and player."""


def records_of(played: Session, player: str) -> tuple[RecordedHand, ...]:
    return recorded_hands(played.table.id, recorded(played.commits, player), MASTERS)


def everybody(played: Session) -> Records:
    return {(record.hand, player): record for player in PLAYERS for record in records_of(played, player)}


@pytest.fixture(scope="module", params=["nlhe", "plo8", "lo8"])
def told(request: pytest.FixtureRequest) -> tuple[Session, Records]:
    played = session(request.param, seed=4, hands=15)
    return played, everybody(played)


def test_a_record_tells_a_whole_hand_from_its_players_view() -> None:
    """R128: time, stacks, own cards, choices and amounts, what was won and raked, and that it is a replay."""
    story = Session(seed=2)
    story.open(NLHE)
    for player, chips in (("alice", 10_000), ("bob", 2000), ("carol", 5000)):
        assert story.sit(player, chips) is None
    story.settle()
    for choice in (("raise", 300), ("call", None), ("fold", None), ("bet", 500), ("fold", None)):
        story.act(choice)
        story.settle()
    hand = records_of(story, "bob")[0]
    own = hand.cards
    ended = next(event for commit in story.commits for event in commit.events if isinstance(event, HandEnded))
    assert len(own) == 2
    assert hand == RecordedHand(
        replay=True,
        hand=1,
        player="bob",
        seat=2,
        variant="holdem",
        limit="no_limit",
        stakes=Stakes(small_blind=50, big_blind=100),
        money="real",
        currency="USD",
        button=1,
        started=BEGINNING,
        ended=ended.ended_at,
        start=2000,
        end=2365,
        result=365,
        players=(
            RecordedSeat(seat=1, player="alice", stack=10_000),
            RecordedSeat(seat=2, player="bob", stack=2000),
            RecordedSeat(seat=3, player="carol", stack=5000),
        ),
        wagered=300,
        won=665,
        rake=35,
        rake_share=12,
        cards=own,
        board=hand.board,
        posts=(Post(seat=2, kind="small_blind", amount=50),),
        actions=(
            RecordedAction(street="preflop", action="call", amount=250, street_total=300, at=hand.actions[0].at),
            RecordedAction(street="flop", action="bet", amount=500, street_total=500, at=hand.actions[1].at, took_ms=7),
        ),
    )
    assert len(hand.board) == 3
    assert b'"replay":true' in encode(hand)


def test_no_hidden_card_is_in_a_players_record(told: tuple[Session, Records]) -> None:
    """R88: own cards, the board, and what was shown; never a mucked or folded hand of others, nor a burn or a salt."""
    played, records = told
    shown: dict[int, set[Card]] = {}
    revealed = hidden = 0
    for commit in played.commits:
        for event in commit.events:
            if isinstance(event, HandsShown):
                shown.setdefault(commit.hand, set()).update(card for hand in event.hands for card in hand.cards)
            revealed += isinstance(event, HandsRevealed)
    assert revealed
    for (hand, player), record in records.items():
        others = {
            card
            for (number, name), other in records.items()
            if number == hand
            if name != player
            for card in other.cards
        }
        seen = {*record.cards, *record.board, *shown.get(hand, ())}
        assert set(CARD.findall(encode(record).decode())) == seen
        assert b"salt" not in encode(record)
        hidden += len(others - seen)
    assert hidden


def test_the_records_of_all_players_are_the_log(told: tuple[Session, Records]) -> None:
    """Every hand is in the record of each who was dealt in; stacks, results and actions are those of the log."""
    played, records = told
    for commit in played.commits:
        for event in commit.events:
            match event:
                case HandStarted():
                    for each in event.players:
                        record = records[event.number, each.player]
                        assert (record.seat, record.started) == (each.seat, commit.at)
                case HandEnded():
                    ended = {stack.seat: stack.amount for stack in event.stacks}
                    of_hand = [record for (number, _), record in records.items() if number == event.number]
                    assert {record.seat: record.end for record in of_hand} == ended
                case _:
                    pass
    taken = sum(isinstance(event, ActionTaken) for commit in played.commits for event in commit.events)
    assert sum(len(record.actions) for record in records.values()) == taken
    for record in records.values():
        assert record.end == record.start - record.wagered + record.won == record.start + record.result
        assert len(record.cards) == HOLE_CARDS[record.variant]


def test_the_results_of_a_hand_and_its_rake_come_to_nothing(told: tuple[Session, Records]) -> None:
    """R143: what its players won and lost together is what the house took."""
    played, records = told
    for hand in range(1, played.table.hands + 1):
        of_hand = [record for (number, _), record in records.items() if number == hand]
        assert sum(record.result for record in of_hand) == -of_hand[0].rake


def test_a_hand_that_goes_on_is_in_no_record() -> None:
    """The own cards of a hand in progress are asked for with `query.cards`."""
    story = Session(seed=2)
    story.open(NLHE)
    for player in ("alice", "bob"):
        assert story.sit(player, 2000) is None
    story.settle()
    assert story.table.hand is not None
    assert records_of(story, "alice") == ()
    assert recorded(story.commits, "carol") == []


def test_a_cancelled_hand_is_marked_and_cost_nothing() -> None:
    """R121: the stack is what it was; the choices that were made are told."""
    story = Session(seed=2)
    story.open(NLHE)
    for player in ("alice", "bob"):
        assert story.sit(player, 2000) is None
    story.settle()
    story.act(("raise", 300))
    hand = story.table.hand
    assert hand is not None
    voided = HandVoided(
        number=1, seats=hand.before, last=hand.last_before, started_at=hand.started_at, voided_at=story.at
    )
    story.append("table", (voided,))
    record = records_of(story, "alice")[0]
    assert (record.cancelled, record.start, record.end, record.result, record.wagered) == (True, 2000, 2000, 0, 0)
    assert [(action.action, action.amount) for action in record.actions] == [("raise", 250)]
    assert len(record.cards) == 2


async def test_the_last_hands_of_a_player_are_found_however_long_ago() -> None:
    """R128: the last 50 at least; hands without the player are passed over."""
    played = session("nlhe", seed=4, hands=30)
    whole = records_of(played, "alice")
    found = await recall(played.log, ROOM, played.table.id, "alice", 5)
    assert recorded_hands(played.table.id, found.hands, MASTERS) == whole[-5:]
    all_of_them = await recall(played.log, ROOM, played.table.id, "alice", 50)
    assert (all_of_them.since, recorded_hands(played.table.id, all_of_them.hands, MASTERS)) == (1, whole)
    gone = whole[-1].hand
    nobody = await recall(played.log, ROOM, played.table.id, "nobody", 50)
    assert (nobody.since, nobody.hands, gone > 5) == (1, (), True)
