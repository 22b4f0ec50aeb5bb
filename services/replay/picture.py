"""A table's state after one commit, as text and as a record: what an operator asks for with `replay --at`."""

from collections.abc import Iterator
from typing import Any

import msgspec

from services.aggregate.debts import debt
from services.aggregate.table import Hand, Table


def picture(table: Table) -> Iterator[str]:
    """The state in lines. Nobody's hole cards are in it."""
    yield f"Table {table.id} after commit {table.n} ({table.head}), {table.status}, hand {table.hands}"
    if table.at is not None:
        yield f"at {table.at.isoformat()}"
    if table.hand is not None:
        yield from _hand(table.hand)
    for seat in sorted(table.seats):
        yield _seat(table, seat)
    owed = debt(table)
    if owed is not None:
        when = f", due {owed.due.isoformat()}" if owed.due is not None else ", at once"
        street = f" ({owed.street})" if owed.street is not None else ""
        yield f"Owed by {owed.service}: {owed.duty}{street}{when}"


def _hand(hand: Hand) -> Iterator[str]:
    positions = hand.positions
    yield f"Street {hand.street}, board [{' '.join(hand.board)}], pot {hand.pot}, wager level {hand.betting.level}"
    yield f"Button {positions.button}, small blind {positions.small_blind}, big blind {positions.big_blind}"
    for number, pot in enumerate(hand.pots):
        yield f"Pot {number}: {pot.amount}, seats {', '.join(map(str, pot.seats))}"
    turn = hand.turn
    if turn is not None:
        opened = f"opened by commit {hand.turn_number}" if hand.turn_number is not None else "opens with the deal"
        options = ["fold", *(["check"] if turn.check else []), *([f"call {turn.call}"] if turn.call else [])]
        if turn.wager is not None:
            options.append(f"{turn.wager} to {turn.minimum}..{turn.maximum}")
        yield f"Turn: seat {turn.seat} ({', '.join(options)}), {opened}"


def _seat(table: Table, seat: int) -> str:
    record = table.seats[seat]
    player = table.hand.players.get(seat) if table.hand is not None else None
    marks = [
        *(["sitting out"] if record.sitting_out else []),
        *(["away"] if record.away else []),
        *(["leaving"] if record.leaving else []),
        *([f"owes {record.owes}"] if record.owes != "none" else []),
        *([f"adds {record.top_up} after the hand"] if record.top_up else []),
    ]
    if player is None:
        state = f"{record.stack}"
    else:
        folded = ", folded" if player.folded else ""
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
