"""What is contested: the uncalled part goes back, the rest lies in main and side pots (R73 to R78)."""

from contracts.cards import SeatAmount
from contracts.data import Chips
from contracts.events.state import HandPlayer, Pot
from services.aggregate.table import Hand


def uncalled(hand: Hand) -> SeatAmount | None:
    """The part of the largest contribution to the hand that nobody else reached, folded or not (R73).

    Raise to 300, all fold, big blind 100: 200 goes back.
    """
    owner = max(hand.players.values(), key=lambda player: player.total)
    second = max(player.total for player in hand.players.values() if player is not owner)
    return SeatAmount(seat=owner.seat, amount=owner.total - second) if owner.total > second else None


def pots(hand: Hand) -> tuple[Pot, ...]:
    """The pots, main pot first, their seats in dealing order; what the players put in decides, not when (R74).

    All-in for 1000, 2500, 4000 and 4000: 4000 for all four, 4500 for three, 3000 for the last two.
    """
    live = hand.live()
    levels = sorted({player.total for player in live})
    if len(levels) == 1:
        return (Pot(amount=hand.pot, seats=tuple([player.seat for player in live])),)
    return tuple(_layers(hand, live, levels))


def _layers(hand: Hand, live: list[HandPlayer], levels: list[Chips]) -> list[Pot]:
    """One pot a level: dead money is in the first (R76), chips that only folded players have in the last (R73)."""
    layers: list[Pot] = []
    below = 0
    for level in levels:
        amount = sum(min(player.total, level) - min(player.total, below) for player in hand.players.values())
        if not layers:
            amount += sum(player.dead for player in hand.players.values())
        if level == levels[-1]:
            amount += sum(max(0, player.total - level) for player in hand.players.values())
        if amount:
            layers.append(Pot(amount=amount, seats=tuple([p.seat for p in live if p.total >= level])))
        below = level
    return layers
