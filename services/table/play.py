"""What a decision does to the hand: the chips move, the turn passes on, and a street or the betting closes (R45)."""

from contracts.cards import STREETS
from contracts.data import Chips, Instant, Milliseconds
from contracts.events import AnyEvent
from contracts.events.state import Action, HandPlayer
from contracts.events.table import ActionTaken, BettingClosed, PlayerProtected, StreetClosed, UncalledBetReturned
from contracts.games import TableConfig
from services.aggregate.evolve import replace
from services.aggregate.table import Hand
from services.table import showing
from services.table.betting.behind import behind
from services.table.betting.limits import LIMITS
from services.table.betting.turn import first_turn, next_turn
from services.table.pots import pots, uncalled
from services.table.time_banks import Banks, banked, used_ms


def took_ms(hand: Hand, at: Instant) -> Milliseconds:
    """How long the open turn has lasted."""
    if hand.turn_opened is None:
        return 0
    lasted = at - hand.turn_opened
    return max(0, (lasted.days * 86_400 + lasted.seconds) * 1000 + lasted.microseconds // 1000)


def act(
    config: TableConfig,
    hand: Hand,
    player: HandPlayer,
    action: Action,
    amount: Chips,
    at: Instant,
    held: Banks,
    *,
    timed_out: bool = False,
) -> tuple[AnyEvent, ...]:
    """The events of a legal decision with which `player` adds `amount` chips (0 for a check or a fold).

    `held`: what the time banks hold before it.
    """
    after, took = hand.copy(), took_ms(hand, at)
    bank_ms = used_ms(hand, took)
    held = _left(held, player, bank_ms)
    total = player.street_total + amount
    if action in ("bet", "raise"):
        after.betting = LIMITS[config.limit].raised(config, hand, player.seat, total)
    after.players[player.seat] = acted = replace(
        player,
        stack=player.stack - amount,
        street_total=total,
        total=player.total + amount,
        folded=action == "fold",
        acted=True,
        seen=after.betting.level,
    )
    after.pot += amount
    taken = ActionTaken(
        seat=player.seat,
        action=action,
        amount=amount,
        street_total=total,
        total=acted.total,
        stack=acted.stack,
        pot=after.pot,
        betting=after.betting,
        turn=banked(next_turn(config, after, player.seat), held),
        all_in=amount > 0 and acted.stack == 0,
        timed_out=timed_out,
        took_ms=took,
        bank_ms=bank_ms,
        bank_left=held[player.seat] if bank_ms else None,
    )
    return (taken,) if taken.turn is not None else (taken, *closed(config, after, held))


def protect(config: TableConfig, hand: Hand, player: HandPlayer, at: Instant, held: Banks) -> tuple[AnyEvent, ...]:
    """The events with which a disconnected player, whose time is over, becomes all-in for what is wagered (R118)."""
    after, took = hand.copy(), took_ms(hand, at)
    bank_ms = used_ms(hand, took)
    held = _left(held, player, bank_ms)
    after.players[player.seat] = replace(player, acted=True, seen=hand.betting.level, protected=True)
    protected = PlayerProtected(
        seat=player.seat,
        betting=hand.betting,
        turn=banked(next_turn(config, after, player.seat), held),
        took_ms=took,
        bank_ms=bank_ms,
        bank_left=held[player.seat] if bank_ms else None,
    )
    return (protected,) if protected.turn is not None else (protected, *closed(config, after, held))


def _left(held: Banks, player: HandPlayer, used: Milliseconds) -> Banks:
    """What the time banks hold once the player has used so much."""
    return {**held, player.seat: held[player.seat] - used} if used else held


def closed(config: TableConfig, hand: Hand, held: Banks) -> tuple[AnyEvent, ...]:
    """What follows when nobody is left to act: the next street, or the end of the betting.

    `hand` is a copy that this function changes; `held`: what the time banks hold.
    """
    able = sum(not player.folded and behind(config, player) > 0 for player in hand.players.values())
    if able > 1 and hand.street != "river":
        return (_next_street(config, hand, held),)
    returned = _return_uncalled(hand)
    end = _end_of_betting(config, hand)
    return (end,) if returned is None else (returned, end)


def _next_street(config: TableConfig, hand: Hand, held: Banks) -> StreetClosed:
    street, opens = hand.street, STREETS[STREETS.index(hand.street) + 1]
    contested = pots(hand)
    hand.street, hand.betting = opens, LIMITS[config.limit].opening(config, opens)
    for seat, player in hand.players.items():
        hand.players[seat] = replace(player, street_total=0, acted=False, seen=0)
    turn = banked(first_turn(config, hand), held)
    assert turn is not None  # two players are able to act
    return StreetClosed(street=street, opens=opens, pots=contested, betting=hand.betting, turn=turn)


def _return_uncalled(hand: Hand) -> UncalledBetReturned | None:
    excess = uncalled(hand)
    if excess is None:
        return None
    owner = hand.players[excess.seat]
    hand.pot -= excess.amount
    hand.players[excess.seat] = owner = replace(
        owner,
        stack=owner.stack + excess.amount,
        street_total=max(0, owner.street_total - excess.amount),
        total=owner.total - excess.amount,
    )
    return UncalledBetReturned(
        seat=excess.seat,
        amount=excess.amount,
        street_total=owner.street_total,
        total=owner.total,
        stack=owner.stack,
        pot=hand.pot,
    )


def _end_of_betting(config: TableConfig, hand: Hand) -> BettingClosed:
    live, contested = hand.live(), pots(hand)
    contenders = tuple([player.seat for player in live])
    if len(live) == 1:
        return BettingClosed(street=hand.street, pots=contested, contenders=contenders)
    return BettingClosed(
        street=hand.street,
        pots=contested,
        contenders=contenders,
        showing=showing.order(hand, contested),
        streets=STREETS[STREETS.index(hand.street) + 1 :],
        tabled=showing.tabled(config, hand, live),
        all_show=showing.all_show(config, live),
    )
