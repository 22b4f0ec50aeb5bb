"""Where the button and the blinds of the next hand are, and who is dealt in (R12 to R18, R22 to R25, R28, R29)."""

from collections.abc import Iterable
from hashlib import sha256
from typing import Final, NamedTuple

from contracts.data import Seat
from contracts.events.state import Owed, Positions, SeatRecord
from contracts.games import Options
from services.aggregate.debts import PLAYERS_TO_START, players_ready
from services.aggregate.table import Table
from services.table.betting.turn import clockwise
from services.table.missed_blinds import missed, skipped

DEAD_PLACES_FROM_RULES: Final = 2
"""From these rules on a hand says where a dead small blind would stand, and nobody comes in on a dead button."""
SKIPPED_FROM_RULES: Final = 2
"""From these rules on who was passed over by the big blind is in good standing, and may have the button."""
ALL_DEBTS_FROM_RULES: Final = 3
"""From these rules on a fresh start wipes the debts of all who hold a seat, not of those alone who are dealt in."""
GOOD_STANDING: Final[tuple[Owed, ...]] = ("none", "skipped")
"""Who owes no blind, but for one that somebody else's leaving took the turn of (R14, R28)."""


class Seating(NamedTuple):
    """The next hand before its posts.

    `dealt`: who is dealt in, by seat; `waiting`: who plays but has to wait; `extra`: what is posted besides the
    blinds, by seat (R23, R25); `owes`: what each seat owes from this hand on; `fresh`: debts were wiped (R29).
    """

    positions: Positions
    dealt: tuple[Seat, ...]
    waiting: tuple[Seat, ...]
    extra: dict[Seat, Owed]
    owes: dict[Seat, Owed]
    fresh: bool


def seating(table: Table) -> Seating | None:
    """The seating of the next hand; None: fewer than two could play (R12).

    Raises ValueError on a table that was never opened.
    """
    options = _options(table)
    ready = players_ready(table)
    if len(ready) < PLAYERS_TO_START:
        return None
    good = [record.seat for record in ready if record.owes in GOOD_STANDING]
    if len(good) < PLAYERS_TO_START:
        return _fresh_start(table, ready)
    if table.last is None:
        return _fresh_start(table, ready)
    if options.button_mode == "dead":
        return _seated(table, ready, good, _dead_button(table, table.last, good, ready))
    return _seated(table, ready, good, _blinds_after(table, _next(good, table.last.button), good, ready))


def _options(table: Table) -> Options:
    if table.config is None:
        raise ValueError(f"table {table.id} has not been opened")
    return table.config.options


def _next(seats: Iterable[Seat], after: Seat) -> Seat:
    """The first of these seats clockwise from `after`, which itself comes last."""
    return min(seats, key=lambda seat: clockwise(seat, after))


def _first_button(table: Table, ready: list[SeatRecord]) -> Seat:
    """Who has the button where there was none before (R13).

    A random draw is SHA-256 over table, hand and the log's head, so that anyone can draw it again.
    """
    option = _options(table).first_button
    if option == "first_to_sit":
        return min(ready, key=lambda record: record.sat).seat
    if option == "lowest_seat":
        return min(record.seat for record in ready)
    draw = sha256(f"{table.id} {table.hands + 1} {table.head}".encode()).digest()
    return ready[int.from_bytes(draw) % len(ready)].seat


def _fresh_start(table: Table, ready: list[SeatRecord]) -> Seating:
    """All debts are wiped and the button moves on by one player (R29); before rules 3 who sits out keeps a debt."""
    seats = [record.seat for record in ready]
    button = _first_button(table, ready) if table.last is None else _next(seats, table.last.button)
    owes = {record.seat: record.owes for record in table.seats.values()}
    wiped = table.seats if _options(table).rules >= ALL_DEBTS_FROM_RULES else seats
    owes |= dict.fromkeys(wiped, "none")
    return Seating(_blinds_after(table, button, seats, ready), tuple(seats), (), {}, owes, fresh=True)


def _blinds_after(table: Table, button: Seat, good: list[Seat], ready: list[SeatRecord]) -> Positions:
    """Both blinds left of a button held by a player (R16); the big blind may reach a player who waits for it (R22)."""
    small = _next(good, button)
    big = _next([record.seat for record in ready], small)
    if big == button:  # everybody else waits between the two
        return _heads_up(table, button, small)
    return Positions(button=button, small_blind=small, big_blind=big)


def _heads_up(table: Table, button: Seat, other: Seat) -> Positions:
    """Two players: the button has the small blind (R17), and nobody the big blind twice running (R18)."""
    big = other
    if table.last is not None and table.last.big_blind == big:
        button, big = other, button
    if _options(table).heads_up_button == "big_blind":
        return Positions(button=big, small_blind=button, big_blind=big)
    return Positions(button=button, small_blind=button, big_blind=big)


def _dead_button(table: Table, last: Positions, good: list[Seat], ready: list[SeatRecord]) -> Positions:
    """The big blind moves on by one player, small blind and button to where big and small blind were (R15)."""
    last_big = last.big_blind if last.big_blind is not None else last.button
    big = _next([record.seat for record in ready], last_big)
    button = _after_dead_small_blind(table, last, last_big) if last.small_blind is None else last.small_blind
    small = last_big if last_big in good and last_big != big else None
    in_hand = [seat for seat in good if seat != big]
    if len(in_hand) == 1 and not any(_posts(table, record, button, big) for record in ready):
        other = in_hand[0]
        if _options(table).heads_up_button == "big_blind":
            return Positions(button=button, small_blind=other, big_blind=big)
        return Positions(button=other, small_blind=other, big_blind=big)
    dead = last_big if small is None and _options(table).rules >= DEAD_PLACES_FROM_RULES else None
    return Positions(button=button, small_blind=small, big_blind=big, dead_small_blind=dead)


def _after_dead_small_blind(table: Table, last: Positions, last_big: Seat) -> Seat:
    """The button goes to where the small blind was dead; before rules 2 the log does not say where that was."""
    return last.dead_small_blind if last.dead_small_blind is not None else _seat_before(table, last_big)


def _seat_before(table: Table, seat: Seat) -> Seat:
    """The seat right of `seat`: where a dead small blind was, as far as the order of play is concerned."""
    assert table.config is not None  # as `_options` has seen
    return seat - 1 if seat > 1 else table.config.seats


def _posts(table: Table, record: SeatRecord, button: Seat, big: Seat) -> bool:
    """Whether this player posts out of turn: owes, wants to, and does not sit between button and big blind (R22).

    Nor on the button, where that is not a player's: before rules 2 a newcomer to its seat could.
    """
    if record.owes == "skipped":
        return clockwise(record.seat, button) > clockwise(big, button)
    owing = record.owes != "none" and record.choice == "post"
    if record.seat == button and _options(table).rules >= DEAD_PLACES_FROM_RULES:
        return False
    return owing and clockwise(record.seat, button) > clockwise(big, button)


def _seated(table: Table, ready: list[SeatRecord], good: list[Seat], positions: Positions) -> Seating:
    button, big = positions.button, positions.big_blind
    assert big is not None  # every hand has a big blind
    heads_up = button in (positions.small_blind, big)
    extra = {record.seat: record.owes for record in ready if not heads_up and _posts(table, record, button, big)}
    dealt = tuple(sorted({*good, big, *extra}))
    owes = {record.seat: missed(record, table.last, positions) for record in table.seats.values()}
    owes |= {seat: "none" for seat in dealt if heads_up or seat in extra or seat == big or owes[seat] != "skipped"}
    if _options(table).skipped_blind_policy == "post" and table.last is not None:
        named: Owed = "skipped" if _options(table).rules >= SKIPPED_FROM_RULES else "missed_big"
        owes |= dict.fromkeys(skipped(good, table.last, positions), named)
    waiting = tuple(record.seat for record in ready if record.seat not in dealt)
    return Seating(positions, dealt, waiting, extra, owes, fresh=False)
