from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from contracts.codec import decode_commit
from contracts.commands import (
    Act,
    AnyCommand,
    ChangeOptions,
    Disconnected,
    LeaveTable,
    PauseTable,
    ReturnToPlay,
    SitOut,
    TakeSeat,
    TopUp,
    VoidHand,
)
from contracts.data import Seat
from contracts.events.dealer import DeckShuffled
from contracts.events.rake import RakeTaken
from contracts.events.seats import StackToppedUp
from contracts.events.settlement import PotsAwarded
from contracts.events.state import Positions, SeatOwed, SeatRecord
from contracts.events.table import HandEnded, HandStarted, HandVoided, PlayerLeft, PlayerSatOut
from contracts.games import BuyIn, RakeBand, RakeSchedule, Stakes
from contracts.outcomes import Allowed, Rejected
from contracts.subjects import ActorKind
from services.aggregate.debts import debt
from services.aggregate.fold import fold
from services.aggregate.table import Table
from services.table import decider
from tests.table.stories import Game, all_in, call, check, config, fold_, name, raise_to

ACT = 30_000
LAST = Positions(button=1, small_blind=2, big_blind=3)
RAKE = RakeSchedule(id="r", version=1, mode="percent", bands=(RakeBand(players=(2, 10), basis_points=500),))


def record(seat: Seat, stack: int = 5000, **more: Any) -> SeatRecord:
    return SeatRecord(seat=seat, player=name(seat), stack=stack, sat=seat, **more)


THREE = (record(1), record(2), record(3))


def running(*records: SeatRecord, **options: Any) -> Game:
    """A table at which hands were played, with the last one's button on seat 1; the next, number 1, is dealt.

    Of three players seat 2 has the button and is to act; blinds 50/100 from seats 3 and 1.
    """
    chosen = config(buy_in=BuyIn(minimum=100, maximum=10_000), **({"rules": 2} | options))
    game = Game(replace(chosen, rake=RAKE, money="real"))
    game.between_hands({each.seat: each for each in records or THREE}, LAST)
    assert game.owed()
    return game.settle()


def on_the_turn() -> Game:
    """Everybody saw the turn for 500."""
    game = running().when(raise_to(2, 500), call(3), call(1), check(3), check(1), check(2))
    assert game.table.hand is not None
    assert (game.table.hand.street, game.table.hand.pot) == ("turn", 1500)
    return game


def void(game: Game, hand: int = 1) -> HandVoided:
    outcome = game.send("operator", "O1", VoidHand(id="", reason="a misdeal"), hand)
    assert not isinstance(outcome, Rejected), outcome
    return game.last(HandVoided)


def refused(game: Game, hand: int) -> Rejected:
    outcome = game.send("operator", "O1", VoidHand(id="", reason="a misdeal"), hand)
    assert isinstance(outcome, Rejected)
    return outcome


def accepted(game: Game, kind: ActorKind, who: str, command: AnyCommand) -> None:
    outcome = game.send(kind, who, command)
    assert not isinstance(outcome, Rejected), outcome


def deal(game: Game) -> HandStarted:
    """The next hand is dealt."""
    assert game.owed()
    game.settle()
    return game.last(HandStarted)


def test_a_cancelled_hand_gives_every_chip_back_and_the_button_does_not_move() -> None:
    """R121, R122, X01: on the turn; stacks are those before the blinds, and button and blinds come again."""
    game = on_the_turn()
    positions = game.last(HandStarted).positions
    assert void(game) == HandVoided(number=1, seats=THREE, last=LAST, started_at=game.at, voided_at=game.at)
    assert (game.table.hand, game.table.last, game.table.hands) == (None, LAST, 1)
    started = deal(game)
    assert (started.number, started.positions) == (2, positions)
    assert [(post.seat, post.amount) for post in started.posts] == [(3, 50), (1, 100)]


def test_the_hand_after_a_cancelled_one_is_shuffled_anew() -> None:
    """R122."""
    game = running()
    void(game)
    deal(game)
    first, second = (event for event in game.events if isinstance(event, DeckShuffled))
    assert not set(first.hashes) & set(second.hashes)


def closed(*kinds: type) -> Game:
    """The river is checked down, and the services have gone on up to an event of one of these kinds."""
    game = on_the_turn().when(check(3), check(1), check(2), check(3), check(1))
    assert game.table.hand is not None
    accepted(game, "player", "P2", Act(id="", turn=game.table.hand.turn_number or 0, action="check"))
    while not isinstance(game.events[-1], kinds):
        assert game.owed()
    return game


def test_the_rake_of_a_cancelled_hand_is_returned() -> None:
    """R121: the rake was taken, and the pots not yet paid: 5 % of 1500."""
    assert void(on_the_turn()).rake_returned == ()
    game = closed(RakeTaken)
    assert void(game).rake_returned == (75,)
    assert game.stacks() == {1: 5000, 2: 5000, 3: 5000}


def test_a_hand_can_be_cancelled_until_it_has_ended() -> None:
    """R121: also when the pots are paid; nobody has had them yet."""
    game = closed(PotsAwarded)
    assert void(game).seats == THREE
    assert not [event for event in game.events if isinstance(event, HandEnded)]


def test_a_settled_hand_is_final() -> None:
    """R124, X02: whether another one is in progress or none, once or a second time."""
    game = closed(HandEnded)
    told = refused(game, hand=1)
    assert (told.code, told.allowed) == ("hand_settled", Allowed(actions=("adjust_stack",), hand=1))
    deal(game)
    deal(void_and_give(game, 2))
    told = refused(game, hand=1)
    assert (told.code, told.allowed) == ("hand_settled", Allowed(actions=("adjust_stack",), hand=3))
    assert refused(game, hand=2).code == "hand_settled"


def void_and_give(game: Game, hand: int) -> Game:
    void(game, hand)
    return game


def test_where_no_hand_is_on_there_is_none_to_cancel() -> None:
    """R121: and a command that names none cancels none."""
    game = Game(config()).between_hands({1: record(1)})
    assert (refused(game, hand=0).code, refused(game, hand=1).code) == ("no_hand", "stale")
    game = running()
    assert (refused(game, hand=0).code, refused(game, hand=2).code) == ("stale", "stale")


@pytest.mark.parametrize("kind", ["player", "lobby"])
def test_only_an_operator_cancels_a_hand(kind: ActorKind) -> None:
    """R121."""
    outcome = running().send(kind, "P1", VoidHand(id="", reason="bad luck"))
    assert isinstance(outcome, Rejected)
    assert (outcome.code, outcome.allowed) == ("not_allowed", Allowed(actors=("operator",)))


def test_cancelling_does_not_wait_for_who_owes_and_nobody_owes_for_the_hand_after_it() -> None:
    """DESIGN 2, 4: the dealer owes the cards, the rake its part, settlement the pots; then a hand is cancelled."""
    asked = VoidHand(id="", reason="a bad deck")
    for kind, service in ((HandStarted, "dealer"), (PotsAwarded, "table"), (RakeTaken, "settlement")):
        game = closed(kind) if kind is not HandStarted else _before_the_deal()
        owed = debt(game.table)
        assert owed is not None
        assert owed.service == service
        assert not decider.holds(game.table, asked)
        accepted(game, "operator", "O1", PauseTable(id=""))
        void(game)
        assert debt(game.table) is None


def _before_the_deal() -> Game:
    game = Game(config(rules=2)).between_hands({each.seat: each for each in THREE}, LAST)
    assert game.owed()
    return game


def test_debts_are_as_before_the_hand() -> None:
    """R122, X01: seat 3 posted as a newcomer, seat 4 missed both blinds, seat 5 waits for the big blind."""
    before = (
        record(1),
        record(2),
        record(3),
        record(4, owes="new", choice="post"),
        record(5, sitting_out=True),
        record(6, owes="missed_both", choice="wait"),
        record(7),
    )
    last = Positions(button=7, small_blind=1, big_blind=2)
    game = Game(config(rules=2)).between_hands({each.seat: each for each in before}, last)
    started = deal(game)
    assert {post.seat for post in started.posts} == {2, 3, 4}
    assert started.owed == (SeatOwed(seat=4, owes="new", choice="post"),)
    assert void(game).seats == before
    assert deal(game).posts == started.posts


def test_a_blind_that_moved_past_a_seat_in_a_cancelled_hand_is_not_missed() -> None:
    """R24, R122: seat 4 sits out while the big blind moves from 3 to 1; after the void it owes nothing, then again."""
    before = (*THREE, record(4, sitting_out=True))
    game = running(*before)
    started = game.last(HandStarted)
    assert started.table.seats[3].owes == "missed_big"
    assert started.owed == (SeatOwed(seat=4),)
    assert void(game).seats == before
    assert deal(game).table.seats == started.table.seats


def test_hands_of_older_rules_do_not_say_what_was_owed() -> None:
    """R122: with rules 1 a cancelled hand forgets a newcomer's post; what the log held stays as it was."""
    before = (*THREE, record(4, owes="new", choice="post"))
    game = running(*before, rules=1)
    assert game.last(HandStarted).owed == ()
    assert void(game).seats == (*THREE, record(4, choice="post"))


def test_time_banks_are_as_before_the_hand() -> None:
    """R117, R122: also one that was filled up for this hand, and used in it."""
    options = {"time_bank_ms": 20_000, "time_bank_refill_ms": 5000, "time_bank_refill_hands": 2}
    before = tuple(record(seat, time_bank=3000, bank_hands=2) for seat in (1, 2, 3))
    game = running(*before, **options)
    assert game.table.seats[2] == record(2, time_bank=8000, bank_hands=1)
    game.wait(ACT + 6000).when(call(2))
    assert game.table.seats[2].time_bank == 2000
    assert void(game).seats == before
    assert deal(game).table.seats[1].time_bank == 8000


def test_what_came_up_during_a_cancelled_hand_and_is_not_the_hands_stays() -> None:
    """R122: who left, asked to sit out, was disconnected, or asked for chips; in the same commit, as at the end."""
    game = running()
    accepted(game, "lobby", "L1", TopUp(id="", player="P1", amount=700))
    accepted(game, "player", "P2", SitOut(id=""))
    accepted(game, "player", "P3", LeaveTable(id=""))
    accepted(game, "lobby", "L1", Disconnected(id="", player="P1"))
    accepted(game, "lobby", "L1", TakeSeat(id="", player="P7", buy_in=900))
    events = game.send("operator", "O1", VoidHand(id="", reason="a misdeal"))
    assert not isinstance(events, Rejected)
    newcomer = SeatRecord(seat=4, player="P7", stack=900, sat=4, owes="new")
    assert events == (
        HandVoided(
            number=1,
            seats=(
                record(1, top_up=700, connected=False),
                record(2, away=True),
                record(3, leaving=True),
                newcomer,
            ),
            last=LAST,
            started_at=game.at,
            voided_at=game.at,
        ),
        StackToppedUp(seat=1, amount=700, stack=5700),
        PlayerSatOut(seat=2),
        PlayerLeft(seat=3, player="P3", stack=5000, at=game.at),
    )
    assert list(game.table.seats.values()) == [
        record(1, stack=5700, connected=False),
        record(2, sitting_out=True),
        newcomer,
    ]


def test_who_was_not_dealt_in_keeps_the_chips_and_the_choice_of_meanwhile() -> None:
    """R122: seat 4 sat out, owed the small blind, missed the big one in this hand, added chips and came back."""
    game = running(*THREE, record(4, stack=0, sitting_out=True, owes="missed_small"))
    assert game.table.seats[4].owes == "missed_both"
    accepted(game, "lobby", "L1", TopUp(id="", player="P4", amount=600))
    accepted(game, "player", "P4", ReturnToPlay(id="", choice="post"))
    void(game)
    assert game.table.seats[4] == record(4, stack=600, owes="missed_small", choice="post")


def test_options_that_were_changed_during_a_cancelled_hand_are_those_of_the_next_one() -> None:
    """R122, RULES 0.1: a change takes effect from the next hand, also where this one does not count."""
    game = running()
    then = replace(game.config, stakes=Stakes(small_blind=100, big_blind=200))
    accepted(game, "operator", "O1", ChangeOptions(id="", config=then, reason="busy evening"))
    void(game)
    assert game.table.config == then
    assert [post.amount for post in deal(game).posts] == [100, 200]


def test_a_big_blind_missed_in_a_cancelled_hand_does_not_count() -> None:
    """R11, R122: the third that seat 4 missed; had the player come back meanwhile, counting would begin anew."""
    before = record(4, sitting_out=True, owes="missed_both", missed=2)
    game = running(*THREE, before, sit_out_blinds=9)
    assert game.table.seats[4].missed == 3
    assert void(game).seats[3] == before
    game = running(*THREE, before, sit_out_blinds=9)
    accepted(game, "player", "P4", ReturnToPlay(id=""))
    assert void(game).seats[3] == record(4, owes="missed_both")


def test_a_seat_that_changed_hands_during_a_cancelled_hand_is_the_newcomers() -> None:
    """R122: seat 4 was not in the hand, left, and somebody else sat down there."""
    game = running(*THREE, record(4, sitting_out=True, owes="missed_both"))
    accepted(game, "player", "P4", LeaveTable(id=""))
    accepted(game, "lobby", "L1", TakeSeat(id="", player="P9", buy_in=800, seat=4))
    void(game)
    assert game.table.seats[4] == SeatRecord(seat=4, player="P9", stack=800, sat=5, owes="new")


@settings(max_examples=60)
@given(st.data())
def test_wherever_a_hand_is_cancelled_it_leaves_the_table_as_it_was(draw: st.DataObject) -> None:
    """R121, R122: after any number of commits; and whoever folds from the hand's own commit says the same."""
    stacks = {seat: draw.draw(st.integers(20, 800)) for seat in range(1, draw.draw(st.integers(3, 6)))}
    before = tuple(
        record(
            seat,
            stack,
            owes=draw.draw(st.sampled_from(("none", "new", "missed_big", "missed_small", "missed_both"))),
            choice=draw.draw(st.sampled_from(("wait", "post"))),
            sitting_out=draw.draw(st.integers(0, 4)) == 0,
            time_bank=draw.draw(st.integers(0, 9000)),
            bank_hands=draw.draw(st.integers(0, 3)),
        )
        for seat, stack in stacks.items()
    )
    chosen = config(rules=2, time_bank_ms=8000, time_bank_refill_hands=3, time_bank_refill_ms=2000)
    game = Game(chosen).between_hands({each.seat: each for each in before}, LAST)
    if not game.owed():
        return
    from_the_hand = Table(room=game.table.room, id=game.table.id, n=2, head=decode_commit(game.stored[2]).prev)
    for _ in range(draw.draw(st.integers(0, 25))):
        if game.turn is None:
            if game.table.hand is None or not game.owed():
                break
            continue
        choices = [fold_(game.turn.seat), all_in(game.turn.seat), check(game.turn.seat), call(game.turn.seat)]
        legal = [True, game.turn.wager is not None, game.turn.check, game.turn.call is not None]
        game.wait(draw.draw(st.sampled_from((0, ACT + 3000)))).when(
            draw.draw(st.sampled_from([move for move, may in zip(choices, legal, strict=True) if may]))
        )
    if game.table.hand is None:
        return
    assert void(game).seats == before
    for line in game.stored[2:]:
        fold(from_the_hand, decode_commit(line), line)
    assert from_the_hand.seats == game.table.seats
    assert from_the_hand.last == game.table.last == LAST
