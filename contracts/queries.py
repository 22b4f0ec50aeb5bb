"""Queries and their answers (request on `query.<table|cards|key|log|account>.<room>.<table>.<kind>.<name>`)."""

from typing import Annotated

from msgspec import Meta

from contracts.accounts import Account
from contracts.cards import Card, SeatCards
from contracts.data import Chips, Data, Hex, Id, Instant, Message, Milliseconds, Seat, Sha256, SignedChips
from contracts.events.state import Betting, Owed, Pot, Turn
from contracts.games import TableConfig
from contracts.records import RecordedHand


class TableQuery(Data, frozen=True):
    """Asks for the whole public picture of a table."""


class PublicSeat(Data, frozen=True):
    """A seat as everybody sees it; `in_hand` players hold cards, `folded` ones held some.

    `protected`: was disconnected and counts as all-in for what is wagered already (R118). `time_bank`: what is left of
    it. `sat_out_at`: since when the player sits out, where there is a limit to it. `owes`: which blinds are missed.
    """

    seat: Seat
    player: Id
    stack: Chips
    sitting_out: bool = False
    in_hand: bool = False
    folded: bool = False
    street_total: Chips = 0
    connected: bool = True
    protected: bool = False
    time_bank: Milliseconds = 0
    sat_out_at: Instant | None = None
    owes: Owed = "none"


class PublicReservation(Data, frozen=True):
    """A seat that is kept for a player until it `expires`; how many chips are asked for is not told."""

    seat: Seat
    player: Id
    expires: Instant


class PublicTable(Message, tag="table", frozen=True):
    """The public picture of a table after commit `n`; apply to it the public views that follow.

    `turn` is the turn that was named last. While it waits for cards `turn_number` is None: the commit that deals them
    opens it, and gives it its number. `turn_ends`: when its player's time is over, with the time bank and with
    `turn_extra_ms` for who is disconnected. `next_config`: the configuration after the hand in progress, if it changes.
    `waiting`: who waits for a seat, first come first.

    By the rest every card that is seen in the hand can be checked: `deck` are the 52 hashes that were published before
    the deal, `dealt` the seats in dealing order with `cards_each` hole cards, `board_salts` the salts of the board's
    cards, and `opened` the hands shown so far.
    """

    room: Id
    table: Id
    n: int
    head: str
    config: TableConfig
    status: str
    hand: int
    in_hand: bool
    seats: tuple[PublicSeat, ...]
    button: Seat | None = None
    pot: Chips = 0
    pots: tuple[Pot, ...] = ()
    board: tuple[Card, ...] = ()
    betting: Betting = Betting()
    turn: Turn | None = None
    turn_number: int | None = None
    turn_opened: Instant | None = None
    turn_extra_ms: Milliseconds = 0
    turn_ends: Instant | None = None
    reservations: tuple[PublicReservation, ...] = ()
    waiting: tuple[Id, ...] = ()
    next_config: TableConfig | None = None
    deck: tuple[Sha256, ...] = ()
    dealt: tuple[Seat, ...] = ()
    cards_each: int = 0
    board_salts: tuple[Hex, ...] = ()
    opened: tuple[SeatCards, ...] = ()


class CardsQuery(Data, frozen=True):
    """Asks the dealer for one's own hole cards of the hand in progress, or of the last one."""


class OwnCards(Message, tag="own_cards", frozen=True):
    """A player's own hole cards, with salts; sent by the dealer alone. `cards` is None where the player has none."""

    room: Id
    table: Id
    player: Id
    hand: int
    n: int
    cards: SeatCards | None = None


HANDS_RECORDED_MAX = 50
"""So many of a player's last hands can be recalled at a table (R128)."""


class HandsQuery(Data, frozen=True):
    """A player asks the dealer for the record of the own last hands at a table, as far as they are over."""

    last: Annotated[int, Meta(ge=1, le=HANDS_RECORDED_MAX)] = HANDS_RECORDED_MAX


class OwnHands(Message, tag="own_hands", frozen=True):
    """A player's record: the last hands at a table that the player was dealt into, oldest first (R128).

    Nothing is in it that the player could not see: no card but the own, the board's, and what was shown. `since` is the
    oldest hand of the table that was looked at: older ones may hold more.
    """

    room: Id
    table: Id
    player: Id
    since: int
    hands: tuple[RecordedHand, ...] = ()


class KeyQuery(Data, frozen=True):
    """An operator asks the dealer for the key of a finished hand; the log keeps that it was given."""

    hand: Annotated[int, Meta(ge=1)]


class HandKey(Message, tag="hand_key", frozen=True):
    """The key that opens one hand's sealed seed, and no other."""

    room: Id
    table: Id
    hand: int
    key_id: Id
    key: Hex

    def __repr__(self) -> str:
        """Without what nobody else may know."""
        of = f"room={self.room!r}, table={self.table!r}, hand={self.hand!r}"
        return f"HandKey({of}, key_id={self.key_id!r})"


class LogQuery(Data, frozen=True):
    """Asks for commits of a table's log from commit `start` on, or of hand `hand` alone; at most `limit` of them."""

    start: Annotated[int, Meta(ge=1)] = 1
    hand: Annotated[int, Meta(ge=1)] | None = None
    limit: Annotated[int, Meta(ge=1, le=500)] = 100


class LogPage(Message, tag="log_page", frozen=True):
    """Commits, byte for byte as they stand in the log; `more`: ask again from the next n."""

    room: Id
    table: Id
    commits: tuple[str, ...]
    n: int
    head: str
    more: bool = False


class AccountQuery(Data, frozen=True):
    """Asks what is in an account of a ledger; `house` stands in the place of the room, the ledger in the table's."""

    account: Account


class AccountState(Message, tag="account", frozen=True):
    """An account after commit `n` of its ledger; `known` is False for a player who has none."""

    ledger: Id
    account: Account
    balance: SignedChips
    known: bool
    n: int
    head: str
    frozen: bool = False


type QueryAnswer = PublicTable | OwnCards | OwnHands | HandKey | LogPage | AccountState
