"""The fold of events: `evolve` assigns what an event says and computes nothing, so old logs fold the same for ever."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from contracts.data import Instant, Milliseconds, Seat
from contracts.events import Event
from contracts.events import dealer as dealer_events
from contracts.events import rake as rake_events
from contracts.events import settlement as settlement_events
from contracts.events import table as table_events
from contracts.events.state import SeatOwed, SeatRecord, TableRecord, Turn
from services.aggregate.evolve_seats import SEATS, change_seat
from services.aggregate.table import Hand, Table

replace = msgspec.structs.replace


def evolve(table: Table, event: Event) -> None:
    """Changes `table` to what it is after `event`; `table.n` and `table.at` are those of the event's commit.

    Raises KeyError or AttributeError where the event cannot follow on the table's state (R145).
    """
    _EVOLVE[type(event)](table, event)


def _hand(table: Table) -> Hand:
    if table.hand is None:
        message = f"table {table.id} has no hand at commit {table.n}"
        raise KeyError(message)
    return table.hand


def _opened(table: Table, event: table_events.TableOpened) -> None:
    table.config = event.config
    table.stated_n = table.n


def _options_changed(table: Table, event: table_events.OptionsChanged) -> None:
    if table.hand is None:
        table.config = event.config
    else:
        table.next_config = event.config


def _paused(table: Table, _: table_events.TablePaused) -> None:
    table.status = "paused"


def _resumed(table: Table, _: table_events.TableResumed) -> None:
    table.status = "open"


def _closed(table: Table, _: table_events.TableClosed) -> None:
    table.status = "closed"


def _at(table: Table) -> Instant:
    if table.at is None:
        message = f"table {table.id} is at no moment at commit {table.n}"
        raise KeyError(message)
    return table.at


def _restate(table: Table, record: TableRecord) -> None:
    table.config, table.status = record.config, record.status
    table.hands, table.sittings = record.hands, record.sittings
    table.seats = {seat.seat: seat for seat in record.seats}
    table.last, table.last_ended = record.last, record.last_ended
    table.accepted = {(known.actor.kind, known.actor.name, known.id): known for known in record.accepted}
    table.departures = record.departures
    table.reservations = {kept.seat: kept for kept in record.reservations}
    table.waiting, table.moved = record.waiting, record.moved
    table.stated_n = table.n


def _restated(table: Table, event: table_events.TableRestated) -> None:
    _restate(table, event.table)


def _before(record: TableRecord, owed: tuple[SeatOwed, ...]) -> tuple[SeatRecord, ...]:
    """The seats as they were before the hand: a table's record says what they owe from the hand on (R122)."""
    changed = {each.seat: msgspec.structs.asdict(each) for each in owed}
    return tuple(replace(seat, **changed[seat.seat]) if seat.seat in changed else seat for seat in record.seats)


def _hand_started(table: Table, event: table_events.HandStarted) -> None:
    _restate(table, event.table)
    table.hands = event.number
    table.last = event.positions
    table.hand = Hand(
        number=event.number,
        started_at=_at(table),
        started_n=table.n,
        rules=event.rules,
        positions=event.positions,
        players={player.seat: player for player in event.players},
        posts=event.posts,
        pot=event.pot,
        betting=event.betting,
        turn=event.turn,
        before=_before(event.table, event.owed),
        last_before=event.table.last,
    )


def _acted(table: Table, event: table_events.ActionTaken) -> None:
    hand = _hand(table)
    hand.players[event.seat] = replace(
        hand.players[event.seat],
        stack=event.stack,
        street_total=event.street_total,
        total=event.total,
        folded=event.action == "fold",
        acted=True,
        seen=event.betting.level,
    )
    hand.pot, hand.betting = event.pot, event.betting
    _bank(table, event.seat, event.bank_left)
    _name_turn(table, hand, event.turn)


def _bank(table: Table, seat: Seat, left: Milliseconds | None) -> None:
    if left is not None:
        change_seat(table, seat, time_bank=left)


def _protected(table: Table, event: table_events.PlayerProtected) -> None:
    hand = _hand(table)
    hand.players[event.seat] = replace(hand.players[event.seat], acted=True, seen=event.betting.level, protected=True)
    hand.betting = event.betting
    _bank(table, event.seat, event.bank_left)
    _name_turn(table, hand, event.turn)


def _turn_extended(table: Table, event: table_events.TurnExtended) -> None:
    _hand(table).extra_ms = event.extra_ms


def _name_turn(table: Table, hand: Hand, turn: Turn | None) -> None:
    hand.turn, hand.extra_ms = turn, 0
    hand.turn_number, hand.turn_opened = (table.n, table.at) if turn is not None else (None, None)


def _uncalled(table: Table, event: table_events.UncalledBetReturned) -> None:
    hand = _hand(table)
    hand.players[event.seat] = replace(
        hand.players[event.seat], stack=event.stack, street_total=event.street_total, total=event.total
    )
    hand.pot = event.pot


def _street_closed(table: Table, event: table_events.StreetClosed) -> None:
    hand = _hand(table)
    hand.street, hand.pots, hand.betting = event.opens, event.pots, event.betting
    hand.players = {seat: replace(player, street_total=0, acted=False, seen=0) for seat, player in hand.players.items()}
    hand.turn, hand.turn_number, hand.turn_opened = event.turn, None, None


def _betting_closed(table: Table, event: table_events.BettingClosed) -> None:
    hand = _hand(table)
    hand.closed, hand.pots = event, event.pots
    hand.turn, hand.turn_number, hand.turn_opened = None, None, None


def _hand_ended(table: Table, event: table_events.HandEnded) -> None:
    for stack in event.stacks:
        change_seat(table, stack.seat, stack=stack.amount)
    _over(table, event.ended_at)


def _over(table: Table, at: Instant) -> None:
    table.hand, table.last_ended = None, at
    if table.next_config is not None:
        table.config, table.next_config = table.next_config, None


def _voided(table: Table, event: table_events.HandVoided) -> None:
    table.seats = {record.seat: record for record in event.seats}
    table.last = event.last
    _over(table, event.voided_at)


def _shuffled(table: Table, event: dealer_events.DeckShuffled) -> None:
    _hand(table).deck = event


def _dealt(table: Table, event: dealer_events.HoleCardsDealt) -> None:
    hand = _hand(table)
    hand.deal = event
    _name_turn(table, hand, hand.turn)


def _board_dealt(table: Table, event: dealer_events.BoardDealt) -> None:
    hand = _hand(table)
    hand.boards = (*hand.boards, event)
    _name_turn(table, hand, hand.turn)


def _revealed(table: Table, event: dealer_events.HandsRevealed) -> None:
    _hand(table).revealed = event.hands


def _command_refused(_: Table, __: table_events.CommandRefused) -> None:
    """The fold remembers it beside the accepted commands; at the table it changes nothing."""


def _key_revealed(_: Table, __: dealer_events.HandKeyRevealed) -> None:
    """That a key was given out is kept in the log and changes nothing at the table."""


def _raked(table: Table, event: rake_events.RakeTaken) -> None:
    _hand(table).rake = event


def _shown(table: Table, event: settlement_events.HandsShown) -> None:
    hand = _hand(table)
    hand.shown = (*hand.shown, *(shown.seat for shown in event.hands))


def _mucked(table: Table, event: settlement_events.HandsMucked) -> None:
    hand = _hand(table)
    hand.mucked = (*hand.mucked, *event.seats)


def _awarded(table: Table, event: settlement_events.PotsAwarded) -> None:
    _hand(table).awards = event


_EVOLVE: Final[dict[type[Event], Callable[[Table, Any], None]]] = {
    **SEATS,
    table_events.TableOpened: _opened,
    table_events.OptionsChanged: _options_changed,
    table_events.TablePaused: _paused,
    table_events.TableResumed: _resumed,
    table_events.TableClosed: _closed,
    table_events.TableRestated: _restated,
    table_events.HandStarted: _hand_started,
    table_events.ActionTaken: _acted,
    table_events.TurnExtended: _turn_extended,
    table_events.PlayerProtected: _protected,
    table_events.UncalledBetReturned: _uncalled,
    table_events.StreetClosed: _street_closed,
    table_events.BettingClosed: _betting_closed,
    table_events.HandEnded: _hand_ended,
    table_events.HandVoided: _voided,
    table_events.CommandRefused: _command_refused,
    dealer_events.DeckShuffled: _shuffled,
    dealer_events.HoleCardsDealt: _dealt,
    dealer_events.BoardDealt: _board_dealt,
    dealer_events.HandsRevealed: _revealed,
    dealer_events.HandKeyRevealed: _key_revealed,
    rake_events.RakeTaken: _raked,
    settlement_events.HandsShown: _shown,
    settlement_events.HandsMucked: _mucked,
    settlement_events.PotsAwarded: _awarded,
}
