"""What befalls a table beside its play: a player's time runs out, one leaves in mid-hand, a hand is cancelled."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final, Literal, NamedTuple

from contracts.commands import AnyCommand, Connected, Disconnected, LeaveTable, TopUp, VoidHand
from contracts.data import Chips
from contracts.subjects import ActorKind

type Incident = Literal["disconnects", "leaves", "times_out", "tops_up", "voided"]


class Moment(NamedTuple):
    """An open turn: in which hand, whose, and the buy-in at the table; `name` makes an id for a command."""

    hand: int
    player: str
    buy_in: Chips
    name: Callable[[], str]


type Send = Callable[[ActorKind, str, AnyCommand], Awaitable[bool]]
"""Sends a command as a lobby, an operator or a player of some name; tells whether it was accepted."""


class Befallen(NamedTuple):
    """Whether it came to pass, and whether the player still acts at this turn."""

    done: bool
    acts: bool


async def _times_out(moment: Moment, send: Send) -> Befallen:
    """The player does nothing, and the table acts for the player (R116)."""
    return Befallen(done=True, acts=False)


async def _leaves(moment: Moment, send: Send) -> Befallen:
    """The player leaves: the table folds the hand (R120)."""
    left = await send("player", moment.player, LeaveTable(id=moment.name(), hand=moment.hand))
    return Befallen(done=left, acts=not left)


async def _disconnects(moment: Moment, send: Send) -> Befallen:
    """The player is cut off, has more time, and is back before it is over (R118)."""
    gone = await send("lobby", "lobby", Disconnected(id=moment.name(), hand=moment.hand, player=moment.player))
    if gone:
        await send("lobby", "lobby", Connected(id=moment.name(), hand=moment.hand, player=moment.player))
    return Befallen(done=gone, acts=True)


async def _tops_up(moment: Moment, send: Send) -> Befallen:
    """The player buys chips that wait until the hand is over (R7)."""
    command = TopUp(id=moment.name(), hand=moment.hand, player=moment.player, amount=moment.buy_in)
    return Befallen(done=await send("lobby", "lobby", command), acts=True)


async def _voided(moment: Moment, send: Send) -> Befallen:
    """An operator cancels the hand: every stack is what it was before it (R121)."""
    command = VoidHand(id=moment.name(), hand=moment.hand, reason="The demo shows how a hand is cancelled.")
    cancelled = await send("operator", "operator", command)
    return Befallen(done=cancelled, acts=not cancelled)


INCIDENTS: Final[dict[Incident, Callable[[Moment, Send], Awaitable[Befallen]]]] = {
    "tops_up": _tops_up,
    "leaves": _leaves,
    "disconnects": _disconnects,
    "times_out": _times_out,
    "voided": _voided,
}


class Script:
    """When what befalls a table of so many hands: one after the other, spread over them."""

    def __init__(self, incidents: Sequence[Incident], hands: int) -> None:
        self._waiting = list(incidents)
        self._every = max(1, hands // (len(incidents) + 1))
        self._last = hands
        self._next = min(1 + self._every, hands)

    async def turn(self, moment: Moment, send: Send) -> bool:
        """Lets happen what is due at a turn; tells whether its player still acts."""
        if not self._waiting or moment.hand < self._next:
            return True
        befallen = await INCIDENTS[self._waiting[0]](moment, send)
        if befallen.done:
            del self._waiting[0]
            self._next = min(self._next + self._every, self._last)
        return befallen.acts
