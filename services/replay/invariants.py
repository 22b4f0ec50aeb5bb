"""What must hold after every event, whatever the rules of betting and of showing say (R143 to R145)."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from contracts.events import Event
from contracts.events.dealer import BoardDealt, HandsRevealed
from contracts.events.seats import StackAdjusted, StackToppedUp
from contracts.events.settlement import Division, PotAward, PotsAwarded
from contracts.events.state import Betting, SeatRecord
from contracts.events.table import (
    ActionTaken,
    BettingClosed,
    HandEnded,
    HandVoided,
    PlayerLeft,
    PlayerProtected,
    PlayerSeated,
    StreetClosed,
    TurnExtended,
)
from services.aggregate.table import Hand, Table
from services.replay import clock_invariants as clocks
from services.replay.differences import Difference, equal
from services.replay.seat_invariants import SEAT_CHECKS


def broken(before: Table, event: Event, after: Table) -> Iterator[Difference]:
    """The invariants that an event breaks, each as a quantity with the value found and the one that must be."""
    if before.config is not None:  # a fold that begins here knows of no chips before
        yield from equal("chips on the table (R143)", chips(after), chips(before) + _brought(before, event))
    if after.hand is not None:
        yield from _to_act(after.hand)
        yield from clocks.turn(after)
    about_seats = SEAT_CHECKS.get(type(event))
    if about_seats is not None and before.config is not None:
        yield from about_seats(before, event, after)
    check = _CHECKS.get(type(event))
    if check is not None and before.hand is not None:
        yield from check(before, event)


def chips(table: Table) -> int:
    """All chips on a table: behind, and in the middle."""
    if table.hand is None:
        return sum([record.stack for record in table.seats.values()])
    players = table.hand.players
    behind = sum([player.stack for player in players.values()])
    others = sum([record.stack for seat, record in table.seats.items() if seat not in players])
    return behind + table.hand.pot + others


def _brought(before: Table, event: Event) -> int:
    """The chips that an event brings to the table; negative where it takes some away."""
    match event:
        case PlayerSeated():
            return event.record.stack
        case StackToppedUp() | StackAdjusted():
            return event.amount
        case PlayerLeft():
            return -event.stack
        case HandEnded() if before.hand is not None and before.hand.rake is not None:
            return -before.hand.rake.total
        case _:
            return 0


def _to_act(hand: Hand) -> Iterator[Difference]:
    """Only a live player with chips can be to act, and nobody who counts as all-in (R43, R118, R145)."""
    if hand.turn is None:
        return
    player = hand.players.get(hand.turn.seat)
    able = player is not None and not (player.folded or player.protected) and player.stack > 0
    yield from equal(f"seat {hand.turn.seat} is able to act (R145)", able, must=True)


def _action(before: Table, event: ActionTaken | PlayerProtected) -> Iterator[Difference]:
    assert before.hand is not None
    level, was = event.betting.level, before.hand.betting.level
    yield from equal(f"the wager level does not fall from {was} (R145)", level, max(level, was))
    yield from _betting(before, event.betting)
    yield from clocks.bank(before, event)


def _betting(before: Table, betting: Betting) -> Iterator[Difference]:
    config = before.config
    assert config is not None
    if config.limit != "fixed_limit":
        least = max(betting.full_raise, config.stakes.big_blind)
        yield from equal("last full bet or raise is a big blind at least (R145)", betting.full_raise, least)
    elif config.options.fl_cap_headsup == "capped":
        yield from equal("bets stay under the cap (R145)", betting.bets, min(betting.bets, config.options.fl_cap))


def _street(before: Table, event: StreetClosed) -> Iterator[Difference]:
    assert before.hand is not None
    yield from equal("pots hold all chips in the middle (R144)", _sum(event.pots), before.hand.pot)
    yield from _betting(before, event.betting)


def _closed(before: Table, event: BettingClosed) -> Iterator[Difference]:
    assert before.hand is not None
    yield from equal("pots hold all chips in the middle (R144)", _sum(event.pots), before.hand.pot)


def _board(before: Table, event: BoardDealt) -> Iterator[Difference]:
    assert before.hand is not None
    yield from _once((*before.hand.board, *(dealt.card for dealt in event.cards)))


def _revealed(before: Table, event: HandsRevealed) -> Iterator[Difference]:
    assert before.hand is not None
    yield from _once((*before.hand.board, *(dealt.card for hand in event.hands for dealt in hand.cards)))


def _once(cards: tuple[str, ...]) -> Iterator[Difference]:
    twice = sorted(card for card, times in Counter(cards).items() if times > 1)
    yield from equal("cards dealt twice (R145)", " ".join(twice), "")


def _awarded(before: Table, event: PotsAwarded) -> Iterator[Difference]:
    assert before.hand is not None
    rake = before.hand.rake
    taken = rake.total if rake is not None else 0
    yield from equal("pots hold all chips in the middle (R144)", _sum(event.pots), before.hand.pot)
    paid = sum(payout.amount for payout in event.payouts)
    yield from equal("payouts and rake use up the pots (R144)", paid + taken, before.hand.pot)
    yield from equal("rake of the pots (R144)", sum(pot.rake for pot in event.pots), taken)
    shares: Counter[int] = Counter()
    for number, pot in enumerate(event.pots):
        yield from _pot(f"pot {number}", pot)
        for division in _divisions(pot):
            shares.update({share.seat: share.amount for share in division.shares})
    payouts = {payout.seat: payout.amount for payout in event.payouts}
    yield from equal("payouts are the sums of the shares (R144)", payouts, {**shares})


def _pot(name: str, pot: PotAward) -> Iterator[Difference]:
    yield from equal(f"{name}: rake is no more than the pot (R144)", pot.rake, min(pot.rake, pot.amount))
    divided = sum(division.amount for division in _divisions(pot))
    yield from equal(f"{name}: divided in full after rake (R144)", divided, pot.amount - pot.rake)
    for division in _divisions(pot):
        yield from equal(f"{name}: shares use up the division (R99)", _shares(division), division.amount)


def _ended(before: Table, event: HandEnded) -> Iterator[Difference]:
    hand = before.hand
    assert hand is not None
    ended = {stack.seat: stack.amount for stack in event.stacks}
    yield from equal("stacks are those of all who were dealt in", sorted(ended), sorted(hand.players))
    payouts = {payout.seat: payout.amount for payout in hand.awards.payouts} if hand.awards is not None else {}
    for seat, player in hand.players.items():
        stack = ended.get(seat, 0)
        yield from equal(f"stack of seat {seat} (R9)", stack, player.stack + payouts.get(seat, 0))
        start = before.seats[seat].stack
        others = max((other.total for other in hand.players.values() if other.seat != seat), default=0)
        lost, most = start - stack, min(start, others + player.dead)
        yield from equal(f"loss of seat {seat} is no more than {most} (R144)", lost, min(lost, most))


def _voided(before: Table, event: HandVoided) -> Iterator[Difference]:
    """A cancelled hand gives back every stack, the time banks, the debts and the button, and its rake (R121, R122)."""
    hand = before.hand
    assert hand is not None
    yield from equal("number of the hand that is cancelled", event.number, hand.number)
    yield from equal("button and blinds before the hand (R122)", event.last, hand.last_before)
    taken = hand.rake.per_pot if hand.rake is not None else ()
    yield from equal("rake that was taken from the pots (R121)", sum(event.rake_returned), sum(taken))
    yield from equal("seats that are held", sorted(record.seat for record in event.seats), sorted(before.seats))
    known = {record.seat: record for record in hand.before}
    for record in event.seats:
        seat, was = record.seat, known.get(record.seat)
        if seat in hand.players and was is not None:
            yield from equal(f"seat {seat} as before the hand (R121, R122)", _restored(record), _restored(was))
        else:
            now = before.seats.get(seat)
            kept = _undone(now, was) if now is not None and was is not None and was.sat == now.sat else now
            yield from equal(f"seat {seat}, which was not dealt in", record, kept)


def _undone(now: SeatRecord, was: SeatRecord) -> SeatRecord:
    """A seat that the blinds of a cancelled hand moved past owes no more than before it (R122)."""
    missed = min(now.missed, was.missed)
    return msgspec.structs.replace(
        now, owes=was.owes, missed=missed, time_bank=was.time_bank, bank_hands=was.bank_hands
    )


def _restored(record: SeatRecord) -> tuple[object, ...]:
    """What a cancelled hand gives back to a seat; what its player asked for meanwhile stays asked for."""
    return (record.player, record.stack, record.time_bank, record.owes)


def _sum(pots: tuple[Any, ...]) -> int:
    return sum(pot.amount for pot in pots)


def _divisions(pot: PotAward) -> tuple[Division, ...]:
    return (pot.high,) if pot.low is None else (pot.high, pot.low)


def _shares(division: Division) -> int:
    return sum(share.amount for share in division.shares)


_CHECKS: Final[dict[type[Event], Callable[[Table, Any], Iterator[Difference]]]] = {
    ActionTaken: _action,
    PlayerProtected: _action,
    TurnExtended: clocks.extension,
    StreetClosed: _street,
    BettingClosed: _closed,
    BoardDealt: _board,
    HandsRevealed: _revealed,
    PotsAwarded: _awarded,
    HandEnded: _ended,
    HandVoided: _voided,
}
