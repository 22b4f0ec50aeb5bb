"""What the settlement owes: the hands shown or mucked, and the pots paid."""

from collections.abc import Iterator, Mapping
from itertools import groupby

from contracts.cards import Card, SeatAmount
from contracts.data import Chips, Instant, Seat
from contracts.events import AnyEvent
from contracts.events.settlement import HandsMucked, HandsShown, PotAward, PotsAwarded, ShownHand
from contracts.events.table import BettingClosed
from contracts.games import RULES_VERSION, Options, Variant
from services.aggregate.debts import debt
from services.aggregate.table import Hand, Table
from services.settlement.division import OddChips, award
from services.settlement.high import COMPLETE_BOARD
from services.settlement.ranking import Worth, worth
from services.settlement.showdown import must_show

type Hands = Mapping[Seat, tuple[Card, ...]]
type Worths = Mapping[Seat, Worth]


def owes(table: Table, at: Instant) -> tuple[AnyEvent, ...]:
    """The events of the commit that the settlement owes at `at`; () where it owes none.

    Also () for a hand whose rules this release does not know (DESIGN 2).
    """
    owed, hand, config = debt(table), table.hand, table.config
    if owed is None or owed.service != "settlement" or hand is None or config is None:
        return ()
    if hand.rules > RULES_VERSION or not owed.is_due(at):
        return ()
    assert hand.closed is not None
    hands = _hands(hand)
    worths = _worths(config.variant, hands, hand.board)
    if owed.duty == "show_hands":
        return tuple(_shown(hand.closed, hands, worths))
    # R80: who shows and mucks, where that is not in the log yet, then every pot.
    shown = () if hand.shown else _shown(hand.closed, hands, worths)
    return *shown, _awarded(config.options, hand, hand.closed, worths)


def _hands(hand: Hand) -> Hands:
    """The contenders' cards; none where the hand is won without a showdown (R79)."""
    return {revealed.seat: tuple([dealt.card for dealt in revealed.cards]) for revealed in hand.revealed or ()}


def _worths(variant: Variant, hands: Hands, board: tuple[Card, ...]) -> Worths:
    """What the contenders' hands are worth; nothing before the board is complete."""
    if len(board) < COMPLETE_BOARD:
        return {}
    return {seat: worth(variant, cards, board) for seat, cards in hands.items()}


def _shown(closed: BettingClosed, hands: Hands, worths: Worths) -> Iterator[AnyEvent]:
    """The contenders one after the other, in runs of those who show and those who muck (R81 to R86).

    Hands tabled before the board is complete are worth nothing yet, so no words go with them (R85).
    """
    showing = closed.showing if hands else ()
    shows = frozenset(showing) if closed.all_show or closed.tabled else must_show(showing, closed.pots, worths)
    for is_shown, run in groupby(showing, shows.__contains__):
        if is_shown:
            yield HandsShown(hands=tuple(_shown_hand(seat, hands[seat], worths.get(seat)) for seat in run))
        else:
            yield HandsMucked(seats=tuple(run))


def _shown_hand(seat: Seat, cards: tuple[Card, ...], value: Worth | None) -> ShownHand:
    if value is None:
        return ShownHand(seat=seat, cards=cards, high="")
    return ShownHand(seat=seat, cards=cards, high=value.high_words(), low=value.low_words())


def _awarded(options: Options, hand: Hand, closed: BettingClosed, worths: Worths) -> PotsAwarded:
    assert hand.rake is not None
    odd = OddChips.by(options, hand.positions.button)
    pots = tuple(award(pot, rake, worths, odd) for pot, rake in zip(closed.pots, hand.rake.per_pot, strict=True))
    return PotsAwarded(pots=pots, payouts=_payouts(pots))


def _payouts(pots: tuple[PotAward, ...]) -> tuple[SeatAmount, ...]:
    """The sum of each winner's shares, by seat."""
    sums: dict[Seat, Chips] = {}
    for pot in pots:
        for division in (pot.high, pot.low):
            for share in division.shares if division is not None else ():
                sums[share.seat] = sums.get(share.seat, 0) + share.amount
    return tuple(SeatAmount(seat=seat, amount=sums[seat]) for seat in sorted(sums))
