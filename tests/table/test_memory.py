"""Which accepted commands a table still knows: their copies get the first answer, and change nothing (DESIGN 4)."""

from datetime import timedelta

import pytest
from msgspec.structs import replace

from contracts.codec import encode
from contracts.commands import COMMAND_BYTES_MAX, AnyCommand, Connected, Disconnected, PauseTable, TopUp
from contracts.commit import Cause
from contracts.data import CHIPS_MAX
from contracts.events.state import Acceptance, Actor, Allowed, Departure, SeatRecord
from contracts.events.table import HandStarted, TableRestated
from contracts.games import BuyIn, RakeBand, RakeSchedule
from contracts.outcomes import Accepted, Rejected
from contracts.subjects import ActorKind
from services.aggregate.table import RESTATE_AFTER_COMMITS
from services.bus.log import COMMIT_BYTES_MAX
from services.table import decider
from services.table.hands import DEPARTURES_MAX, restate
from services.table.remembered import KNOWN_MAX, MEMORY, lasting_max
from services.table.waiting_list import WAITING_MAX
from tests.table.cash import does, opened
from tests.table.stories import NOON, Game, config, play_on

MEMORY_MS = int(MEMORY.total_seconds() * 1000)


def three_handed(rules: int) -> Game:
    """Button 3, blinds 50/100 from seats 1 and 2; seat 3 is to act in hand 1."""
    table = config(seats=10, buy_in=BuyIn(minimum=400), rules=rules)
    return Game(table).given({1: 5000, 2: 5000, 3: 5000}, button=3)


def flaps(game: Game, times: int) -> None:
    """A lobby tells so often that a player is gone, or there again."""
    for n in range(times):
        does(game, "lobby", "L1", (Connected if n % 2 else Disconnected)(id="", player="P2"))


def answer(game: Game, command: AnyCommand, kind: ActorKind = "lobby") -> Accepted | str | None:
    """The answer to a copy: what was accepted, or with which code it is refused; None: it is accepted anew."""
    cause = Cause(actor=Actor(kind=kind, name="L1"), arrived=game.at, command=command)
    known = decider.known(game.table, cause)
    if isinstance(known, Accepted):
        return known
    outcome = known if known is not None else decider.decide(game.table, cause, game.at)
    return outcome.code if isinstance(outcome, Rejected) else None


def topped_up(game: Game) -> tuple[TopUp, Accepted]:
    """A lobby's command that a wallet has taken money for, and its answer."""
    command = TopUp(id="paid", hand=game.table.hands, player="P1", amount=700)
    does(game, "lobby", "L1", command)
    return command, Accepted(id="paid", n=game.table.n, head=game.table.head)


def test_who_is_connected_makes_no_table_forget_a_top_up() -> None:
    """DESIGN 4: 300 changes of presence in one hand; for ten minutes nobody pays back chips that are on the table."""
    game = three_handed(rules=3)
    command, accepted = topped_up(game)
    flaps(game, 300)
    play_on(game, 6)
    game.wait(MEMORY_MS - 1)
    play_on(game, 7)
    assert answer(game, command) == accepted
    game.wait(1)
    play_on(game, 8)
    assert answer(game, command) == "stale"


@pytest.mark.parametrize("rules", [1, 2])
def test_before_rules_3_presence_counts_like_whatever_lasts(rules: int) -> None:
    """DESIGN 2: a log of earlier rules is derived as it was, and forgets a top-up over 200 changes of presence."""
    game = three_handed(rules)
    command, _ = topped_up(game)
    flaps(game, 300)
    assert {known.at for known in game.table.accepted.values()} == {NOON}
    play_on(game, 3)
    assert answer(game, command) == "stale"


def test_who_is_connected_is_known_for_two_hands_like_an_act() -> None:
    """DESIGN 4: its copy comes too late some hands later, and changes nothing; the statement does not say when."""
    game = three_handed(rules=3)
    command = Disconnected(id="gone", hand=1, player="P2")
    does(game, "lobby", "L1", command)
    accepted = Accepted(id="gone", n=game.table.n, head=game.table.head)
    play_on(game, 2)
    assert answer(game, command) == accepted
    assert [known.at for known in game.table.accepted.values() if known.id == "gone"] == [None]
    play_on(game, 3)
    assert answer(game, command) == "stale"


@pytest.mark.parametrize("commits", [RESTATE_AFTER_COMMITS, 2 * RESTATE_AFTER_COMMITS])
def test_what_could_be_accepted_once_more_is_known_however_long_no_hand_starts(commits: int) -> None:
    """DESIGN 4: a command of the hand that the table is at is not stale; at a table without hands it never is."""
    game = opened(config(buy_in=BuyIn(minimum=400), rules=3)).sit(1, 5000).sit(2, 5000)
    does(game, "operator", "O1", PauseTable(id=""))
    command, accepted = topped_up(game)
    for _ in range(commits // RESTATE_AFTER_COMMITS):
        flaps(game, RESTATE_AFTER_COMMITS)
        game.wait(MEMORY_MS)
        assert game.owed()
        assert isinstance(game.events[-1], TableRestated)
    assert answer(game, command) == accepted
    assert game.stacks()[1] == 5700


def acceptance(n: int, kind: ActorKind, *, lasts: bool = True) -> Acceptance:
    """The longest record of a command that there is: one that was refused, with all that could be said."""
    return Acceptance(
        actor=Actor(kind=kind, name="x" * 40),
        id=f"{n:064}",
        digest="0" * 32,
        hand=1,
        n=n,
        head="0" * 64,
        refused="buy_in_out_of_range",
        message="m" * 200,
        allowed=Allowed(
            actions=("return_to_play", "leave_table"),
            minimum=CHIPS_MAX,
            maximum=CHIPS_MAX,
            seats=tuple(range(1, 11)),
            hand=CHIPS_MAX,
        ),
        at=NOON + timedelta(microseconds=1) if lasts else None,
    )


def knows(game: Game, *known: Acceptance) -> Game:
    game.table.accepted = {(each.actor.kind, each.actor.name, each.id): each for each in known}
    return game


def known_after(game: Game, *known: Acceptance) -> set[int]:
    """Which of these commands of hand 1 are known in hand 3."""
    knows(game, *known)
    play_on(game, 3)
    return {each.n for each in game.table.accepted.values()} & {each.n for each in known}


def test_of_more_commands_than_fit_players_are_forgotten_first_and_then_the_oldest() -> None:
    """DESIGN 4: a player must not have a wallet's command forgotten."""
    most = lasting_max(3)
    lobbys = [acceptance(-n, "lobby") for n in range(10_000 + 50, 10_000, -1)]
    players = [acceptance(-n, "player") for n in range(most, 0, -1)]
    assert known_after(three_handed(rules=3), *lobbys, *players) == {
        *(each.n for each in lobbys),
        *range(50 - most, 0),
    }
    wallets = [acceptance(-n, "lobby") for n in range(most + 1, 0, -1)]
    assert known_after(three_handed(rules=3), *wallets) == set(range(-most, 0))


def test_what_lasts_leaves_room_for_what_was_just_done() -> None:
    """DESIGN 4: whatever else a lobby asks for or tells, the last acts are known, and the last top-ups."""
    lasting = [acceptance(1000 + n, "lobby") for n in range(2 * KNOWN_MAX)]
    acts = [acceptance(5000 + n, "player", lasts=False) for n in range(2 * KNOWN_MAX)]
    game = knows(three_handed(rules=3), *lasting, *acts)
    play_on(game, 2)
    most = lasting_max(3)
    assert list(game.last(HandStarted).table.accepted) == lasting[-most:] + acts[-(KNOWN_MAX - most) :]


def test_the_largest_statement_fits_into_a_message() -> None:
    """DESIGN 1: whatever was accepted, and with the longest configuration that a command can bring."""
    game = three_handed(rules=3)
    bands = tuple(
        RakeBand(players=(n, n), cap=CHIPS_MAX, thresholds=((CHIPS_MAX - 1, CHIPS_MAX - 1), (CHIPS_MAX, CHIPS_MAX)))
        for n in range(2, 11)
    )
    long = RakeBand(players=(11, 11), thresholds=((CHIPS_MAX, CHIPS_MAX),) * 1_740)
    assert game.table.config is not None
    game.table.config = replace(
        game.table.config, rake=RakeSchedule(id="r" * 40, version=1, mode="breakpoints", bands=(*bands, long))
    )
    assert COMMAND_BYTES_MAX * 0.95 < len(encode(game.table.config)) < COMMAND_BYTES_MAX
    game.table.seats |= {
        seat: SeatRecord(seat=seat, player="s" * 40, stack=0, sat=CHIPS_MAX, sitting_out=True, sat_out_at=NOON)
        for seat in range(4, 11)
    }
    game.table.waiting = tuple("W" * 38 + f"{n:02}" for n in range(WAITING_MAX))
    game.table.departures = tuple(
        Departure(player="D" * 36 + f"{n:04}", stack=CHIPS_MAX, at=NOON) for n in range(DEPARTURES_MAX)
    )
    lasting = [acceptance(CHIPS_MAX - n, "operator") for n in range(2 * KNOWN_MAX)]
    passing = [acceptance(CHIPS_MAX - 10_000 - n, "lobby", lasts=False) for n in range(2 * KNOWN_MAX)]
    knows(game, *lasting, *passing)
    (restated,) = restate(game.table, NOON)
    play_on(game, 2)
    started = game.last(HandStarted)
    assert len(started.table.accepted) == KNOWN_MAX
    assert isinstance(restated, TableRestated)
    assert len(restated.table.accepted) == KNOWN_MAX
    largest = max(map(len, game.stored))
    assert largest < COMMIT_BYTES_MAX
    assert largest > COMMIT_BYTES_MAX * 0.9, "no budget is left unused"
