"""Plays a recorded hand or a fault case at a table of ours, and compares what is offered and what comes out."""

from functools import partial

from services.aggregate.table import Hand
from services.conformance import rakes, rooms
from services.conformance.actions import play_actions
from services.conformance.findings import Difference, Differing, Findings, Skipped
from services.conformance.opening import open_recorded
from services.conformance.outcome import Outcome, outcome
from services.conformance.play import HAND, Tables
from services.conformance.recorded import GAMES, Recorded
from services.conformance.results import compare_results
from services.conformance.seating import TooManyPlaces, at_table
from services.conformance.soundness import flaw
from services.conformance.tables import compare_seating
from services.dealer.scripted import Script, ScriptedDecks


def check_hand(recorded: Recorded, tables: Tables) -> list[Difference]:
    """The differences of one hand. Raises `Skipped` where it cannot be played here."""
    contradiction = flaw(recorded)
    if contradiction is not None:
        return [Difference(recorded.id, "a record that can be played", None, contradiction)]
    hand = _at_table(recorded)
    config = rooms.config(hand)
    script = Script(hole={seat: cards for seat, cards in hand.hole.items() if cards}, board=hand.board)
    playing = tables(ScriptedDecks({HAND: script}), partial(rakes.in_its_place, hand))
    findings = Findings(hand.id)
    try:
        open_recorded(playing, hand, config)
        playing.settle()
        overbet = play_actions(playing, hand, findings)
        if hand.payouts is not None:
            findings.require("the hand is over", None, _waiting(playing.table.hand))
            _compare_end(findings, hand, outcome(playing.events), overbet)
    except Differing:
        pass
    if hand.expect is not None and hand.expect.seating is not None:
        compare_seating(findings, hand.expect.seating, tables)
    unknown_rule = rooms.unknown_rule(hand)
    if findings.found and unknown_rule is not None:
        raise Skipped(unknown_rule)
    return findings.found


def _at_table(recorded: Recorded) -> Recorded:
    """The hand at a table of ours. Raises `Skipped` where no table of ours is like that."""
    if recorded.game not in GAMES:
        raise Skipped(f"the game {recorded.game!r} is none of {', '.join(GAMES)}")
    try:
        return at_table(recorded)
    except TooManyPlaces as fault:
        raise Skipped(str(fault)) from fault


def _compare_end(findings: Findings, hand: Recorded, got: Outcome, overbet: int) -> None:
    """Compares the results, unless unknown cards decide them. Raises `Skipped` where nothing differs up to there."""
    unknown = _unknown(hand, got)
    if unknown is None:
        compare_results(findings, hand, got, overbet)
    elif not findings.found:
        raise Skipped(unknown)


def _unknown(hand: Recorded, got: Outcome) -> str | None:
    """Which cards of the showdown the record does not tell."""
    if len(got.contenders) == 1:
        return None
    each = rooms.hole_cards(hand.game)
    unknown = [seat for seat in got.contenders if len(hand.hole.get(seat) or ()) != each]
    if unknown:
        return f"the cards of seats {unknown}, which went to the showdown, are not known"
    if len(hand.board) != len(got.board):
        return f"of the {len(got.board)} cards of the board only {len(hand.board)} are known"
    return None


def _waiting(state: Hand | None) -> str | None:
    """Who still has to act in a hand that should be over."""
    if state is None:
        return None
    return f"seat {state.turn.seat} is to act" if state.turn is not None else "the hand goes on"
