"""How many chips a player can still put in: table stakes (R49), and the cap on a hand (R151)."""

from contracts.data import Chips
from contracts.events.state import HandPlayer
from contracts.games import TableConfig


def behind(config: TableConfig, player: HandPlayer) -> Chips:
    """The chips that `player` can still wager in this hand; 0: all-in, or as good as all-in (R118, R151)."""
    if player.protected:
        return 0
    cap = config.options.cap_per_hand
    if cap == 0:
        return player.stack
    return max(0, min(player.stack, cap - player.total))
