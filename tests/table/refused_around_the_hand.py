"""Commands about seats and of operators that a table refuses: the story, who sends what as P3, and the answer."""

from collections.abc import Callable
from typing import Final

from msgspec.structs import replace

from contracts.commands import (
    AdjustStack,
    AnyCommand,
    ChangeOptions,
    ConfirmRequest,
    Connected,
    Disconnected,
    JoinWaitingList,
    LeaveWaitingList,
    ReleaseSeat,
    RemovePlayer,
    ReserveSeat,
    TakeSeat,
    TopUp,
    VoidHand,
)
from contracts.data import CHIPS_MAX
from contracts.events.seats import WaitingListChanged
from contracts.games import RULES_VERSION, Options, TableConfig
from contracts.outcomes import Allowed, Code
from contracts.subjects import ActorKind
from tests.table.cash import cash, does, opened
from tests.table.stories import Game, config, fold_

type Refused = tuple[Callable[[], Game], ActorKind, AnyCommand, Code, str, Allowed]

ROOMY: Final = config(seats=3)
CASH: Final = cash(seats=3)
WHY: Final = "see ticket 17"


def two_seated() -> Game:
    return opened(ROOMY).sit(1, 5000).sit(2, 5000)


def one_disconnected() -> Game:
    game = two_seated()
    does(game, "lobby", "L1", Disconnected(id="", player="P1"))
    return game


def kept_beside_a_free_one() -> Game:
    """Seat 1 is kept for P9, seat 2 held."""
    game = opened(ROOMY).sit(2, 5000)
    does(game, "lobby", "L1", ReserveSeat(id="", player="P9"))
    return game


def one_kept() -> Game:
    """Seat 3, the last one, is kept for P9."""
    game = two_seated()
    does(game, "lobby", "L1", ReserveSeat(id="", player="P9"))
    return game


def one_bought(table: TableConfig = CASH) -> Game:
    """The cashier was asked in commit 2 for 5000 chips for P9, for whom seat 1 is kept."""
    game = opened(table)
    does(game, "lobby", "L1", TakeSeat(id="", player="P9", buy_in=5000))
    return game


def one_topped_up() -> Game:
    """P9 has 5000 chips, and the cashier was asked in commit 4 for 200 more."""
    game = one_bought()
    does(game, "cashier", "C1", ConfirmRequest(id="", request=2, paid=True))
    does(game, "lobby", "L1", TopUp(id="", player="P9", amount=200))
    return game


def one_waits() -> Game:
    game = one_kept()
    does(game, "lobby", "L1", JoinWaitingList(id="", player="P3"))
    return game


def hundred_wait() -> Game:
    game = one_kept()
    game.append("table", (WaitingListChanged(players=tuple(f"W{n}" for n in range(100))),))
    return game


def dealt() -> Game:
    """Seat 1 is to act in hand 1."""
    return Game(ROOMY).given({1: 5000, 2: 5000}, button=1)


def over() -> Game:
    return dealt().when(fold_(1))


def change(table: TableConfig) -> ChangeOptions:
    return ChangeOptions(id="x", config=table, reason=WHY)


def adjust(amount: int, player: str = "P1", hand: int = 0) -> AdjustStack:
    return AdjustStack(id="x", player=player, amount=amount, reason=WHY, hand=hand)


AROUND_THE_HAND: Final[dict[str, Refused]] = {
    "an answer to no request": (
        one_bought,
        "cashier",
        ConfirmRequest(id="x", request=1, paid=True),
        "no_request",
        "Request 1 is not open at this table; nothing more is to be sent for it.",
        Allowed(hand=0),
    ),
    "giving up no seat": (
        two_seated,
        "player",
        ReleaseSeat(id="x"),
        "no_request",
        "No seat is kept for P3; reserve_seat keeps one.",
        Allowed(actions=("reserve_seat",)),
    ),
    "a seat that is kept for another": (
        kept_beside_a_free_one,
        "lobby",
        TakeSeat(id="x", player="P3", buy_in=5000, seat=1),
        "seat_reserved",
        "Seat 1 is kept for another player; free: 3.",
        Allowed(seats=(3,)),
    ),
    "another seat than the one that is kept": (
        one_kept,
        "lobby",
        TakeSeat(id="x", player="P9", buy_in=5000, seat=1),
        "seat_reserved",
        "Seat 3 is kept for P9, who takes no other; release_seat gives it up.",
        Allowed(actions=("release_seat",), seats=(3,)),
    ),
    "a buy-in twice": (
        one_bought,
        "lobby",
        TakeSeat(id="x", player="P9", buy_in=6000),
        "seat_reserved",
        "Seat 1 is kept for P9 until the cashier has answered; release_seat gives it up.",
        Allowed(actions=("release_seat",), seats=(1,)),
    ),
    "a seat kept twice": (
        one_kept,
        "lobby",
        ReserveSeat(id="x", player="P9"),
        "seat_reserved",
        "Seat 3 is kept for P9 already; take_seat takes it, release_seat gives it up.",
        Allowed(actions=("take_seat", "release_seat"), seats=(3,)),
    ),
    "waiting with a seat kept": (
        one_kept,
        "lobby",
        JoinWaitingList(id="x", player="P9"),
        "seat_reserved",
        "Seat 3 is kept for P9 already; take_seat takes it, release_seat gives it up.",
        Allowed(actions=("take_seat", "release_seat"), seats=(3,)),
    ),
    "no seat that is not kept": (
        one_kept,
        "lobby",
        TakeSeat(id="x", player="P3", buy_in=5000),
        "table_full",
        "All seats are held or kept for others; join_waiting_list waits for one.",
        Allowed(actions=("join_waiting_list",), hand=0),
    ),
    "waiting twice": (
        one_waits,
        "player",
        JoinWaitingList(id="x"),
        "already_waiting",
        "P3 waits already, as number 1 of 1; leave_waiting_list ends it.",
        Allowed(actions=("leave_waiting_list",)),
    ),
    "waiting with a seat": (
        two_seated,
        "lobby",
        JoinWaitingList(id="x", player="P2"),
        "already_seated",
        "P2 holds seat 2 already, and waits for none.",
        Allowed(seats=(2,)),
    ),
    "waiting behind a hundred": (
        hundred_wait,
        "player",
        JoinWaitingList(id="x"),
        "table_full",
        "100 players wait at this table, and no more can.",
        Allowed(maximum=100),
    ),
    "not waiting": (
        two_seated,
        "player",
        LeaveWaitingList(id="x"),
        "not_waiting",
        "P3 does not wait for a seat at this table; join_waiting_list begins it.",
        Allowed(actions=("join_waiting_list",)),
    ),
    "connected twice": (
        two_seated,
        "lobby",
        Connected(id="x", player="P1"),
        "already_connected",
        "P1 is connected already; only disconnected is accepted.",
        Allowed(actions=("disconnected",)),
    ),
    "disconnected twice": (
        one_disconnected,
        "lobby",
        Disconnected(id="x", player="P1"),
        "already_disconnected",
        "P1 is disconnected already; only connected is accepted.",
        Allowed(actions=("connected",)),
    ),
    "a second top-up": (
        one_topped_up,
        "lobby",
        TopUp(id="x", player="P9", amount=300),
        "illegal_action",
        "A top-up of 200 is with the cashier; the next waits until that is answered or expires.",
        Allowed(number=4, hand=0),
    ),
    "removing nobody": (
        two_seated,
        "operator",
        RemovePlayer(id="x", player="P9", reason=WHY),
        "not_seated",
        "P9 holds no seat at this table, has none kept and waits for none.",
        Allowed(hand=0),
    ),
    "a correction of nothing": (
        two_seated,
        "operator",
        adjust(0),
        "below_minimum",
        f"An adjustment adds or takes away at least one chip: -5000 to {CHIPS_MAX - 10_000}, and not 0.",
        Allowed(minimum=-5000, maximum=CHIPS_MAX - 10_000),
    ),
    "a correction below nothing": (
        two_seated,
        "operator",
        adjust(-5001),
        "above_maximum",
        "The stack is 5000: no more than that is taken away.",
        Allowed(minimum=-5000, maximum=CHIPS_MAX - 10_000),
    ),
    "a correction beyond all amounts": (
        two_seated,
        "operator",
        adjust(CHIPS_MAX),
        "above_maximum",
        f"All chips of a table together are {CHIPS_MAX} at most: {CHIPS_MAX - 10_000} more.",
        Allowed(minimum=-5000, maximum=CHIPS_MAX - 10_000),
    ),
    "a correction in a hand": (
        dealt,
        "operator",
        adjust(1, hand=1),
        "hand_in_progress",
        "Hand 1 is in progress; pause the table and adjust the stack when it has ended.",
        Allowed(actions=("pause_table",), hand=1),
    ),
    "other chips": (
        two_seated,
        "operator",
        change(replace(ROOMY, currency="EUR")),
        "malformed",
        "The table cannot be changed like this: the chips stay play USD.",
        Allowed(actions=("change_options",)),
    ),
    "later rules from the next hand on": (
        two_seated,
        "operator",
        change(replace(ROOMY, options=Options(rules=RULES_VERSION + 1))),
        "unsupported_version",
        "Rules 4 are not known here; the newest are 3.",
        Allowed(versions=(1, 2, 3)),
    ),
    "cancelling a hand that is over": (
        over,
        "operator",
        VoidHand(id="x", hand=1, reason=WHY),
        "hand_settled",
        "Hand 1 is over and stays as it is; between hands adjust_stack corrects a stack.",
        Allowed(actions=("adjust_stack",), hand=1),
    ),
}
"""By what is wrong with them."""
