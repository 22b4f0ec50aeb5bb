"""What an entry of a ledger must say, whatever brought it about: between which accounts, and that it adds up (R136)."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from contracts.accounts import SYSTEM_ACCOUNTS, Account, player_account, table_account
from contracts.data import CHIPS_MAX
from contracts.events.cashier import (
    CashedOut,
    ChipsBought,
    ChipsReturned,
    Corrected,
    Deposited,
    LedgerEvent,
    Postings,
    RakeCredited,
    StackCorrected,
    Withdrawn,
)

type Payment = Deposited | Withdrawn | Corrected
type Transfer = ChipsBought | ChipsReturned | CashedOut | RakeCredited | StackCorrected


class Fault(NamedTuple):
    """An account for which an entry says something wrong: what was recorded, and what must be."""

    account: Account
    message: str
    recorded: int | str
    expected: int | str


def faults(entry: LedgerEvent, balances: Mapping[Account, int]) -> Iterator[Fault]:
    """All that is wrong with an entry, on the balances before it."""
    if not isinstance(entry, Payment.__value__ | Transfer.__value__):
        return
    source, target = entry.postings
    if source.amount != -target.amount:
        yield Fault(target.account, "both sides add up to nothing", target.amount, -source.amount)
    for posting in entry.postings:
        due = balances.get(posting.account, 0) + posting.amount
        if posting.balance != due:
            yield Fault(posting.account, "the balance is the one before and what was moved", posting.balance, due)
        if posting.balance < 0 and posting.account not in SYSTEM_ACCOUNTS:
            yield Fault(posting.account, "only the house's own accounts may be below 0", posting.balance, 0)
        if abs(posting.balance) > CHIPS_MAX:
            yield Fault(posting.account, "no balance is beyond an amount", posting.balance, CHIPS_MAX)
    yield from _between(entry, entry.postings)


def _between(entry: Payment | Transfer, postings: Postings) -> Iterator[Fault]:
    """The accounts of an entry's sides are those that its kind moves chips between, in that direction."""
    if isinstance(entry, ChipsBought) and postings[1].amount != entry.amount:
        yield Fault(postings[1].account, "the amount of the purchase", postings[1].amount, entry.amount)
    found = (postings[0].account, postings[1].account)
    for expected, account in zip(_sides(entry, found), found, strict=True):
        if account != expected:
            yield Fault(account, "not an account of such an entry", account, expected)
    if postings[1].amount < 0:
        yield Fault(
            postings[1].account, "from the first account to the second", postings[1].amount, -postings[1].amount
        )


def _sides(entry: Payment | Transfer, found: tuple[Account, Account]) -> tuple[Account, Account]:
    match entry:
        case Deposited():
            return "cash", player_account(entry.player)
        case Withdrawn():
            return player_account(entry.player), "cash"
        case Corrected():
            return found
    table = table_account(entry.source.room, entry.source.table)
    match entry:
        case ChipsBought():
            return player_account(entry.player), table
        case RakeCredited():
            return table, "rake"
        case StackCorrected():
            return ("suspense", table) if found[0] == "suspense" else (table, "suspense")
        case _:
            return table, player_account(entry.player)
