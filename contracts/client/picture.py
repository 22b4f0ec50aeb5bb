"""A table as its public views show it, one after the other: the same picture that `query.table` answers with.

Like the fold of the log, it assigns what an event says and computes nothing but when the open turn is over.
"""

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from contracts.data import Seat
from contracts.events import Event, dealer, seats, settlement, table
from contracts.events.state import Betting, SeatRecord, TableRecord, Turn
from contracts.public import public_reservation, public_seat, public_seat_in_hand, turn_ends
from contracts.queries import PublicTable
from contracts.views import PublicView

replace = msgspec.structs.replace

NO_HAND: Final[dict[str, Any]] = {
    "in_hand": False,
    "pot": 0,
    "pots": (),
    "board": (),
    "betting": Betting(),
    "turn": None,
    "turn_number": None,
    "turn_opened": None,
    "turn_extra_ms": 0,
    "turn_ends": None,
    "deck": (),
    "dealt": (),
    "cards_each": 0,
    "board_salts": (),
    "opened": (),
}
"""What a picture shows between hands."""


def after(before: PublicTable | None, view: PublicView) -> PublicTable:
    """The picture after one more view, the next one; None before is a table that is opened by it.

    Raises LookupError or AttributeError where the view does not follow on the picture.
    """
    drawing = Drawing(before if before is not None else _opened(view), view)
    for event in view.events:
        draw = _DRAW.get(type(event))
        if draw is not None:
            draw(drawing, event)
    return drawing.done()


def _opened(view: PublicView) -> PublicTable:
    """A table of which nobody has seen anything yet. Raises LookupError for what is not its first view."""
    first = next((event for event in view.events if isinstance(event, table.TableOpened)), None)
    if first is None:
        raise LookupError(f"commit {view.n} does not open table {view.table}")
    return PublicTable(
        room=view.room,
        table=view.table,
        n=view.n,
        head=view.head,
        config=first.config,
        status="open",
        hand=0,
        in_hand=False,
        seats=(),
    )


class Drawing:
    """A picture at which one view is being drawn."""

    def __init__(self, before: PublicTable, view: PublicView) -> None:
        self.view = view
        self.seats = {seat.seat: seat for seat in before.seats}
        self.reservations = {kept.seat: kept for kept in before.reservations}
        self._before = before
        self._changes: dict[str, Any] = {"n": view.n, "head": view.head}

    def done(self) -> PublicTable:
        """The picture after the view."""
        self.change(seats=tuple(self.seats.values()), reservations=tuple(self.reservations.values()))
        return replace(self._before, **self._changes)

    def of(self, field: str) -> Any:  # noqa: ANN401 - any field of the picture
        """A field of the picture, as far as it is drawn."""
        return self._changes[field] if field in self._changes else getattr(self._before, field)

    def change(self, **changes: object) -> None:
        """Changes fields of the picture."""
        self._changes |= changes

    def change_seat(self, seat: Seat, **changes: object) -> None:
        """Changes fields of a held seat. Raises KeyError where nobody holds it."""
        self.seats[seat] = replace(self.seats[seat], **changes)

    def name_turn(self, turn: Turn | None) -> None:
        """Names the open turn, or that there is none."""
        self.change(turn=turn, turn_extra_ms=0)
        self.open_turn(is_open=turn is not None)

    def open_turn(self, *, is_open: bool) -> None:
        """Says whether the turn that was named last can be acted on."""
        self.change(turn_number=self.view.n if is_open else None, turn_opened=self.view.at if is_open else None)
        self.set_end()

    def set_end(self) -> None:
        """Says when the open turn is over."""
        self.change(turn_ends=turn_ends(self.of("turn"), self.of("turn_opened"), self.of("turn_extra_ms")))

    def restate_seats(self, records: Iterable[SeatRecord]) -> None:
        """Shows these seats, and no others."""
        self.seats = {record.seat: public_seat(record) for record in records}

    def end_hand(self) -> None:
        """Shows no hand any more; a configuration that waited for its end is in force."""
        config = self.of("next_config")
        self.change(**NO_HAND, config=config if config is not None else self.of("config"), next_config=None)


def _options_changed(drawing: Drawing, event: table.OptionsChanged) -> None:
    drawing.change(**{"next_config" if drawing.of("in_hand") else "config": event.config})


def _restate(drawing: Drawing, record: TableRecord) -> None:
    drawing.change(config=record.config, status=record.status, hand=record.hands, waiting=record.waiting)
    drawing.change(button=record.last.button if record.last is not None else None)
    drawing.restate_seats(record.seats)
    drawing.reservations = {kept.seat: public_reservation(kept) for kept in record.reservations}


def _hand_started(drawing: Drawing, event: table.HandStarted) -> None:
    _restate(drawing, event.table)
    drawing.change(**{**NO_HAND, "in_hand": True}, hand=event.number, button=event.positions.button)
    drawing.change(pot=event.pot, betting=event.betting, turn=event.turn)
    for player in event.players:
        drawing.seats[player.seat] = public_seat_in_hand(drawing.seats[player.seat], player)


def _acted(drawing: Drawing, event: table.ActionTaken) -> None:
    drawing.change_seat(event.seat, stack=event.stack, street_total=event.street_total, folded=event.action == "fold")
    drawing.change(pot=event.pot, betting=event.betting)
    _bank(drawing, event.seat, event.bank_left)
    drawing.name_turn(event.turn)


def _bank(drawing: Drawing, seat: Seat, left: int | None) -> None:
    if left is not None:
        drawing.change_seat(seat, time_bank=left)


def _protected(drawing: Drawing, event: table.PlayerProtected) -> None:
    drawing.change_seat(event.seat, protected=True)
    drawing.change(betting=event.betting)
    _bank(drawing, event.seat, event.bank_left)
    drawing.name_turn(event.turn)


def _extended(drawing: Drawing, event: table.TurnExtended) -> None:
    drawing.change(turn_extra_ms=event.extra_ms)
    drawing.set_end()


def _uncalled(drawing: Drawing, event: table.UncalledBetReturned) -> None:
    drawing.change_seat(event.seat, stack=event.stack, street_total=event.street_total)
    drawing.change(pot=event.pot)


def _street_closed(drawing: Drawing, event: table.StreetClosed) -> None:
    drawing.change(pots=event.pots, betting=event.betting, turn=event.turn)
    for seat in [each.seat for each in drawing.seats.values() if each.in_hand]:
        drawing.change_seat(seat, street_total=0)
    drawing.open_turn(is_open=False)


def _betting_closed(drawing: Drawing, event: table.BettingClosed) -> None:
    drawing.change(pots=event.pots, turn=None)
    drawing.open_turn(is_open=False)


def _hand_ended(drawing: Drawing, event: table.HandEnded) -> None:
    for seat in drawing.seats:
        drawing.change_seat(seat, in_hand=False, folded=False, street_total=0, protected=False)
    for stack in event.stacks:
        drawing.change_seat(stack.seat, stack=stack.amount)
    drawing.end_hand()


def _voided(drawing: Drawing, event: table.HandVoided) -> None:
    drawing.restate_seats(event.seats)
    drawing.change(button=event.last.button if event.last is not None else None)
    drawing.end_hand()


def _dealt(drawing: Drawing, event: dealer.HoleCardsDealt) -> None:
    drawing.change(dealt=event.seats, cards_each=event.cards_each)
    drawing.name_turn(drawing.of("turn"))


def _board_dealt(drawing: Drawing, event: dealer.BoardDealt) -> None:
    drawing.change(board=(*drawing.of("board"), *(dealt.card for dealt in event.cards)))
    drawing.change(board_salts=(*drawing.of("board_salts"), *(dealt.salt for dealt in event.cards)))
    drawing.name_turn(drawing.of("turn"))


def _shown(drawing: Drawing, event: settlement.HandsShown) -> None:
    showing = {hand.seat for hand in event.hands}  # a second player may show in the same commit, after one who mucked
    opened = (hand for hand in drawing.view.opened if hand.seat in showing)
    drawing.change(opened=(*drawing.of("opened"), *opened))


def _seated(drawing: Drawing, event: table.PlayerSeated) -> None:
    drawing.seats[event.record.seat] = public_seat(event.record)
    drawing.reservations.pop(event.record.seat, None)


def _left(drawing: Drawing, event: table.PlayerLeft) -> None:
    del drawing.seats[event.seat]


def _reserved(drawing: Drawing, event: seats.SeatReserved) -> None:
    drawing.reservations[event.reservation.seat] = public_reservation(event.reservation)


def _released(drawing: Drawing, event: seats.SeatReleased) -> None:
    del drawing.reservations[event.seat]


def _sat_out(drawing: Drawing, event: table.PlayerSatOut) -> None:
    drawing.change_seat(event.seat, sitting_out=True, sat_out_at=event.at)


def _returned(drawing: Drawing, event: table.PlayerReturned) -> None:
    drawing.change_seat(event.seat, sitting_out=False, owes=event.owes, sat_out_at=None)


_DRAW: Final[dict[type[Event], Callable[[Drawing, Any], None]]] = {
    table.OptionsChanged: _options_changed,
    table.TablePaused: lambda drawing, _: drawing.change(status="paused"),
    table.TableResumed: lambda drawing, _: drawing.change(status="open"),
    table.TableClosed: lambda drawing, _: drawing.change(status="closed"),
    table.TableRestated: lambda drawing, event: _restate(drawing, event.table),
    table.HandStarted: _hand_started,
    table.ActionTaken: _acted,
    table.TurnExtended: _extended,
    table.PlayerProtected: _protected,
    table.UncalledBetReturned: _uncalled,
    table.StreetClosed: _street_closed,
    table.BettingClosed: _betting_closed,
    table.HandEnded: _hand_ended,
    table.HandVoided: _voided,
    table.PlayerSeated: _seated,
    table.PlayerLeft: _left,
    table.PlayerSatOut: _sat_out,
    table.PlayerReturned: _returned,
    seats.SeatReserved: _reserved,
    seats.SeatReleased: _released,
    seats.WaitingListChanged: lambda drawing, event: drawing.change(waiting=event.players),
    seats.PresenceChanged: lambda drawing, event: drawing.change_seat(event.seat, connected=event.connected),
    seats.StackToppedUp: lambda drawing, event: drawing.change_seat(event.seat, stack=event.stack),
    seats.StackAdjusted: lambda drawing, event: drawing.change_seat(event.seat, stack=event.stack),
    seats.BlindsMissed: lambda drawing, event: drawing.change_seat(event.seat, owes=event.owes),
    dealer.DeckShuffled: lambda drawing, event: drawing.change(deck=event.hashes),
    dealer.HoleCardsDealt: _dealt,
    dealer.BoardDealt: _board_dealt,
    settlement.HandsShown: _shown,
}
"""What each event changes; the others change nothing that a picture shows."""
