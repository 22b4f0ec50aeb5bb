"""A hand as the record of one of its players has it: what the player did, saw, and won or lost (R128)."""

from contracts.cards import Card, Street
from contracts.data import Chips, Data, Id, Instant, Milliseconds, Seat, SignedChips
from contracts.events.settlement import ShownHand
from contracts.events.state import Action, Post
from contracts.games import Limit, Money, Stakes, Variant


class RecordedSeat(Data, frozen=True):
    """Somebody who was dealt in, and with how much the hand began."""

    seat: Seat
    player: Id
    stack: Chips


class RecordedAction(Data, frozen=True):
    """A decision of the player: `amount` is what it added, `street_total` the chips on the street after it.

    `timed_out`: the player's time had run out. `by_table`: the table decided for a player who was away or had left.
    `took_ms`: the time used, `bank_ms` as much of it as came from the time bank.
    """

    street: Street
    action: Action
    amount: Chips
    street_total: Chips
    at: Instant
    took_ms: Milliseconds = 0
    bank_ms: Milliseconds = 0
    all_in: bool = False
    timed_out: bool = False
    by_table: bool = False


class RecordedHand(Data, frozen=True):
    """A finished hand from the view of `player`, who sat on `seat`; `replay` marks it as one that is over.

    `start` and `end` are the player's stack before the posts and after the hand, `wagered` what the player put in and
    did not get back as uncalled, `won` what the pots paid, after rake; `result` is `end` less `start`. `cards` are the
    player's own (empty: not known here), `shown` what players laid open. `rake` is the whole hand's, `rake_share` what
    of it counts to the player in reports. `protected`: was disconnected and counted as all-in (R118). A `cancelled`
    hand gave every chip back (R121): nothing of it was wagered, won or raked.
    """

    replay: bool
    hand: int
    player: Id
    seat: Seat
    variant: Variant
    limit: Limit
    stakes: Stakes
    money: Money
    currency: str
    button: Seat
    started: Instant
    ended: Instant
    start: Chips
    end: Chips
    result: SignedChips
    players: tuple[RecordedSeat, ...]
    wagered: Chips = 0
    won: Chips = 0
    rake: Chips = 0
    rake_share: Chips = 0
    cards: tuple[Card, ...] = ()
    board: tuple[Card, ...] = ()
    posts: tuple[Post, ...] = ()
    actions: tuple[RecordedAction, ...] = ()
    shown: tuple[ShownHand, ...] = ()
    timed_out: bool = False
    protected: bool = False
    cancelled: bool = False
