"""Events that the pot settlement emits."""

from contracts.cards import Card, SeatAmount
from contracts.data import Chips, Data, Seat
from contracts.events.base import Event


class ShownHand(Data, frozen=True):
    """A hand laid open at the showdown: its hole cards, and in words what it is worth; `low` only where it counts."""

    seat: Seat
    cards: tuple[Card, ...]
    high: str
    low: str | None = None


class HandsShown(Event, tag="hands_shown", frozen=True):
    """These players showed, in this order (R81 to R86)."""

    hands: tuple[ShownHand, ...]


class HandsMucked(Event, tag="hands_mucked", frozen=True):
    """These players gave up without showing (R84)."""

    seats: tuple[Seat, ...]


class Share(Data, frozen=True):
    """A winner's part of one division; `odd_chips` of `amount` came by the order of odd chips (R100)."""

    seat: Seat
    amount: Chips
    odd_chips: Chips = 0


class Division(Data, frozen=True):
    """A pot, or one half of it, shared by the best hands: `hand` says what won (empty: nobody had to show)."""

    amount: Chips
    shares: tuple[Share, ...]
    hand: str = ""


class PotAward(Data, frozen=True):
    """How one pot was paid: `amount` before `rake`; `low` only where a low qualified and other players won it (R101).

    `scooped_low`: the winners of the high also won the low, so that the pot was divided once (R103).
    """

    amount: Chips
    rake: Chips
    seats: tuple[Seat, ...]
    high: Division
    low: Division | None = None
    scooped_low: str = ""
    uncontested: bool = False


class PotsAwarded(Event, tag="pots_awarded", frozen=True):
    """All pots of the hand are paid, main pot first (R80, R99 to R105); `payouts` is the sum for each winner."""

    pots: tuple[PotAward, ...]
    payouts: tuple[SeatAmount, ...]


type SettlementEvent = HandsShown | HandsMucked | PotsAwarded
