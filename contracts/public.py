"""How seats, reservations and the open turn look to everybody: as views answers, and as a client draws it."""

import msgspec

from contracts.data import Instant, Milliseconds
from contracts.events.state import HandPlayer, Reservation, SeatRecord, Turn
from contracts.lasting import later
from contracts.queries import PublicReservation, PublicSeat


def public_seat(record: SeatRecord) -> PublicSeat:
    """A held seat between hands, or of who is not dealt in."""
    return PublicSeat(
        seat=record.seat,
        player=record.player,
        stack=record.stack,
        sitting_out=record.sitting_out,
        connected=record.connected,
        time_bank=record.time_bank,
        sat_out_at=record.sat_out_at,
        owes=record.owes,
    )


def public_seat_in_hand(seat: PublicSeat, player: HandPlayer) -> PublicSeat:
    """The seat of a player who is dealt in."""
    return msgspec.structs.replace(
        seat,
        stack=player.stack,
        in_hand=True,
        folded=player.folded,
        street_total=player.street_total,
        protected=player.protected,
    )


def public_reservation(kept: Reservation) -> PublicReservation:
    """A kept seat, without the chips that are asked for."""
    return PublicReservation(seat=kept.seat, player=kept.player, expires=kept.expires)


def turn_ends(turn: Turn | None, opened: Instant | None, extra_ms: Milliseconds) -> Instant | None:
    """When a turn is over, as all are told; None for one that is not open.

    That its player has asked to go, and goes at once, is hidden.
    """
    if turn is None or opened is None:
        return None
    return later(opened, turn.act_ms + turn.bank_ms + extra_ms)
