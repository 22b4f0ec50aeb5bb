"""What the table decides for players who do not: their time is over, they are away, or they left (R116, R119, R120)."""

from contracts.data import Instant
from contracts.events import AnyEvent
from contracts.events.table import SitOutRequested
from contracts.games import TableConfig
from services.aggregate.table import Hand, Table
from services.table import play


def act_for_player(table: Table, config: TableConfig, hand: Hand, at: Instant) -> tuple[AnyEvent, ...]:
    """The decision that the open turn gets without its player.

    Away and leaving players fold; one whose time is over checks if that is legal, else folds, and is away from then on.
    """
    turn = hand.open_turn
    if turn is None:
        return ()
    record, player = table.seats[turn.seat], hand.players[turn.seat]
    if record.away or record.leaving:
        return play.act(config, hand, player, "fold", 0, at)
    decision = play.act(config, hand, player, "check" if turn.check else "fold", 0, at, timed_out=True)
    return SitOutRequested(seat=turn.seat, timed_out=True), *decision
