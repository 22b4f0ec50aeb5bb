"""What everybody may see of a table: events without what they hide, and the picture of the whole (DESIGN 5)."""

from collections.abc import Sequence

import msgspec

from contracts.cards import SeatCards
from contracts.commit import Commit
from contracts.data import Instant, Seat
from contracts.events import AnyEvent
from contracts.events.dealer import DeckShuffled, HandKeyRevealed, HandsRevealed, SealedSeed
from contracts.events.seats import SeatReleased, SeatReserved, TopUpQueued, TopUpReleased, TopUpRequested
from contracts.events.settlement import HandsShown
from contracts.events.state import Reservation, SeatRecord, TableRecord
from contracts.events.table import (
    CommandRefused,
    HandStarted,
    HandVoided,
    LeaveRequested,
    SitOutRequested,
    TableRestated,
)
from contracts.public import public_reservation, public_seat, public_seat_in_hand, turn_ends
from contracts.queries import PublicSeat, PublicTable
from contracts.views import PublicView
from services.aggregate.table import Hand, Table

replace = msgspec.structs.replace


def public_view(table: Table, commit: Commit) -> PublicView:
    """The view of a commit, of the table right after it; there is one for every commit, so that a reader sees a gap."""
    events = tuple(shown for event in commit.events if (shown := public_event(event)) is not None)
    view = PublicView(
        room=table.room,
        table=commit.table,
        n=commit.n,
        previous=commit.n - 1,
        head=table.head,
        hand=commit.hand,
        at=commit.at,
        events=events,
        opened=_opened_by(table, commit),
    )
    return view if table.hand is None else _in_hand(view, table.hand)


def _in_hand(view: PublicView, hand: Hand) -> PublicView:
    turn = hand.open_turn
    if turn is None:
        return replace(view, pot=hand.pot)
    return replace(view, pot=hand.pot, turn=turn, turn_number=hand.turn_number, turn_ends=_turn_ends(hand))


def _opened_by(table: Table, commit: Commit) -> tuple[SeatCards, ...]:
    """The hands that a commit lays open: of those who show alone (R84)."""
    seats = [shown.seat for event in commit.events if isinstance(event, HandsShown) for shown in event.hands]
    return _hands_of(table.hand, seats) if table.hand is not None and seats else ()


def _hands_of(hand: Hand, seats: Sequence[Seat]) -> tuple[SeatCards, ...]:
    revealed = {each.seat: each for each in hand.revealed or ()}
    return tuple(revealed[seat] for seat in seats if seat in revealed)


def public_event(event: AnyEvent) -> AnyEvent | None:
    """The event without what is hidden in it; None where nothing is left.

    Left out are cards that may be mucked, what only operators are told, what would give away a player's next decision,
    and what passes between a player and the cashier before the chips are on the table.
    """
    match event:
        case (
            HandsRevealed()
            | HandKeyRevealed()
            | SitOutRequested()
            | LeaveRequested()
            | TopUpQueued()
            | TopUpRequested()
            | TopUpReleased()
            | CommandRefused()
        ):
            return None
        case DeckShuffled():
            return replace(event, seed=SealedSeed(key_id=event.seed.key_id, nonce="", ciphertext=""))
        case HandStarted() | TableRestated():
            return replace(event, table=_public_record(event.table))
        case HandVoided():
            return replace(event, seats=tuple(map(_public_seat_record, event.seats)))
        case SeatReserved():
            return replace(event, reservation=_public_reservation_record(event.reservation))
        case SeatReleased():
            return replace(event, message="")
        case _:
            return event


def _public_record(record: TableRecord) -> TableRecord:
    return replace(
        record,
        seats=tuple(map(_public_seat_record, record.seats)),
        accepted=(),
        departures=(),
        reservations=tuple(map(_public_reservation_record, record.reservations)),
    )


def _public_seat_record(seat: SeatRecord) -> SeatRecord:
    return replace(
        seat, away=False, timed_out=False, leaving=False, top_up=0, request=None, requested=0, request_expires=None
    )


def _public_reservation_record(kept: Reservation) -> Reservation:
    """How many chips somebody wants to bring is shown when they are on the table."""
    return replace(kept, buy_in=0, choice="wait")


def public_table(table: Table) -> PublicTable | None:
    """The picture of a table as it is now; None for one that was never opened."""
    if table.config is None:
        return None
    hand = table.hand
    picture = PublicTable(
        room=table.room,
        table=table.id,
        n=table.n,
        head=table.head,
        config=table.config,
        status=table.status,
        hand=table.hands,
        in_hand=hand is not None,
        seats=tuple(_seat(record, hand) for record in table.seats.values()),
        button=table.last.button if table.last is not None else None,
        reservations=tuple(map(public_reservation, table.reservations.values())),
        waiting=table.waiting,
        next_config=table.next_config,
    )
    return picture if hand is None else _with_hand(picture, hand)


def _with_hand(picture: PublicTable, hand: Hand) -> PublicTable:
    return replace(
        picture,
        pot=hand.pot,
        pots=hand.pots,
        board=hand.board,
        betting=hand.betting,
        turn=hand.turn,
        turn_number=hand.turn_number,
        turn_opened=hand.turn_opened,
        turn_extra_ms=hand.extra_ms,
        turn_ends=_turn_ends(hand),
        deck=hand.deck.hashes if hand.deck is not None else (),
        dealt=hand.deal.seats if hand.deal is not None else (),
        cards_each=hand.deal.cards_each if hand.deal is not None else 0,
        board_salts=tuple(dealt.salt for board in hand.boards for dealt in board.cards),
        opened=_hands_of(hand, hand.shown),
    )


def _turn_ends(hand: Hand) -> Instant | None:
    return turn_ends(hand.turn, hand.turn_opened, hand.extra_ms)


def _seat(record: SeatRecord, hand: Hand | None) -> PublicSeat:
    seat = public_seat(record)
    player = hand.players.get(record.seat) if hand is not None else None
    return seat if player is None or player.player != record.player else public_seat_in_hand(seat, player)
