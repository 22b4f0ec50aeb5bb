"""Plays the recorded actions one by one: each has to be offered, at its turn, to the right seat, for its amount."""

from typing import Literal

from contracts.cards import BOARD_CARDS, STREETS, Street
from contracts.commands import Act
from contracts.events.state import Action, Turn
from contracts.events.table import ActionTaken
from contracts.outcomes import Rejected
from services.aggregate.table import Hand
from services.conformance.findings import Findings
from services.conformance.play import Playing
from services.conformance.points import compare_points, offer
from services.conformance.recorded import Recorded, RecordedAction


def play_actions(playing: Playing, hand: Recorded, findings: Findings) -> int:
    """Plays all of them; gives the chips of wagers that nobody could call and that were played as calls.

    Raises `Differing` at an action from which the hand cannot go on.
    """
    overbet = 0
    for index, action in enumerate(hand.actions):
        _check_through(playing, hand, action.street)
        compare_points(playing, hand.expect, index, findings)
        overbet += _act(playing, action, f"action {index + 1}", findings)
    compare_points(playing, hand.expect, len(hand.actions), findings)
    if hand.payouts is not None:
        _check_through(playing, hand, None)
    return overbet


def _check_through(playing: Playing, hand: Recorded, until: Street | None) -> None:
    """Checks a street of which the source lists the board and no action: nobody bet on it, for the pot did not grow.

    `until`: the street of the next recorded action; None: there is none.
    """
    listed = {action.street for action in hand.actions}
    while (state := playing.table.hand) is not None and (turn := state.open_turn) is not None:
        cards = sum(BOARD_CARDS[street] for street in STREETS[: STREETS.index(state.street) + 1])
        if state.street in listed or state.street == until or not turn.check or len(hand.board) < cards:
            return
        if playing.act(turn.seat, _command(state, f"unlisted-{playing.table.n}", "check")) is not None:
            return


def _act(playing: Playing, action: RecordedAction, name: str, findings: Findings) -> int:
    what = f"{name}, {action.street}: {_said(action)}"
    state = playing.table.hand
    turn = state.open_turn if state is not None else None
    if state is None or turn is None:
        findings.require(f"{what}: somebody is to act", action.seat, None)
        return 0
    findings.require(f"{what}: seat to act", action.seat, turn.seat)
    findings.require(f"{what}: street", action.street, state.street)
    unanswerable = _nobody_could_call(state, turn, action)
    if not unanswerable and not _offers(turn, action):
        findings.require(f"{what}: offered", _wanted(action), offer(turn))
    wager = action.do in ("bet", "raise") and not unanswerable
    do: Action | Literal["all_in"] = "all_in" if unanswerable else action.do
    command = _command(state, name.replace(" ", "-"), do, action.to if wager else None)
    before = len(playing.events)
    refused = playing.act(turn.seat, command)
    findings.require(f"{what}: accepted", None, _refusal(refused))
    taken = next(event for event in playing.events[before:] if isinstance(event, ActionTaken))
    if unanswerable:
        return action.amount - taken.amount
    findings.compare(f"{what}: chips added", action.amount, taken.amount)
    findings.compare(f"{what}: street total", action.to, taken.street_total)
    findings.compare(f"{what}: all-in", action.all_in, taken.all_in)
    return 0


def _command(state: Hand, name: str, action: Action | Literal["all_in"], to: int | None = None) -> Act:
    return Act(id=name, hand=state.number, turn=state.turn_number or 0, action=action, to=to)


def _nobody_could_call(state: Hand, turn: Turn, action: RecordedAction) -> bool:
    """Whether this is a raise that some rooms take and then return: here it is an all-in call (R50, R148)."""
    if action.do not in ("bet", "raise") or turn.wager is not None or turn.call is None:
        return False
    others = (other for other in state.live() if other.seat != turn.seat)
    return all(other.street_total + other.stack <= state.betting.level for other in others)


def _offers(turn: Turn, action: RecordedAction) -> bool:
    match action.do:
        case "fold":
            return True
        case "check":
            return turn.check
        case "call":
            return turn.call == action.amount
        case _:
            if turn.wager != action.do or turn.minimum is None or turn.maximum is None:
                return False
            return turn.minimum <= action.to <= turn.maximum


def _said(action: RecordedAction) -> str:
    amount = f" to {action.to}" if action.do in ("bet", "raise") else f" {action.amount}" if action.amount else ""
    return f"seat {action.seat} {action.do}{amount}"


def _refusal(refused: Rejected | None) -> str | None:
    return None if refused is None else f"{refused.code}: {refused.message}"


def _wanted(action: RecordedAction) -> dict[str, int]:
    return {action.do: action.to if action.do in ("bet", "raise") else action.amount}
