import msgspec
import pytest

from contracts.commands import Act, AnyCommand, LeaveTable, OpenTable, PauseTable, SitOut, TakeSeat
from contracts.commit import Cause
from contracts.events.state import Actor
from contracts.events.table import TableOpened, TableRestated
from contracts.games import RULES_VERSION
from contracts.outcomes import Accepted, Allowed, Code, Rejected
from contracts.subjects import ActorKind
from services.aggregate.table import RESTATE_AFTER_COMMITS, Table
from services.table import decider
from tests.table.stories import NOON, Game, call, check, config, fold_, name, raise_to


def cause(command: AnyCommand, kind: ActorKind = "lobby", who: str = "L1") -> Cause:
    return Cause(actor=Actor(kind=kind, name=who), arrived=NOON, command=command)


def code(outcome: object) -> Code:
    assert isinstance(outcome, Rejected)
    return outcome.code


def three_handed() -> Game:
    """Button 3, blinds 50/100 from seats 1 and 2; seat 3 is to act."""
    return Game(config()).given({1: 5000, 2: 5000, 3: 5000}, button=3)


def turn_number(game: Game) -> int:
    assert game.table.hand is not None
    assert game.table.hand.turn_number is not None
    return game.table.hand.turn_number


def test_a_table_is_opened_once() -> None:
    table = Table(room="main", id="T1")
    opens = OpenTable(id="1", config=config())
    assert decider.decide(table, cause(opens), NOON) == (TableOpened(config=config()),)
    assert code(decider.decide(table, cause(SitOut(id="1"), "player", "P1"), NOON)) == "unknown_table"
    game = three_handed()
    assert code(game.send("lobby", "L1", opens)) == "table_exists"


def test_rules_and_commands_of_another_version_are_refused_with_the_versions_known() -> None:
    table = Table(room="main", id="T1")
    newer = decider.decide(table, cause(OpenTable(id="1", config=config(rules=RULES_VERSION + 1))), NOON)
    assert isinstance(newer, Rejected)
    assert (newer.code, newer.allowed) == ("unsupported_version", Allowed(versions=(1, 2, 3)))
    assert code(decider.decide(table, cause(OpenTable(id="1", config=config(), v=2)), NOON)) == "unsupported_version"


def test_a_known_command_gets_its_first_answer() -> None:
    """DESIGN 4: the same id with another body is refused."""
    game = three_handed()
    first = Act(id="mine", hand=1, turn=turn_number(game), action="call")
    assert decider.known(game.table, cause(first, "player", "P3")) is None
    game.send("player", "P3", first)
    n, head = game.table.n, game.table.head
    game.when(fold_(1))
    assert decider.known(game.table, cause(first, "player", "P3")) == Accepted(id="mine", n=n, head=head)
    other = cause(msgspec.structs.replace(first, action="fold"), "player", "P3")
    answer = decider.known(game.table, other)
    assert code(answer) == "duplicate_id"
    assert code(decider.decide(game.table, other, NOON)) == "duplicate_id"


def test_a_command_stays_known_through_the_next_hand() -> None:
    """DESIGN 4: hand 2 still knows what hand 1 accepted, hand 3 does not, and calls it stale."""
    game = three_handed()
    fold = Act(id="mine", hand=1, turn=turn_number(game), action="fold")
    game.send("player", "P3", fold)
    game.when(fold_(1))
    assert game.owed()
    assert isinstance(decider.known(game.table, cause(fold, "player", "P3")), Accepted)
    game.settle()
    while game.table.hands < 3:
        if game.turn is not None:
            game.when(fold_(game.turn.seat))
        else:
            assert game.owed()
    assert decider.known(game.table, cause(fold, "player", "P3")) is None
    assert code(decider.decide(game.table, cause(fold, "player", "P3"), NOON)) == "stale"


@pytest.mark.parametrize(
    ("kind", "who", "command", "expected"),
    [
        ("player", "P1", TakeSeat(id="", player="P9", buy_in=5000), ("lobby",)),
        ("lobby", "L1", Act(id="", turn=1, action="fold"), ("player",)),
        ("operator", "O1", SitOut(id="", player="P1"), ("player", "lobby")),
        ("player", "P1", PauseTable(id=""), ("operator", "lobby")),
        ("player", "P1", LeaveTable(id="", player="P2"), ("lobby",)),
        ("lobby", "L1", LeaveTable(id=""), ("player",)),
    ],
)
def test_who_may_not_send_a_command(kind: ActorKind, who: str, command: AnyCommand, expected: tuple[str, ...]) -> None:
    refused = three_handed().send(kind, who, command)
    assert isinstance(refused, Rejected)
    assert (refused.code, refused.allowed) == ("not_allowed", Allowed(actors=expected))


def test_a_refusal_says_all_that_would_be_accepted() -> None:
    """R51: nothing changes, and the whole legal range comes back."""
    game = three_handed()
    n, number = game.table.n, turn_number(game)
    refused = game.send("player", "P3", Act(id="x", turn=number, action="raise", to=150))
    assert refused == Rejected(
        code="below_minimum",
        message="The least raise is to 200; 150 is below it.",
        id="x",
        allowed=Allowed(
            actions=("fold", "call", "raise", "all_in"),
            turn=game.turn,
            number=number,
            minimum=200,
            maximum=5000,
            hand=1,
        ),
        n=n,
        head=game.table.head,
    )
    assert game.table.n == n


@pytest.mark.parametrize(
    ("who", "action", "to", "expected"),
    [
        ("P3", "check", None, "illegal_action"),
        ("P3", "bet", 300, "illegal_action"),
        ("P3", "raise", None, "illegal_action"),
        ("P3", "call", 100, "illegal_action"),
        ("P3", "raise", 199, "below_minimum"),
        ("P3", "raise", 5001, "above_maximum"),
        ("P1", "fold", None, "not_your_turn"),
        ("P9", "fold", None, "not_seated"),
    ],
)
def test_a_decision_that_is_not_legal(who: str, action: str, to: int | None, expected: Code) -> None:
    """R39, R40, R51, R53, R54."""
    game = three_handed()
    command = msgspec.convert({"type": "act", "id": "x", "turn": turn_number(game), "action": action, "to": to}, Act)
    assert code(game.send("player", who, command)) == expected


def test_a_decision_names_the_turn_that_it_is_for() -> None:
    """DESIGN 4: an old copy of a command never fits a later turn."""
    game = three_handed()
    assert code(game.send("player", "P3", Act(id="x", turn=turn_number(game) - 1, action="call"))) == "stale"
    game.when(raise_to(3, 300), fold_(1), fold_(2))
    assert code(game.send("player", "P3", Act(id="y", turn=1, action="call"))) == "no_hand"


def test_wagers_are_whole_chips() -> None:
    """R152: in units of 5, 203 is none; all the chips always are."""
    game = Game(config(odd_chip_unit=5)).given({1: 5000, 2: 5000, 3: 4003}, button=3)
    refused = game.send("player", "P3", Act(id="x", turn=turn_number(game), action="raise", to=203))
    assert isinstance(refused, Rejected)
    assert (refused.code, refused.allowed.chip) == ("not_a_whole_chip", 5)
    low = game.send("player", "P3", Act(id="y", turn=turn_number(game), action="raise", to=150))
    assert isinstance(low, Rejected)
    assert (low.code, low.allowed.chip) == ("below_minimum", 5)
    assert low.message == "The least raise is to 200, then in multiples of 5; 150 is below it."
    high = game.send("player", "P3", Act(id="z", turn=turn_number(game), action="raise", to=4005))
    assert isinstance(high, Rejected)
    assert (high.code, high.allowed.chip) == ("above_maximum", 5)
    assert high.message == "The highest raise is to 4003, below it in multiples of 5; 4005 is above it."
    game.when(raise_to(3, 4003))


def test_commands_wait_while_another_service_owes_but_a_pause_does_not() -> None:
    """DESIGN 3."""
    game = three_handed()
    assert not decider.holds(game.table)
    events = game.send("player", "P3", Act(id="", turn=turn_number(game), action="fold"))
    assert not isinstance(events, Rejected)
    assert not decider.holds(game.table)
    game.send("player", "P1", Act(id="", turn=turn_number(game), action="fold"))
    assert decider.holds(game.table)
    assert not decider.holds(game.table, PauseTable(id=""))


def test_a_turn_opens_with_the_deal() -> None:
    """R150: between the end of a street and the board nobody can act."""
    game = three_handed()
    game.when(call(3), call(1))
    game.send("player", "P2", Act(id="", turn=turn_number(game), action="check"))
    assert game.table.hand is not None
    assert game.table.hand.turn is not None
    refused = game.send("player", "P1", Act(id="", turn=game.table.n, action="check"))
    assert code(refused) == "not_your_turn"
    game.settle().when(check(1))


def test_a_long_log_without_hands_is_restated() -> None:
    """DESIGN 2."""
    game = Game(config())
    game.append("table", (TableOpened(config=config()),))
    game.table.n += RESTATE_AFTER_COMMITS
    assert game.owed()
    assert game.last(TableRestated).table.config == config()


def test_the_next_hand_waits_for_the_gap_between_hands() -> None:
    game = Game(config(hand_gap_ms=2000)).given({1: 5000, 2: 5000}, button=1)
    game.when(fold_(1)).wait(1999)
    assert not game.owed()
    game.wait(1)
    assert game.owed()
    assert game.table.hand is not None
    assert game.table.hand.positions.button == 2
    assert [player.player for player in game.table.hand.players.values()] == [name(1), name(2)]
