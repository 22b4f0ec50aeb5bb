"""Who has to show, and in which order (R81 to R86)."""

from contracts.data import Seat
from contracts.events.state import HandPlayer, Pot
from contracts.games import TableConfig
from services.aggregate.table import Hand
from services.table.betting.behind import behind
from services.table.betting.turn import clockwise


def all_show(config: TableConfig, live: list[HandPlayer]) -> bool:
    """Whether nobody may muck: the house shows all hands (R86), or somebody is all-in (R85)."""
    if config.options.muck == "show_all":
        return True
    return config.options.allin_reveal == "all" and any(behind(config, player) == 0 for player in live)


def tabled(config: TableConfig, hand: Hand, live: list[HandPlayer]) -> bool:
    """Whether the hands are shown before the rest of the board, because the betting is over early (R85)."""
    options = config.options
    before_board = options.allin_reveal == "all" and options.allin_expose_time == "before_board"
    return before_board and hand.street != "river" and len(live) > 1


def order(hand: Hand, pots: tuple[Pot, ...]) -> tuple[Seat, ...]:
    """The order of showing: the last one to bet or raise on the river first, else left of the button (R81, R82).

    Where the river could be bet on, those in the newest side pot come before the others (R83).
    """
    seats = [player.seat for player in hand.live()]
    if hand.street != "river":
        return tuple(seats)
    aggressor = hand.betting.aggressor
    if aggressor is not None:
        seats.sort(key=lambda seat: clockwise(seat, aggressor - 1))
    if len(pots) > 1:
        newest = {seat: index for index, pot in enumerate(pots) for seat in pot.seats}
        seats.sort(key=lambda seat: -newest[seat])
    return tuple(seats)
