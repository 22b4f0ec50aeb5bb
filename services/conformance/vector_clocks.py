"""Plays the rule vectors about players whose time runs out, connected or not (R116 to R118)."""

from functools import partial
from typing import Final

from contracts.commands import Disconnected
from contracts.data import Chips
from contracts.events.state import Positions, Turn
from contracts.events.table import ActionTaken
from contracts.games import BuyIn, Options, Stakes, TableConfig
from services.aggregate.table import Hand
from services.conformance.driving import Decision, drive, putting_in, seats
from services.conformance.findings import Findings, Skipped
from services.conformance.opening import open_next
from services.conformance.play import HAND, Playing, Tables, player, unraked
from services.conformance.session_vectors import ProtectionVector, TimeoutVector
from services.dealer.scripted import ScriptedDecks

BIG_BLIND: Final = 100
ACT_S: Final = 30


def check_timeout(vector: TimeoutVector, tables: Tables, findings: Findings) -> None:
    """Lets the big blind's time run out: after a call of the blind, or a raise by what is to be faced (R116, R117)."""
    for number, (facing, expected) in enumerate(zip(vector.input, vector.expect, strict=False), 1):
        playing = tables(ScriptedDecks({}), unraked)
        options = Options(act_ms=ACT_S * playing.second_ms, time_bank_ms=facing.time_bank * playing.second_ms)
        open_next(playing, _config(options), seats({1: 2 * facing.facing + 5000, 2: 2 * facing.facing + 5000}), None)
        playing.settle()
        drive(playing, findings, partial(_first, facing.facing))
        playing.time_out()
        findings.compare(f"case {number}", expected, _told(playing))
    findings.compare("cases", len(vector.expect), len(vector.input))


def _first(raised: Chips, _: Hand, turn: Turn) -> Decision | None:
    """The button calls or raises; the big blind does nothing."""
    if turn.seat != 1:
        return None
    return ("raise", BIG_BLIND + raised) if raised else ("call", None)


def _told(playing: Playing) -> str:
    """What was decided for the player, in the words of the vectors."""
    decided = [event for event in playing.events if isinstance(event, ActionTaken) and event.timed_out]
    if not decided:
        return "nothing"
    action = decided[0]
    if action.bank_ms == 0:
        return action.action
    return f"time bank of {action.bank_ms / playing.second_ms:g} s runs, then {action.action}"


def check_protection(vector: ProtectionVector, tables: Tables, findings: Findings) -> None:
    """Has all put in the same before the flop, and one bet on it, whom a disconnected player does not answer (R118)."""
    given, expect = vector.input, vector.expect
    playing = tables(ScriptedDecks({}), unraked)
    options = Options(act_ms=ACT_S * playing.second_ms, disconnect_protection="allin")
    open_next(playing, _config(options), seats(given.stacks), _last(vector))
    playing.settle()
    wagered = dict.fromkeys(given.stacks, given.committed_each)
    drive(playing, findings, putting_in(wagered, {"preflop": given.committed_each}))
    lost = Disconnected(id="lost", hand=HAND, player=player(given.seat_disconnected))
    refused = playing.ask("lobby", lost)
    findings.require("disconnected: accepted", None, None if refused is None else refused.message)

    def on_the_flop(hand: Hand, turn: Turn) -> Decision | None:
        if turn.seat == given.seat_disconnected or hand.street != "flop":
            return None
        if turn.check:
            return ("bet", given.next_bet) if turn.seat == int(given.next_bet_by) else ("check", None)
        return ("call", None) if turn.seat == int(given.caller) else ("fold", None)

    drive(playing, findings, on_the_flop)
    playing.time_out()
    drive(playing, findings, on_the_flop)
    pots = playing.table.hand.pots if playing.table.hand is not None else ()
    findings.compare("pots", list(expect.pots), [pot.amount for pot in pots])
    findings.compare(
        "who contests them", [sorted(each) for each in expect.eligible], [sorted(pot.seats) for pot in pots]
    )


def _last(vector: ProtectionVector) -> Positions:
    """The positions of the hand before: in the next one, who bets is the first to act on the flop."""
    order, first = sorted(vector.input.stacks), int(vector.input.next_bet_by)
    if first not in order:
        raise Skipped(f"seat {first}, which is to bet, is held by nobody")
    return Positions(button=order[order.index(first) - 2], small_blind=None, big_blind=None)


def _config(options: Options) -> TableConfig:
    return TableConfig(
        variant="holdem",
        limit="no_limit",
        stakes=Stakes(small_blind=BIG_BLIND // 2, big_blind=BIG_BLIND),
        seats=10,
        buy_in=BuyIn(minimum=1),
        options=options,
    )
