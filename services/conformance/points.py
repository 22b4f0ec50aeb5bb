"""What a turn offers, and what a fault case says about moments of a hand."""

from contracts.events.state import Turn
from services.conformance.findings import Findings
from services.conformance.play import Playing
from services.conformance.recorded import Expected, ExpectedOptions


def offer(turn: Turn) -> dict[str, object]:
    """What a turn offers, as a reader of differences wants to see it."""
    return {"fold": True, "check": turn.check, "call": turn.call, turn.wager or "raise": [turn.minimum, turn.maximum]}


def compare_points(playing: Playing, expect: Expected | None, done: int, findings: Findings) -> None:
    """Compares what a fault case says about the moment after `done` actions."""
    if expect is None:
        return
    state = playing.table.hand
    turn = state.open_turn if state is not None else None
    for point in expect.options_at:
        if point.after_action == done:
            findings.compare(f"seat to act after action {done}", point.seat, turn.seat if turn else None)
            findings.compare(f"options after action {done}", point.options, _options(turn))
    for pot in expect.pot_at:
        if pot.after_action == done:
            findings.compare(f"pot after action {done}", pot.pot, state.pot if state is not None else None)
    if expect.no_action_after == done:
        findings.compare(f"nobody is to act after action {done}", None, offer(turn) if turn else None)


def _options(turn: Turn | None) -> ExpectedOptions | None:
    if turn is None:
        return None
    return ExpectedOptions(fold=True, check=turn.check, call=turn.call, raise_min=turn.minimum, raise_max=turn.maximum)
