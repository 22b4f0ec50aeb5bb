"""Entries of a ledger: each says which balances it changed, by how much, and what they then are (R136)."""

from typing import Final, Literal

from contracts.accounts import Account
from contracts.data import Chips, Data, Id, Number, SignedChips
from contracts.events.base import Event
from contracts.events.state import Allowed, Code


class Posting(Data, frozen=True):
    """One side of an entry: the change of an account, and its balance after it. The changes of an entry add up to 0."""

    account: Account
    amount: SignedChips
    balance: SignedChips


type Postings = tuple[Posting, Posting]


class Source(Data, frozen=True):
    """The commit of a table of which an entry is the consequence: every entry of it is in the same ledger commit."""

    room: Id
    table: Id
    n: Number


class LedgerOpened(Event, tag="ledger_opened", frozen=True):
    """A ledger exists from now on; always its log's first event."""

    money: Literal["real", "play"]
    currency: str


class AccountOpened(Event, tag="account_opened", frozen=True):
    """A player has an account, empty."""

    player: Id


class Deposited(Event, tag="deposited", frozen=True):
    """Money came in from outside: from `cash` to the player."""

    player: Id
    reference: str
    postings: Postings


class Withdrawn(Event, tag="withdrawn", frozen=True):
    """Money went out: from the player to `cash`."""

    player: Id
    reference: str
    postings: Postings


class AccountFrozen(Event, tag="account_frozen", frozen=True):
    """Nothing leaves the account any more."""

    player: Id


class AccountUnfrozen(Event, tag="account_unfrozen", frozen=True):
    """The account is as any other again."""

    player: Id


class Corrected(Event, tag="corrected", frozen=True):
    """An operator moved an amount between two accounts; the command that is the cause says why (R124)."""

    reference: str
    postings: Postings


class ChipsBought(Event, tag="chips_bought", frozen=True):
    """A buy-in or a top-up was paid: from the player to the table. `source.n` numbers the request."""

    source: Source
    player: Id
    amount: Chips
    postings: Postings


class PurchaseRefused(Event, tag="purchase_refused", frozen=True):
    """A buy-in or a top-up was not paid, and why; `source.n` numbers the request.

    `wrong_currency` is reserved: another currency is another ledger, in which the player may be an `unknown_account`.
    """

    source: Source
    player: Id
    amount: Chips
    code: Literal["unknown_account", "not_enough", "account_frozen", "wrong_currency", "expired"]
    message: str


class PurchaseSettled(Event, tag="purchase_settled", frozen=True):
    """The table has answered a request for good: took the chips that were paid, or gave up what was not paid."""

    source: Source
    request: Number


class ChipsReturned(Event, tag="chips_returned", frozen=True):
    """Chips that were paid and did not come in go back: from the table to the player.

    `request`: the one that the table gave up; None for the part of a top-up that its maximum did not let in (R7).
    """

    source: Source
    player: Id
    postings: Postings
    request: Number | None = None


class CashedOut(Event, tag="cashed_out", frozen=True):
    """A player left with a stack: from the table to the player (R9)."""

    source: Source
    player: Id
    postings: Postings


class RakeCredited(Event, tag="rake_credited", frozen=True):
    """The rake of a settled hand: from the table to `rake`."""

    source: Source
    hand: int
    postings: Postings


class StackCorrected(Event, tag="stack_corrected", frozen=True):
    """An operator adjusted a stack: between the table and `suspense` (R124)."""

    source: Source
    player: Id
    postings: Postings


class AccountCommandRefused(Event, tag="account_command_refused", frozen=True):
    """A command was refused for good, with this answer: no copy of it is decided again."""

    code: Code
    message: str
    allowed: Allowed = Allowed()


type LedgerEvent = (
    LedgerOpened
    | AccountOpened
    | Deposited
    | Withdrawn
    | AccountFrozen
    | AccountUnfrozen
    | Corrected
    | ChipsBought
    | PurchaseRefused
    | PurchaseSettled
    | ChipsReturned
    | CashedOut
    | RakeCredited
    | StackCorrected
    | AccountCommandRefused
)

TAGS: Final[dict[type[Event], str]] = {
    event: str(event.__struct_config__.tag) for event in LedgerEvent.__value__.__args__
}


def entry_of(event: Event) -> str:
    """The tag of an entry: `cashed_out`."""
    return TAGS[type(event)]
