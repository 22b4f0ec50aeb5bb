"""Views: what people may see of a log, as core messages that are never stored (DESIGN 5).

Each may come twice: one whose n is not higher than the n of what is known tells nothing new. Where `previous` is higher
than that, something was missed: ask for the whole.
"""

from contracts.cards import SeatCards
from contracts.data import Chips, Id, Instant, Message, Sha256, SignedChips
from contracts.events import AnyEvent
from contracts.events.state import Turn


class PublicView(Message, tag="public", frozen=True):
    """What everybody may see of one commit, on `view.<room>.<table>.public`.

    `previous` is the n of the view before it, so that a reader that sees a gap asks `query.table`. Events that hide
    something are left out or sent without the hidden part. `opened`: the hole cards of the seats that `hands_shown`
    names, with what anyone needs to check them against the deck's published hashes.

    The rest need not be computed from the events: `pot` is all that is in the middle after the commit, `turn` the turn
    that is open then, with everything that its player may do, `turn_number` what an `act` has to name, and `turn_ends`
    when its time is over. They are absent while nobody may act.
    """

    room: Id
    table: Id
    n: int
    previous: int
    head: str
    hand: int
    at: Instant
    events: tuple[AnyEvent, ...] = ()
    opened: tuple[SeatCards, ...] = ()
    pot: Chips = 0
    turn: Turn | None = None
    turn_number: int | None = None
    turn_ends: Instant | None = None


class BalanceView(Message, tag="balance", frozen=True):
    """What is in a player's account of one ledger after commit `n` of it, on `account.<player>`.

    There is one for each commit that says something of the account, and `previous` is the n of the one before it; 0:
    there is none. Who missed one, or comes anew, asks `query.account`. `frozen`: nothing leaves the account.
    """

    ledger: Id
    player: Id
    balance: SignedChips
    n: int
    previous: int
    head: Sha256
    at: Instant
    frozen: bool = False
