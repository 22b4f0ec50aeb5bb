"""The fold of a ledger's entries: it assigns what an entry says and computes nothing, as that of a table's events."""

from collections.abc import Callable
from typing import Any, Final

from contracts.accounts import player_of
from contracts.data import Id
from contracts.events import cashier as entries
from contracts.events.base import Event
from contracts.events.cashier import Postings, Source
from services.aggregate.ledger import UNTOUCHED, Answer, Ledger, TableLedger, Touched


def evolve(ledger: Ledger, entry: Event) -> None:
    """Changes `ledger` to what it is after `entry`; `ledger.n` is that of the entry's commit.

    Raises LookupError or ValueError where the entry cannot follow on the ledger's state (R145).
    """
    if (ledger.money is None) is not isinstance(entry, entries.LedgerOpened):
        message = f"ledger {ledger.id} is opened by its first entry, and by no other"
        raise ValueError(message)
    _EVOLVE[type(entry)](ledger, entry)


def _opened(ledger: Ledger, entry: entries.LedgerOpened) -> None:
    ledger.money, ledger.currency = entry.money, entry.currency


def _account_opened(ledger: Ledger, entry: entries.AccountOpened) -> None:
    ledger.put(ledger.players, entry.player, value=False)
    _touch(ledger, entry.player)


def _touch(ledger: Ledger, player: Id) -> None:
    """Notes that this commit says something of a player's account; once for all that it says."""
    last = ledger.touched.get(player, UNTOUCHED)
    if last.n != ledger.n:
        ledger.put(ledger.touched, player, Touched(ledger.n, last.n))


def _frozen(ledger: Ledger, entry: entries.AccountFrozen) -> None:
    ledger.put(ledger.players, _holder(ledger, entry.player), value=True)
    _touch(ledger, entry.player)


def _unfrozen(ledger: Ledger, entry: entries.AccountUnfrozen) -> None:
    ledger.put(ledger.players, _holder(ledger, entry.player), value=False)
    _touch(ledger, entry.player)


def _holder(ledger: Ledger, player: Id) -> Id:
    if player not in ledger.players:
        message = f"{player} has no account in ledger {ledger.id}"
        raise LookupError(message)
    return player


def _payment(ledger: Ledger, entry: entries.Deposited | entries.Withdrawn | entries.Corrected) -> None:
    ledger.put(ledger.references, entry.reference, ledger.n)
    _post(ledger, entry.postings)


def _post(ledger: Ledger, postings: Postings) -> None:
    for posting in postings:
        ledger.put(ledger.balances, posting.account, posting.balance)
        if (player := player_of(posting.account)) is not None:
            _touch(ledger, player)


def _bought(ledger: Ledger, entry: entries.ChipsBought) -> None:
    _post(ledger, entry.postings)
    _answer(ledger, entry.source, Answer(entry.player, entry.amount, paid=True))


def _purchase_refused(ledger: Ledger, entry: entries.PurchaseRefused) -> None:
    _answer(ledger, entry.source, Answer(entry.player, entry.amount, paid=False, message=entry.message))


def _answer(ledger: Ledger, source: Source, answer: Answer) -> None:
    answers = {**ledger.table(source.room, source.table).answers, source.n: answer}
    _seen_to(ledger, source, answers)


def _seen_to(ledger: Ledger, source: Source, answers: dict[int, Answer]) -> None:
    ledger.put(ledger.tables, (source.room, source.table), TableLedger(source.n, answers))


def _settled(ledger: Ledger, entry: entries.PurchaseSettled) -> None:
    _forget(ledger, entry.source, entry.request)


def _returned(ledger: Ledger, entry: entries.ChipsReturned) -> None:
    _post(ledger, entry.postings)
    _forget(ledger, entry.source, entry.request)


def _forget(ledger: Ledger, source: Source, request: int | None) -> None:
    """Forgets the answer to a request that is settled; a kept seat without chips to pay for was never answered."""
    answers = ledger.table(source.room, source.table).answers
    if request in answers:
        answers = {number: answer for number, answer in answers.items() if number != request}
    _seen_to(ledger, source, answers)


def _moved(ledger: Ledger, entry: entries.CashedOut | entries.RakeCredited | entries.StackCorrected) -> None:
    _post(ledger, entry.postings)
    _forget(ledger, entry.source, None)


def _command_refused(_: Ledger, __: entries.AccountCommandRefused) -> None:
    """The fold remembers it beside the accepted commands; in the accounts it changes nothing."""


_EVOLVE: Final[dict[type[Event], Callable[[Ledger, Any], None]]] = {
    entries.LedgerOpened: _opened,
    entries.AccountOpened: _account_opened,
    entries.Deposited: _payment,
    entries.Withdrawn: _payment,
    entries.AccountFrozen: _frozen,
    entries.AccountUnfrozen: _unfrozen,
    entries.Corrected: _payment,
    entries.ChipsBought: _bought,
    entries.PurchaseRefused: _purchase_refused,
    entries.PurchaseSettled: _settled,
    entries.ChipsReturned: _returned,
    entries.CashedOut: _moved,
    entries.RakeCredited: _moved,
    entries.StackCorrected: _moved,
    entries.AccountCommandRefused: _command_refused,
}
"""What each of these entries assigns."""
