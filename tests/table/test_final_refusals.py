from datetime import timedelta

import msgspec
import pytest

from contracts.codec import encode
from contracts.commands import (
    Act,
    AnyCommand,
    CloseTable,
    ConfirmRequest,
    Connected,
    JoinWaitingList,
    LeaveTable,
    LeaveWaitingList,
    ReleaseSeat,
    RemovePlayer,
    ReserveSeat,
    ResumeTable,
    ReturnToPlay,
    SitOut,
    TakeSeat,
    TopUp,
)
from contracts.commit import Cause
from contracts.data import CHIPS_MAX
from contracts.events.seats import WaitingListChanged
from contracts.events.state import Acceptance, Actor, Departure
from contracts.events.table import CommandRefused, HandStarted, TableRestated
from contracts.games import RULES_VERSION, BuyIn
from contracts.outcomes import Accepted, Allowed, Code, Rejected
from contracts.subjects import ActorKind
from services.bus.log import COMMIT_BYTES_MAX
from services.table import decider
from services.table.hands import DEPARTURES_MAX, restate
from services.table.refusals import refused_events
from services.table.remembered import KNOWN_MAX, MEMORY, lasting_max
from services.table.waiting_list import WAITING_MAX
from tests.table.stories import NOON, Game, call, config, fold_, play_on


def cause(command: AnyCommand, kind: ActorKind = "lobby", who: str = "L1") -> Cause:
    return Cause(actor=Actor(kind=kind, name=who), arrived=NOON, command=command)


def three_handed() -> Game:
    """Button 3, blinds 50/100 from seats 1 and 2; seat 3 is to act in hand 1."""
    return Game(config(seats=6, buy_in=BuyIn(minimum=400))).given({1: 5000, 2: 5000, 3: 5000}, button=3)


def refused(game: Game, asked: Cause) -> Rejected:
    """Has a refusal written down, as the desk does."""
    outcome = decider.decide(game.table, asked, game.at)
    assert isinstance(outcome, Rejected)
    game.append("table", refused_events(outcome, asked), asked)
    return msgspec.structs.replace(outcome, n=game.table.n, head=game.table.head)


def unwritten(game: Game, asked: Cause) -> Code:
    """The code of a refusal of which nothing is written down."""
    outcome = decider.decide(game.table, asked, game.at)
    assert isinstance(outcome, Rejected)
    assert refused_events(outcome, asked) == ()
    return outcome.code


def test_a_refusal_in_the_log_is_the_answer_to_every_copy() -> None:
    """The seat is free again when the copy comes: it would be taken, and paid for, by a command that was refused."""
    game = three_handed()
    asked = cause(TakeSeat(id="mine", hand=1, player="P9", buy_in=5000, seat=2))
    first = refused(game, asked)
    assert (first.code, first.allowed) == ("seat_taken", Allowed(seats=(4, 5, 6)))
    game.send("player", "P2", LeaveTable(id=""))
    game.when(fold_(3), fold_(1))
    game.owed()
    assert 2 not in game.table.seats
    assert decider.known(game.table, asked) == first
    play_on(game, 2)
    assert decider.known(game.table, asked) == first, "hand_started states refusals too"


def test_a_refused_id_is_used_up() -> None:
    game = three_handed()
    refused(game, cause(TakeSeat(id="mine", hand=1, player="P1", buy_in=5000)))
    answer = decider.known(game.table, cause(TakeSeat(id="mine", hand=1, player="P9", buy_in=5000)))
    assert isinstance(answer, Rejected)
    assert answer.code == "duplicate_id"


def test_a_refusal_changes_nothing_at_the_table() -> None:
    game = three_handed()
    before = game.table.copy()
    refused(game, cause(TakeSeat(id="mine", hand=1, player="P1", buy_in=5000)))
    after = msgspec.structs.replace(game.table, n=before.n, head=before.head, at=before.at)
    assert after == before


@pytest.mark.parametrize(
    ("kind", "command", "code"),
    [
        ("lobby", TakeSeat(id="x", hand=1, player="P1", buy_in=5000), "already_seated"),
        ("lobby", TakeSeat(id="x", hand=1, player="P9", buy_in=1), "buy_in_out_of_range"),
        ("lobby", TopUp(id="x", hand=1, player="P1", amount=0), "below_minimum"),
        ("lobby", TopUp(id="x", hand=1, player="P9", amount=1), "not_seated"),
        ("lobby", ReturnToPlay(id="x", hand=1, player="P1"), "not_sitting_out"),
        ("operator", ResumeTable(id="x", hand=1), "not_paused"),
        ("lobby", ReleaseSeat(id="x", hand=1, player="P9"), "no_request"),
        ("lobby", ReserveSeat(id="x", hand=1, player="P9", seat=4), "seat_reserved"),
        ("lobby", JoinWaitingList(id="x", hand=1, player="W"), "already_waiting"),
        ("lobby", LeaveWaitingList(id="x", hand=1, player="P9"), "not_waiting"),
        ("lobby", Connected(id="x", hand=1, player="P1"), "already_connected"),
        ("operator", RemovePlayer(id="x", hand=1, player="P9", reason="r"), "not_seated"),
        ("operator", CloseTable(id="x", hand=1), "hand_in_progress"),
    ],
)
def test_a_lobbys_refusal_is_written_down(kind: ActorKind, command: AnyCommand, code: Code) -> None:
    game = three_handed()
    game.send("lobby", "L1", ReserveSeat(id="", player="K", seat=4))
    game.append("table", (WaitingListChanged(players=("W",)),))
    outcome = decider.decide(game.table, cause(command, kind), NOON)
    assert isinstance(outcome, Rejected)
    assert refused_events(outcome, cause(command, kind)) == (
        CommandRefused(code=code, message=outcome.message, allowed=outcome.allowed),
    )


@pytest.mark.parametrize(
    ("kind", "command", "code"),
    [
        ("lobby", TakeSeat(id="x", hand=9, player="P9", buy_in=5000), "stale"),
        ("lobby", Act(id="x", hand=1, turn=1, action="fold"), "not_allowed"),
        ("player", ReturnToPlay(id="x", hand=1), "not_sitting_out"),
        ("player", Act(id="x", hand=1, turn=1, action="fold"), "not_your_turn"),
        ("cashier", ConfirmRequest(id="x", hand=1, request=1, paid=True), "no_request"),
        ("cashier", RemovePlayer(id="x", hand=1, player="P9", reason="r"), "not_seated"),
    ],
)
def test_other_refusals_are_not(kind: ActorKind, command: AnyCommand, code: Code) -> None:
    """No player can fill the log, and what can never be accepted needs no memory."""
    asked = cause(command, kind, "P1")
    outcome = decider.decide(three_handed().table, asked, NOON)
    assert isinstance(outcome, Rejected)
    assert outcome.code == code
    assert refused_events(outcome, asked) == ()


def test_a_players_refusal_lasts_as_long_as_what_it_rests_on() -> None:
    """The README says so: the same bytes are accepted after the table has changed; an act fits its own turn alone."""
    game = three_handed()
    assert game.table.hand is not None
    turn = game.table.hand.turn_number or 0
    joins = cause(JoinWaitingList(id="joins", hand=1), "player", "P2")
    folds = cause(Act(id="folds", hand=1, turn=turn, action="fold"), "player", "P2")
    assert (unwritten(game, joins), unwritten(game, folds)) == ("already_seated", "not_your_turn")
    game.when(fold_(3), call(1))
    assert unwritten(game, folds) == "stale"
    game.send("player", "P2", LeaveTable(id=""))
    while 2 in game.table.seats:
        assert game.owed()
    assert decider.known(game.table, joins) is None
    assert decider.decide(game.table, joins, game.at) == (WaitingListChanged(players=("P2",)),)


def test_a_command_is_known_for_ten_minutes_however_many_hands_are_played() -> None:
    """A lobby that asks again after an outage is told what became of its top-up, not that it came too late."""
    game = three_handed()
    top_up = TopUp(id="c1", hand=1, player="P1", amount=700)
    game.send("lobby", "L1", top_up)
    n, head = game.table.n, game.table.head
    play_on(game, 6)
    assert decider.known(game.table, cause(top_up)) == Accepted(id="c1", n=n, head=head)
    game.wait(int(MEMORY.total_seconds() * 1000))
    play_on(game, 8)
    assert decider.known(game.table, cause(top_up)) is None
    stale = decider.decide(game.table, cause(top_up), game.at)
    assert isinstance(stale, Rejected)
    assert stale.code == "stale"


def acceptance(n: int, kind: ActorKind = "player", hand: int = 0) -> Acceptance:
    return Acceptance(
        actor=Actor(kind=kind, name="x" * 40),
        id=f"{n:064}",
        digest="0" * 32,
        hand=hand,
        n=n,
        head="0" * 64,
        refused="buy_in_out_of_range",
        message="m" * 200,
        at=NOON,
    )


def with_known(*known: Acceptance) -> Game:
    game = three_handed()
    game.table.accepted = {(each.actor.kind, each.actor.name, each.id): each for each in known}
    return game


def test_what_lasts_is_bounded_and_players_go_first() -> None:
    game = with_known(*(acceptance(-n, "lobby" if n > 250 else "player") for n in range(300, 0, -1)))
    play_on(game, 2)
    started = {each.n for each in game.table.accepted.values() if each.n < 0}
    assert started == {*range(-300, -250), *range(-(lasting_max(1) - 50), 0)}


def test_a_flood_of_commands_leaves_room_for_the_next_hand() -> None:
    """Whatever was accepted in one hand, the next one starts: its commit is never larger than a message may be.

    Not even with as many as can wait, and as many as are remembered to have left.
    """
    flood = [acceptance(1000 + n, "lobby" if n == 0 else "player", hand=1) for n in range(5 * KNOWN_MAX)]
    game = with_known(*flood)
    game.table.waiting = tuple("W" * 38 + f"{n:02}" for n in range(WAITING_MAX))
    game.table.departures = tuple(
        Departure(player="D" * 36 + f"{n:04}", stack=CHIPS_MAX, at=NOON) for n in range(DEPARTURES_MAX)
    )
    (restated,) = restate(game.table, NOON + timedelta(hours=1))
    play_on(game, 2)
    started = next(event for event in reversed(game.events) if isinstance(event, HandStarted))
    assert isinstance(restated, TableRestated)
    for record in (started.table, restated.table):
        assert len(record.accepted) == KNOWN_MAX
        assert flood[0] in record.accepted
        assert len(encode(record)) < COMMIT_BYTES_MAX * 0.9


def test_a_table_with_rules_of_a_later_release_is_left_to_that() -> None:
    """DESIGN 2: `busy` is no answer to remember; the copy reaches a service that knows the rules."""
    game = three_handed()
    assert game.table.hand is not None
    game.table.hand.rules = RULES_VERSION + 1
    for command, kind in (
        (SitOut(id="x", hand=1), "player"),
        (TakeSeat(id="x", hand=1, player="P9", buy_in=1), "lobby"),
    ):
        outcome = decider.decide(game.table, cause(command, kind, "P1"), NOON)  # type: ignore[arg-type]
        assert isinstance(outcome, Rejected)
        assert outcome.code == "busy"
