"""Plays on at a table as a vector needs it: decision by decision, as a rule of its own says."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from contracts.cards import Street
from contracts.commands import Act
from contracts.data import Chips, Seat
from contracts.events.state import SeatRecord, Turn
from services.aggregate.table import Hand
from services.conformance.findings import Findings
from services.conformance.play import Playing, player

type Word = Literal["fold", "check", "call", "bet", "raise", "all_in"]

type Decision = tuple[Word, Chips | None]
"""An action, and the street total that a bet or raise reaches."""

type Choice = Callable[[Hand, Turn], Decision | None]
"""What the player whose turn it is does; None: nothing, and the game stops there."""


def check_or_call(_: Hand, turn: Turn) -> Decision:
    """Puts in as little as possible, and never folds."""
    return "check" if turn.check else "call", None


def drive(playing: Playing, findings: Findings, choose: Choice) -> None:
    """Plays on until nobody is to act, or the player who is does nothing. Raises `Differing` on a refusal."""
    while (hand := playing.table.hand) is not None and (turn := hand.open_turn) is not None:
        chosen = choose(hand, turn)
        if chosen is None:
            return
        action, to = chosen
        name = f"a{playing.table.n}"
        act = Act(id=name, hand=hand.number, turn=hand.turn_number or 0, action=action, to=to)
        refused = playing.act(turn.seat, act)
        what = f"{action} of seat {turn.seat} on the {hand.street}"
        findings.require(f"{what}: accepted", None, None if refused is None else refused.message)


def putting_in(wanted: Mapping[Seat, Chips], streets: Mapping[Street, Chips]) -> Choice:
    """Has each player put so much into the hand: up to a common level a street; who has put in all of it, folds.

    On streets that are not named, nobody does anything.
    """

    def choose(hand: Hand, turn: Turn) -> Decision | None:
        if hand.street not in streets:
            return None
        own = hand.players[turn.seat]
        before = own.total - own.street_total
        aim = min(wanted.get(turn.seat, 0), streets[hand.street]) - before
        if turn.wager is not None and aim > hand.betting.level:
            return turn.wager, aim
        if turn.check:
            return "check", None
        return ("call", None) if own.total + (turn.call or 0) <= wanted.get(turn.seat, 0) else ("fold", None)

    return choose


def seats(stacks: Mapping[Seat, Chips]) -> Sequence[SeatRecord]:
    """Players who sat down in the order of their seats."""
    return [SeatRecord(seat=seat, player=player(seat), stack=stack, sat=seat) for seat, stack in stacks.items()]
