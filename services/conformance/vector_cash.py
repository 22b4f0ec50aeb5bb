"""Plays the rule vectors about chips that come to a table and go: returning, topping up, leaving (R6 to R10, R120)."""

from datetime import timedelta
from typing import Final

from contracts.commands import LeaveTable, TakeSeat, TopUp
from contracts.events import AnyEvent
from contracts.events.seats import StackToppedUp
from contracts.events.settlement import PotsAwarded
from contracts.events.state import Departure
from contracts.events.table import ActionTaken, HandEnded
from contracts.games import BuyIn, Options, Stakes, TableConfig
from services.conformance.accounts import Accounts
from services.conformance.driving import check_or_call, drive, putting_in, seats
from services.conformance.findings import Findings
from services.conformance.opening import open_between, open_next
from services.conformance.play import HAND, Tables, player, unraked
from services.conformance.rooms import ACT_MS
from services.conformance.session_vectors import (
    FoldedVector,
    LeastBuyInVector,
    LeavingVector,
    ReturnVector,
    TopUpVector,
)
from services.conformance.vectors import LIMITS
from services.dealer.scripted import Script, ScriptedDecks
from services.table.buy_ins import least_buy_in_guideline

STAKES: Final = Stakes(small_blind=50, big_blind=100)
BOARD: Final = ("2c", "7d", "9h", "Js", "3c")
ACES: Final = ("As", "Ah")
KINGS: Final = ("Ks", "Kh")
MINUTE_MS: Final = 60_000
CASH: Final = TableConfig(
    variant="holdem",
    limit="no_limit",
    stakes=STAKES,
    seats=10,
    buy_in=BuyIn(minimum=1),
    options=Options(act_ms=ACT_MS),
    bankroll="cashier",
)
"""A table whose chips are the cashier's."""


def check_return(vector: ReturnVector, tables: Tables, findings: Findings) -> None:
    """Compares between which bounds the table lets a player come back who left not long ago (R10).

    A buy-in of nothing is refused with the bounds.
    """
    given, expect = vector.input, vector.expect
    buy_in = BuyIn(minimum=given.min_buyin, maximum=given.max_buyin)
    config = _config(buy_in, limit=given.limit, rathole_ms=given.window * MINUTE_MS)
    playing = tables(ScriptedDecks({}), unraked)
    left_at = playing.now - timedelta(minutes=given.minutes)
    open_between(playing, config, (), departures=(Departure(player=player(1), stack=given.left_with, at=left_at),))
    refused = playing.ask("lobby", TakeSeat(id="back", hand=HAND - 1, player=player(1), buy_in=0))
    findings.require("a buy-in of 0", "buy_in_out_of_range", None if refused is None else refused.code)
    assert refused is not None
    findings.compare("least buy-in", expect.min, refused.allowed.minimum)
    findings.compare("highest buy-in", expect.max, refused.allowed.maximum)


def check_least_buy_in(vector: LeastBuyInVector, findings: Findings) -> None:
    """Compares the least buy-in suggested for a fixed-limit table (R6)."""
    for row in vector.expect:
        what = f"least buy-in of a lower stake of {row.lower}"
        findings.compare(what, row.min_buyin, least_buy_in_guideline(row.lower))


def check_top_up(vector: TopUpVector, tables: Tables, findings: Findings) -> None:
    """Plays a hand in which the player wins or loses so much, all of it before the flop, and tops up meanwhile (R7)."""
    given, expect = vector.input, vector.expect
    wins, at_stake = given.hand_result >= 0, abs(given.hand_result)
    hole = {1: ACES if wins else KINGS, 2: KINGS if wins else ACES}
    playing = tables(ScriptedDecks({HAND: Script(hole=hole, board=BOARD)}), unraked)
    open_next(
        playing, _config(BuyIn(minimum=1, maximum=given.max_buyin)), seats({1: given.stack_before, 2: at_stake}), None
    )
    playing.settle()
    top_up = TopUp(id="more", hand=HAND, player=player(1), amount=given.topup_requested)
    refused = playing.ask("lobby", top_up)
    findings.require("top_up: accepted", None, None if refused is None else refused.message)
    drive(playing, findings, lambda _, turn: ("all_in" if turn.call or turn.wager else "check", None))
    ended, topped = _last(playing.events, HandEnded), _last(playing.events, StackToppedUp)
    stacks = {stack.seat: stack.amount for stack in ended.stacks} if ended is not None else {}
    findings.compare("stack after the hand", expect.stack_after_hand, stacks.get(1))
    findings.require("chips that come in", expect.topup_applied, topped.amount if topped is not None else None)
    assert topped is not None
    findings.compare("stack", expect.stack, topped.stack)
    findings.compare("returned to the account", expect.returned_to_account, topped.unused)


def check_leaving(vector: LeavingVector, tables: Tables, findings: Findings) -> None:
    """Has a player leave between hands, and the cashier see it (R9)."""
    given, expect = vector.input, vector.expect
    playing = tables(ScriptedDecks({}), unraked)
    accounts = Accounts(playing.now)
    accounts.bring(player(1), given.account, given.stack)
    open_between(playing, CASH, seats({1: given.stack}))
    refused = playing.ask("lobby", LeaveTable(id="bye", hand=HAND - 1, player=player(1)))
    findings.require("leave_table: accepted", None, None if refused is None else refused.message)
    accounts.follow(playing.events)
    findings.compare("account", expect.account, accounts.balance(player(1)))
    findings.compare("stack", expect.stack, sum(record.stack for record in playing.table.seats.values()))


def check_folded(vector: FoldedVector, tables: Tables, findings: Findings) -> None:
    """Has seat 1 leave in a hand, who has wagered before the flop, and is the last to act on it (R120)."""
    given, expect = vector.input, vector.expect
    stacks = dict.fromkeys((1, 2, 3), given.start_stack)
    wagered = dict.fromkeys(stacks, given.committed)
    playing = tables(ScriptedDecks({HAND: Script(board=BOARD)}), unraked)
    accounts = Accounts(playing.now)
    for seat, stack in stacks.items():
        accounts.bring(player(seat), given.account, stack)
    open_next(playing, CASH, seats(stacks), None)
    playing.settle()
    drive(playing, findings, putting_in(wagered, {"preflop": given.committed}))
    refused = playing.ask("lobby", LeaveTable(id="bye", hand=HAND, player=player(1)))
    findings.require("leave_table: accepted", None, None if refused is None else refused.message)
    drive(playing, findings, check_or_call)
    actions = [event for event in playing.events if isinstance(event, ActionTaken) and event.seat == 1]
    findings.compare("folds", given.folds, bool(actions) and actions[-1].action == "fold")
    accounts.follow(playing.events)
    findings.compare("account", expect.account, accounts.balance(player(1)))
    awards = _last(playing.events, PotsAwarded)
    pots = sum(pot.amount for pot in awards.pots) if awards is not None else 0
    findings.compare("what stays in the pot", expect.pot_keeps, pots - 2 * given.committed)


def _config(buy_in: BuyIn, limit: str = "NL", **options: int) -> TableConfig:
    chosen = Options(act_ms=ACT_MS, **options)  # type: ignore[arg-type]
    stakes = STAKES if limit != "FL" else Stakes(small_blind=50, big_blind=100, small_bet=100, big_bet=200)
    return TableConfig(variant="holdem", limit=LIMITS[limit], stakes=stakes, seats=10, buy_in=buy_in, options=chosen)


def _last[T: AnyEvent](events: list[AnyEvent], kind: type[T]) -> T | None:
    return next((event for event in reversed(events) if isinstance(event, kind)), None)
