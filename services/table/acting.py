"""Whether a player's decision is legal, and what it comes to (R38 to R41, R51)."""

from contracts.commands import Act
from contracts.commit import Cause
from contracts.data import Chips, Instant
from contracts.events import AnyEvent
from contracts.events.state import Action, Turn
from contracts.events.table import PlayerReturned
from contracts.games import TableConfig
from contracts.outcomes import Allowed, Rejected
from services.aggregate.evolve import replace
from services.aggregate.table import Hand, Table
from services.table import play
from services.table.refusals import actions, legal, refuse
from services.table.seats import record_of
from services.table.time_banks import banks


def act(table: Table, config: TableConfig, cause: Cause, command: Act, at: Instant) -> tuple[AnyEvent, ...] | Rejected:
    """The events of a decision at one's turn, or why it is none; amounts are never corrected (R51).

    A decision is in time as long as the log does not say that the time ran out.
    """
    hand = table.hand
    if hand is None:
        return refuse(
            table, cause, "no_hand", "No hand is in progress; decisions are taken in a hand.", Allowed(hand=table.hands)
        )
    record = record_of(table, cause, None)
    if isinstance(record, Rejected):
        return record
    turn = hand.open_turn
    if turn is None or turn.seat != record.seat:
        return refuse(table, cause, "not_your_turn", _whose_turn(hand), legal(hand))
    if command.turn != hand.turn_number:
        message = f"Turn {hand.turn_number} is open, not {command.turn}."
        return refuse(table, cause, "stale", message, legal(hand))
    decision = _decision(table, config, cause, command, turn)
    if isinstance(decision, Rejected):
        return decision
    action, amount = decision
    held = banks(config.options, table.seats.values())
    events = play.act(config, hand, hand.players[turn.seat], action, amount, at, held)
    if record.away:  # a game action says that the player is back (R119)
        return PlayerReturned(seat=record.seat, owes=record.owes, choice=record.choice), *events
    return events


def _whose_turn(hand: Hand) -> str:
    turn = hand.open_turn
    return (
        f"It is seat {turn.seat}'s turn." if turn is not None else "No turn is open; the next one opens with the deal."
    )


def _decision(
    table: Table, config: TableConfig, cause: Cause, command: Act, turn: Turn
) -> tuple[Action, Chips] | Rejected:
    """The action and the chips that it adds."""
    action, hand = command.action, table.hand
    assert hand is not None  # the turn is a hand's
    if action in ("bet", "raise"):
        return _wager(table, config, cause, command, turn)
    if command.to is not None:
        message = f"Only a bet or a raise names an amount to reach; {action} does not."
        return refuse(table, cause, "illegal_action", message, legal(hand))
    if action == "fold" or (action == "check" and turn.check):
        return action, 0
    if action == "call" and turn.call is not None:
        return action, turn.call
    if action == "all_in" and turn.wager is not None and turn.maximum is not None:
        return turn.wager, turn.maximum - hand.players[turn.seat].street_total
    if action == "all_in" and turn.call is not None:
        return "call", turn.call
    return refuse(table, cause, "illegal_action", _instead(command, turn), legal(hand))


def _instead(command: Act, turn: Turn) -> str:
    return f"The player cannot {command.action.replace('_', ' ')} here; legal: {', '.join(actions(turn))}."


def _wager(
    table: Table, config: TableConfig, cause: Cause, command: Act, turn: Turn
) -> tuple[Action, Chips] | Rejected:
    """The chips that a bet or raise adds, if its total lies within the turn's range (R53, R54, R58, R67)."""
    hand = table.hand
    assert hand is not None  # the turn is a hand's
    if command.action != turn.wager or turn.minimum is None or turn.maximum is None:
        return refuse(table, cause, "illegal_action", _instead(command, turn), legal(hand))
    if command.to is None:
        message = f"A {command.action} names the total to reach: {turn.minimum} to {turn.maximum}."
        return refuse(table, cause, "illegal_action", message, legal(hand))
    chip = config.options.odd_chip_unit
    allowed = legal(hand) if chip == 1 else replace(legal(hand), chip=chip)
    if command.to < turn.minimum:
        message = f"The least {command.action} is to {turn.minimum}{_unit(', then', chip)}; {command.to} is below it."
        return refuse(table, cause, "below_minimum", message, allowed)
    if command.to > turn.maximum:
        below = _unit(", below it", chip)
        message = f"The highest {command.action} is to {turn.maximum}{below}; {command.to} is above it."
        return refuse(table, cause, "above_maximum", message, allowed)
    if command.to % chip and command.to not in (turn.minimum, turn.maximum):
        message = f"A {command.action} is to a multiple of {chip}, the smallest chip here; {command.to} is none."
        return refuse(table, cause, "not_a_whole_chip", message, allowed)
    return turn.wager, command.to - hand.players[turn.seat].street_total


def _unit(where: str, chip: Chips) -> str:
    """How the amounts between the least and the highest go, where not every one is whole chips (R152)."""
    return "" if chip == 1 else f"{where} in multiples of {chip}"
