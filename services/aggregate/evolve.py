"""The fold of events: `evolve` assigns what an event says and computes nothing, so old logs fold the same for ever."""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from contracts.data import Seat
from contracts.events import Event
from contracts.events import dealer as dealer_events
from contracts.events import rake as rake_events
from contracts.events import settlement as settlement_events
from contracts.events import table as table_events
from contracts.events.state import Departure, TableRecord
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


def _seat(table: Table, seat: Seat, **changes: object) -> None:
    table.seats[seat] = replace(table.seats[seat], **changes)


def _opened(table: Table, event: table_events.TableOpened) -> None:
    table.config = event.config
    table.stated_n = table.n


def _options_changed(table: Table, event: table_events.OptionsChanged) -> None:
    table.config = event.config


def _paused(table: Table, _: table_events.TablePaused) -> None:
    table.status = "paused"


def _resumed(table: Table, _: table_events.TableResumed) -> None:
    table.status = "open"


def _closed(table: Table, _: table_events.TableClosed) -> None:
    table.status = "closed"


def _restate(table: Table, record: TableRecord) -> None:
    table.config, table.status = record.config, record.status
    table.hands, table.sittings = record.hands, record.sittings
    table.seats = {seat.seat: seat for seat in record.seats}
    table.last, table.last_ended = record.last, record.last_ended
    table.accepted = {(known.actor.kind, known.actor.name, known.id): known for known in record.accepted}
    table.departures = record.departures
    table.stated_n = table.n


def _restated(table: Table, event: table_events.TableRestated) -> None:
    _restate(table, event.table)


def _seated(table: Table, event: table_events.PlayerSeated) -> None:
    table.seats[event.record.seat] = event.record
    table.sittings = event.record.sat


def _post_chosen(table: Table, event: table_events.PostChosen) -> None:
    _seat(table, event.seat, choice=event.choice)


def _top_up_queued(table: Table, event: table_events.TopUpQueued) -> None:
    _seat(table, event.seat, top_up=event.queued)


def _topped_up(table: Table, event: table_events.StackToppedUp) -> None:
    _seat(table, event.seat, stack=event.stack, top_up=0)


def _sit_out_requested(table: Table, event: table_events.SitOutRequested) -> None:
    _seat(table, event.seat, away=True, timed_out=event.timed_out)


def _sat_out(table: Table, event: table_events.PlayerSatOut) -> None:
    _seat(table, event.seat, sitting_out=True, away=False, timed_out=False)


def _returned(table: Table, event: table_events.PlayerReturned) -> None:
    _seat(table, event.seat, sitting_out=False, away=False, timed_out=False, owes=event.owes, choice=event.choice)


def _leave_requested(table: Table, event: table_events.LeaveRequested) -> None:
    _seat(table, event.seat, leaving=True)


def _left(table: Table, event: table_events.PlayerLeft) -> None:
    del table.seats[event.seat]
    table.departures = (*table.departures, Departure(player=event.player, stack=event.stack, at=event.at))


def _blinds_missed(table: Table, event: table_events.BlindsMissed) -> None:
    _seat(table, event.seat, owes=event.owes)


def _hand_started(table: Table, event: table_events.HandStarted) -> None:
    _restate(table, event.table)
    table.hands = event.number
    table.last = event.positions
    table.hand = Hand(
        number=event.number,
        started_at=table.at,  # type: ignore[arg-type]
        started_n=table.n,
        rules=event.rules,
        positions=event.positions,
        players={player.seat: player for player in event.players},
        posts=event.posts,
        pot=event.pot,
        betting=event.betting,
        turn=event.turn,
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
    _name_turn(table, hand, event.turn)


def _name_turn(table: Table, hand: Hand, turn: Any) -> None:  # noqa: ANN401
    hand.turn = turn
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
        _seat(table, stack.seat, stack=stack.amount)
    table.hand = None
    table.last_ended = event.ended_at


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
    table_events.TableOpened: _opened,
    table_events.OptionsChanged: _options_changed,
    table_events.TablePaused: _paused,
    table_events.TableResumed: _resumed,
    table_events.TableClosed: _closed,
    table_events.TableRestated: _restated,
    table_events.PlayerSeated: _seated,
    table_events.PostChosen: _post_chosen,
    table_events.TopUpQueued: _top_up_queued,
    table_events.StackToppedUp: _topped_up,
    table_events.SitOutRequested: _sit_out_requested,
    table_events.PlayerSatOut: _sat_out,
    table_events.PlayerReturned: _returned,
    table_events.LeaveRequested: _leave_requested,
    table_events.PlayerLeft: _left,
    table_events.BlindsMissed: _blinds_missed,
    table_events.HandStarted: _hand_started,
    table_events.ActionTaken: _acted,
    table_events.UncalledBetReturned: _uncalled,
    table_events.StreetClosed: _street_closed,
    table_events.BettingClosed: _betting_closed,
    table_events.HandEnded: _hand_ended,
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
