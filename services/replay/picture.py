"""A table's state after one commit, as text and as a record: what an operator asks for with `replay --at`."""

from collections.abc import Iterator
from typing import Any

import msgspec

from contracts.cards import Street
from contracts.lasting import later
from services.aggregate.debts import debt
from services.aggregate.table import Hand, Table
from services.replay.narration import moment
from services.replay.phrases import pots_of


def picture(table: Table) -> Iterator[str]:
    """The state in lines. Nobody's hole cards are in it."""
    yield f"Table {table.id} after commit {table.n} ({table.head}), {table.status}, hand {table.hands}"
    if table.at is not None:
        yield f"at {moment(table.at)}"
    if table.hand is not None:
        yield from _hand(table.hand)
    for seat in sorted(table.seats):
        yield _seat(table, seat)
    for seat in sorted(table.reservations):
        kept = table.reservations[seat]
        asked = f", the cashier is asked for {kept.buy_in} (request {kept.number})" if kept.buy_in else ""
        yield f"Seat {seat}: kept for {kept.player} until {moment(kept.expires)}{asked}"
    if table.waiting:
        yield f"Waiting for a seat: {', '.join(table.waiting)}"
    if table.next_config is not None:
        yield "The options change with the next hand"
    owed = debt(table)
    if owed is not None:
        when = f", due {moment(owed.due)}" if owed.due is not None else ", at once"
        street = f" ({owed.street})" if owed.street is not None else ""
        yield f"Owed by {owed.service}: {owed.duty}{street}{when}"


def _hand(hand: Hand) -> Iterator[str]:
    positions = hand.positions
    level = "" if _is_between_streets(hand) else f", wager level {hand.betting.level}"
    yield f"{_stage(hand)}, board [{' '.join(hand.board)}], pot {hand.pot}{level}"
    yield f"Button {positions.button}, small blind {positions.small_blind}, big blind {positions.big_blind}"
    yield from pots_of(hand.pots)
    turn = hand.turn
    if turn is not None:
        opened = f"opened by commit {hand.turn_number}" if hand.turn_number is not None else "opens with the deal"
        options = ["fold", *(["check"] if turn.check else []), *([f"call {turn.call}"] if turn.call else [])]
        if turn.wager is not None:
            options.append(f"{turn.wager} to {turn.minimum}..{turn.maximum}")
        yield f"Turn: seat {turn.seat} ({', '.join(options)}), {opened}{_until(hand)}"


def _until(hand: Hand) -> str:
    """When the open turn is over; said of those that may last longer than the table's usual time."""
    turn = hand.turn
    if turn is None or hand.turn_opened is None or not (turn.bank_ms or hand.extra_ms):
        return ""
    ends = moment(later(hand.turn_opened, turn.act_ms + turn.bank_ms + hand.extra_ms))
    parts = [
        *([f"{turn.bank_ms / 1000:g} s of time bank"] if turn.bank_ms else []),
        *([f"{hand.extra_ms / 1000:g} s of extra time"] if hand.extra_ms else []),
    ]
    return f", ends {ends} with {' and '.join(parts)}"


def _is_between_streets(hand: Hand) -> bool:
    """Whether nobody can bet for now, or any more: the board goes on, or the cards are shown."""
    return hand.closed is not None or _dealt(hand) != hand.street


def _dealt(hand: Hand) -> Street:
    return hand.boards[-1].street if hand.boards else "preflop"


def _stage(hand: Hand) -> str:
    """Where the hand is: in a betting round, before one, or past the last one, whatever is dealt meanwhile."""
    if hand.closed is not None:
        return "All betting is over"
    if hand.deal is None:
        return "Pre-flop cards are to be dealt"
    if _is_between_streets(hand):
        return f"The {hand.street} is to be dealt"
    return "Betting before the flop" if hand.street == "preflop" else f"Betting on the {hand.street}"


def _seat(table: Table, seat: int) -> str:
    record = table.seats[seat]
    player = table.hand.players.get(seat) if table.hand is not None else None
    marks = [
        *(["sitting out"] if record.sitting_out else []),
        *(["away"] if record.away else []),
        *(["leaving"] if record.leaving else []),
        *([f"owes {record.owes}"] if record.owes != "none" else []),
        *([f"adds {record.top_up} after the hand"] if record.top_up else []),
        *([f"asks for {record.requested} (request {record.request})"] if record.request is not None else []),
        *([] if record.connected else ["disconnected"]),
        *([f"time bank {record.time_bank / 1000:g} s"] if record.time_bank else []),
    ]
    if player is None:
        state = f"{record.stack}"
    else:
        folded = ", folded" if player.folded else ", counts as all-in" if player.protected else ""
        state = f"{player.stack} behind, {player.street_total} on this street, {player.total} in the hand{folded}"
    return f"Seat {seat}: {record.player}, {state}{''.join(f', {mark}' for mark in marks)}"


def record(table: Table) -> dict[str, Any]:
    """The state as plain values, without the hole cards that the log may hold by then."""
    shown = table.copy()
    shown.accepted = {}
    if shown.hand is not None:
        shown.hand.revealed = None
    plain: dict[str, Any] = msgspec.to_builtins(shown, str_keys=True)
    return plain
