"""What the table decides for players who do not: their time is over, they are away, or they left (R116 to R120)."""

from datetime import timedelta
from typing import Final

from contracts.data import Instant
from contracts.events import AnyEvent
from contracts.events.state import HandPlayer, SeatRecord
from contracts.events.table import SitOutRequested, TurnExtended
from contracts.games import TableConfig
from services.aggregate.debts import turn_over
from services.aggregate.table import Hand, Table
from services.table import play
from services.table.time_banks import banks

UNSEEN: Final = timedelta(seconds=10)
"""A time-out that is so late was seen by nobody: each replica that is up sees it within a second."""
RESUMED_FROM_RULES: Final = 2
"""From these rules on clocks begin anew after an outage."""


def act_for_player(table: Table, config: TableConfig, hand: Hand, at: Instant) -> tuple[AnyEvent, ...]:
    """The decision that the open turn gets without its player.

    Who asked to sit out or leaves folds. Whose time is over checks if that is legal, else folds or is protected, and is
    away from then on: folds at once the next time, unless protected. Where no service was there when the time ran out,
    it begins anew (R123).
    """
    turn = hand.open_turn
    if turn is None:
        return ()
    record, player = table.seats[turn.seat], hand.players[turn.seat]
    over = turn_over(table, hand, turn.seat)
    if over is not None and hand.rules >= RESUMED_FROM_RULES and at > over + UNSEEN:
        return (TurnExtended(seat=turn.seat, extra_ms=play.took_ms(hand, at), reason="resumed"),)
    held = banks(config.options, table.seats.values())
    protected = _is_protected(config, record, player)
    if (record.away or record.leaving) and not protected:
        return play.act(config, hand, player, "fold", 0, at, held)
    wish = () if record.away else (SitOutRequested(seat=turn.seat, timed_out=True),)
    if protected and not turn.check:
        return *wish, *play.protect(config, hand, player, at, held)
    decision = play.act(config, hand, player, "check" if turn.check else "fold", 0, at, held, timed_out=True)
    return *wish, *decision


def _is_protected(config: TableConfig, record: SeatRecord, player: HandPlayer) -> bool:
    """Whether the player does not lose what is wagered by being disconnected (R118): nobody who asked to go does.

    Where nothing is wagered there is nothing to be all-in for.
    """
    if config.options.disconnect_protection == "none" or record.connected or record.leaving:
        return False
    return (record.timed_out or not record.away) and player.total + player.dead > 0
