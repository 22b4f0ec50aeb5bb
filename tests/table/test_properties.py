"""What holds at every table, whatever its options and whatever its players do."""

from random import Random
from typing import Any, Final

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from contracts.codec import decode_commit
from contracts.commands import (
    Act,
    AnyCommand,
    Connected,
    Disconnected,
    LeaveTable,
    ReturnToPlay,
    SitOut,
    TakeSeat,
    TopUp,
    VoidHand,
)
from contracts.commit import Cause
from contracts.events.seats import StackToppedUp
from contracts.events.state import Actor, Turn
from contracts.events.table import HandStarted, HandVoided, PlayerLeft, PlayerSeated, TableOpened
from contracts.games import BuyIn, Limit, TableConfig
from contracts.outcomes import Code, Rejected
from services.aggregate.debts import debt
from services.aggregate.fold import fold
from services.aggregate.table import Table
from services.table import decider
from services.table.betting.limits import LIMITS
from tests.table.stories import Game, config

STEPS: Final = 120
OPTIONS: Final[dict[str, tuple[Any, ...]]] = {
    "button_mode": ("moving", "dead"),
    "skipped_blind_policy": ("forgive", "post"),
    "heads_up_button": ("small_blind", "big_blind"),
    "first_button": ("first_to_sit", "lowest_seat", "random"),
    "fl_cap_headsup": ("capped", "unlimited"),
    "fl_allin_reopen": ("half", "full"),
    "fl_raise_after_allin": ("add_bet", "full_level"),
    "pl_pot_basis": ("all_pots", "active_pot"),
    "pl_short_blind": ("actual", "nominal"),
    "pl_sb_as_bb": (False, True),
    "muck": ("losers_may_muck", "show_all"),
    "allin_reveal": ("all", "normal"),
    "allin_expose_time": ("before_board", "at_showdown"),
    "ante_mode": ("each", "big_blind"),
    "straddle": (False, True),
    "cap_per_hand": (0, 700),
    "rules": (1, 2, 3, 3),
    "time_bank_ms": (0, 20_000),
    "time_bank_refill_hands": (0, 2),
    "time_bank_refill_ms": (5000,),
    "disconnect_ms": (0, 10_000),
    "disconnect_protection": ("none", "allin"),
}


@st.composite
def tables(draw: st.DrawFn) -> TableConfig:
    limit: Limit = draw(st.sampled_from(sorted(LIMITS)))
    options = {name: draw(st.sampled_from(values)) for name, values in OPTIONS.items()}
    ante = draw(st.sampled_from((0, 0, 7)))
    return config(
        limit, bets=(100, 200), ante=ante, seats=6, buy_in=BuyIn(minimum=30, maximum=2000), hand_gap_ms=1, **options
    )


@given(table=tables(), seed=st.integers(0, 2**32))
def test_whatever_happens_at_a_table(table: TableConfig, seed: int) -> None:
    """R143 to R145: chips, levels and turns; every offer is legal when taken, and nothing else is."""
    game, chance = Game(table), Random(seed)
    game.append("table", (TableOpened(config=table),))
    for _ in range(STEPS):
        at_random(game.wait(1), chance)  # at most one hand starts in a step
        while game.owed():
            assert_sound(game)
    assert_chips(game)
    assert_every_start_is_a_beginning(game)


def at_random(game: Game, chance: Random) -> None:
    """Somebody does something: mostly the player whose turn it is."""
    turn = game.turn
    if turn is None or chance.random() < 0.15:
        somebody(game, chance)
        return
    if chance.random() < 0.04:
        game.wait(game.config.options.act_ms)
        return
    if chance.random() < 0.02:
        assert_void(game)
        return
    assert_offer(game, turn)
    taken = game.send("player", game.table.seats[turn.seat].player, chosen(game, turn, chance))
    assert not isinstance(taken, Rejected), taken
    assert_sound(game)


def somebody(game: Game, chance: Random) -> None:
    player = f"P{chance.randrange(8)}"
    commands: tuple[AnyCommand, ...] = (
        TakeSeat(id="", player=player, buy_in=chance.randrange(30, 2000), choice=chance.choice(("wait", "post"))),
        TakeSeat(id="", player=player, buy_in=chance.choice((99, 2000, 2000))),
        TopUp(id="", player=player, amount=chance.randrange(1, 1500)),
        SitOut(id="", player=player),
        ReturnToPlay(id="", player=player, choice=chance.choice(("wait", "post"))),
        LeaveTable(id="", player=player),
        Connected(id="", player=player),
        Disconnected(id="", player=player),
        Disconnected(id="", player=player),
    )
    game.send("lobby", "L1", chance.choice(commands))


def assert_void(game: Game) -> None:
    """R121, R122: every stack of those who were dealt in is what it was, and so are positions, debts and time banks."""
    hand = game.table.hand
    assert hand is not None
    last, before = hand.last_before, {record.seat: record for record in hand.before}
    outcome = game.send("operator", "O1", VoidHand(id="", reason="a misdeal"))
    assert not isinstance(outcome, Rejected)
    assert isinstance(outcome[0], HandVoided)
    after = {record.seat: record for record in outcome[0].seats}
    for seat in hand.players:
        was, now = before[seat], after[seat]
        assert (now.stack, now.time_bank, now.bank_hands) == (was.stack, was.time_bank, was.bank_hands)
        assert (now.owes, now.choice, now.sat) == (was.owes, was.choice, was.sat)
    assert (game.table.hand, game.table.last) == (None, last)
    owed = debt(game.table)
    assert owed is None or owed.service == "table"


def act(game: Game, action: str, to: int | None = None) -> Act:
    number = game.table.hand.turn_number if game.table.hand is not None else 0
    return msgspec.convert({"type": "act", "id": "probe", "turn": number, "action": action, "to": to}, Act)


def chosen(game: Game, turn: Turn, chance: Random) -> Act:
    moves = ["check"] if turn.check else ["call", "call", "fold"]
    if turn.wager is not None:
        moves += [turn.wager, turn.wager, "all_in"]
    action = chance.choice(moves)
    to = None
    if action == turn.wager and turn.minimum is not None and turn.maximum is not None:
        to = chance.choice((turn.minimum, turn.maximum, chance.randint(turn.minimum, turn.maximum)))
    return msgspec.structs.replace(act(game, action, to), id="")


def answer(game: Game, turn: Turn, command: Act) -> Code | None:
    """What the decider would say, without doing it."""
    actor = Actor(kind="player", name=game.table.seats[turn.seat].player)
    command = msgspec.structs.replace(command, hand=game.table.hands)
    outcome = decider.decide(game.table, Cause(actor=actor, arrived=game.at, command=command), game.at)
    return outcome.code if isinstance(outcome, Rejected) else None


def assert_offer(game: Game, turn: Turn) -> None:
    """All that a turn offers is accepted at its bounds, and refused with the right code beside them."""
    assert answer(game, turn, act(game, "fold")) is None
    assert answer(game, turn, act(game, "check")) == (None if turn.check else "illegal_action")
    assert answer(game, turn, act(game, "call")) == ("illegal_action" if turn.call is None else None)
    assert turn.check is (turn.call is None)
    for wager in ("bet", "raise"):
        if turn.wager != wager:
            assert answer(game, turn, act(game, wager, 100)) == "illegal_action"
            continue
        assert turn.minimum is not None
        assert turn.maximum is not None
        assert turn.minimum <= turn.maximum
        assert answer(game, turn, act(game, wager, turn.minimum)) is None
        assert answer(game, turn, act(game, wager, turn.maximum)) is None
        assert answer(game, turn, act(game, wager, turn.minimum - 1)) == "below_minimum"
        assert answer(game, turn, act(game, wager, turn.maximum + 1)) == "above_maximum"


def assert_sound(game: Game) -> None:
    """R145: the level covers every wager, stacks are never negative, and only a player who can act is asked."""
    hand = game.table.hand
    if hand is None:
        return
    assert all(player.stack >= 0 for player in hand.players.values())
    if hand.closed is not None:
        assert sum(pot.amount for pot in hand.closed.pots) == hand.pot
        assert all(set(pot.seats) <= set(hand.closed.contenders) and pot.seats for pot in hand.closed.pots)
        return
    assert hand.betting.level >= max(player.street_total for player in hand.players.values())
    if game.config.limit != "fixed_limit":
        assert hand.betting.full_raise >= game.config.stakes.big_blind
    elif game.config.options.fl_cap_headsup == "capped":
        assert hand.betting.bets <= game.config.options.fl_cap
    if hand.turn is not None:
        player = hand.players[hand.turn.seat]
        assert not player.folded
        assert not player.protected
        assert player.stack > 0


def assert_chips(game: Game) -> None:
    """R143: what came to the table is what lies on it or left it."""
    came = gone = 0
    for event in game.events:
        match event:
            case PlayerSeated():
                came += event.record.stack
            case StackToppedUp():
                came += event.amount
            case PlayerLeft():
                gone += event.stack
    hand = game.table.hand
    inside = {seat: record.stack for seat, record in game.table.seats.items()}
    pot = 0
    if hand is not None:
        inside |= {seat: player.stack for seat, player in hand.players.items()}
        pot = hand.pot
    assert came - gone == sum(inside.values()) + pot


def assert_every_start_is_a_beginning(game: Game) -> None:
    """DESIGN 2: the fold from any `hand_started` equals the fold from commit 1."""
    commits = [decode_commit(data) for data in game.stored]
    for start, commit in enumerate(commits):
        if not isinstance(commit.events[0], HandStarted):
            continue
        assert len(commit.events) == 1
        table = Table(room=game.table.room, id=game.table.id)
        for later, data in zip(commits[start:], game.stored[start:], strict=True):
            fold(table, later, data)
        assert table == game.table
