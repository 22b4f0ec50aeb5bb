"""What everybody may see of a table: events without what they hide, and the picture of the whole (DESIGN 5)."""

import msgspec

from contracts.commit import Commit
from contracts.data import Sha256
from contracts.events import AnyEvent
from contracts.events.dealer import DeckShuffled, HandKeyRevealed, HandsRevealed, SealedSeed
from contracts.events.seats import TopUpQueued
from contracts.events.state import SeatRecord, TableRecord
from contracts.events.table import CommandRefused, HandStarted, LeaveRequested, SitOutRequested, TableRestated
from contracts.queries import PublicSeat, PublicTable
from contracts.views import PublicView
from services.aggregate.table import Hand, Table

replace = msgspec.structs.replace


def public_view(room: str, commit: Commit, head: Sha256) -> PublicView:
    """The view of one commit; there is one for every commit, so that a reader sees a gap."""
    events = tuple(shown for event in commit.events if (shown := public_event(event)) is not None)
    return PublicView(
        room=room,
        table=commit.table,
        n=commit.n,
        previous=commit.n - 1,
        head=head,
        hand=commit.hand,
        at=commit.at,
        events=events,
    )


def public_event(event: AnyEvent) -> AnyEvent | None:
    """The event without what is hidden in it; None where nothing is left.

    Left out are cards that may be mucked, what only operators are told, and what would give away a player's next
    decision.
    """
    match event:
        case (
            HandsRevealed()
            | HandKeyRevealed()
            | SitOutRequested()
            | LeaveRequested()
            | TopUpQueued()
            | CommandRefused()
        ):
            return None
        case DeckShuffled():
            return replace(event, seed=SealedSeed(key_id=event.seed.key_id, nonce="", ciphertext=""))
        case HandStarted() | TableRestated():
            return replace(event, table=_public_record(event.table))
        case _:
            return event


def _public_record(record: TableRecord) -> TableRecord:
    seats = tuple(_public_seat_record(seat) for seat in record.seats)
    return replace(record, seats=seats, accepted=(), departures=())


def _public_seat_record(seat: SeatRecord) -> SeatRecord:
    return replace(seat, away=False, leaving=False, top_up=0)


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
        seats=tuple(_public_seat(record, hand) for record in table.seats.values()),
        button=table.last.button if table.last is not None else None,
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
    )


def _public_seat(record: SeatRecord, hand: Hand | None) -> PublicSeat:
    player = hand.players.get(record.seat) if hand is not None else None
    if player is None or player.player != record.player:
        return PublicSeat(seat=record.seat, player=record.player, stack=record.stack, sitting_out=record.sitting_out)
    return PublicSeat(
        seat=record.seat,
        player=record.player,
        stack=player.stack,
        sitting_out=record.sitting_out,
        in_hand=True,
        folded=player.folded,
        street_total=player.street_total,
    )
