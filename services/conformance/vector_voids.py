"""Plays the rule vectors about hands that are cancelled, or cannot be any more (R121, R122, R124)."""

from typing import Final

from contracts.commands import VoidHand
from contracts.events.rake import RakeTaken
from contracts.events.state import Positions, SeatRecord
from contracts.events.table import HandVoided
from contracts.games import BuyIn, Options, Stakes, TableConfig
from services.aggregate.evolve import replace
from services.conformance.driving import check_or_call, drive, putting_in, seats
from services.conformance.findings import Findings, Skipped
from services.conformance.opening import open_next
from services.conformance.play import HAND, Tables, unraked
from services.conformance.rooms import ACT_MS
from services.conformance.session_vectors import SettledVector, VoidVector
from services.dealer.scripted import ScriptedDecks

CONFIG: Final = TableConfig(
    variant="holdem",
    limit="no_limit",
    stakes=Stakes(small_blind=25, big_blind=50),
    seats=10,
    buy_in=BuyIn(minimum=1),
    options=Options(act_ms=ACT_MS, rules=2),
)
VOID: Final = VoidHand(id="void", hand=HAND, reason="a vector says so")
LEVELS_MIN: Final = 2


def check_void(vector: VoidVector, tables: Tables, findings: Findings) -> None:
    """Plays a hand up to the turn, and cancels it; then another one starts.

    Before the flop the players put in up to the second highest amount, the others the rest on the flop.
    """
    given, expect = vector.input, vector.expect
    levels = sorted(set(given.committed.values()))
    if len(levels) < LEVELS_MIN:
        raise Skipped("a hand in which all put in the same is cancelled by no vector known here")
    playing = tables(ScriptedDecks({}), unraked)
    before = Positions(button=given.button_before, small_blind=None, big_blind=None)
    started = open_next(playing, CONFIG, _seats(vector), before)
    playing.settle()
    drive(playing, findings, putting_in(given.committed, {"preflop": levels[-2], "flop": levels[-1]}))
    hand = playing.table.hand
    findings.require("street", "turn", hand.street if hand is not None else None)
    assert hand is not None
    findings.require("put in", given.committed, {seat: held.total for seat, held in sorted(hand.players.items())})
    refused = playing.ask("operator", VOID)
    findings.require("void_hand: accepted", None, None if refused is None else refused.message)
    voided = next(event for event in playing.events if isinstance(event, HandVoided))
    findings.compare("stacks", expect.stacks, {record.seat: record.stack for record in voided.seats})
    taken = sum(event.total for event in playing.events if isinstance(event, RakeTaken))
    findings.compare("rake", expect.rake, taken - sum(voided.rake_returned))
    owing = {record.seat: record.owes for record in voided.seats if record.owes != "none"}
    findings.compare("debts", expect.debts, owing)
    again = playing.start()
    where = started.positions if started is not None else None
    findings.compare("positions of the next hand", where, again.positions if again is not None else None)


def _seats(vector: VoidVector) -> list[SeatRecord]:
    debts = vector.input.debts_before
    return [replace(record, owes=debts.get(record.seat, "none")) for record in seats(vector.input.stacks_before)]


def check_settled(vector: SettledVector, tables: Tables, findings: Findings) -> None:
    """Plays a hand to its end, and asks to cancel it (R124)."""
    playing = tables(ScriptedDecks({}), unraked)
    open_next(playing, CONFIG, seats({1: 5000, 2: 5000}), None)
    playing.settle()
    drive(playing, findings, check_or_call)
    refused = playing.ask("operator", VOID)
    findings.compare("cancelling", vector.expect.cancel, "accepted" if refused is None else "refused")
    findings.compare("the answer", "hand_settled", None if refused is None else refused.code)
