"""The chaos finds out what it looks for: money that was acknowledged, and that the ledger has not, or has twice."""

from contracts.account_commands import Deposit, OpenAccount
from contracts.events.cashier import ChipsBought, PurchaseRefused, Source
from contracts.outcomes import Accepted, Rejected
from services.aggregate.ledger import Ledger
from services.aggregate.ledger_fold import commit_of
from tests.cashier.books import START, Books
from tests.cluster.books import Entries, amiss_in_payments, amiss_in_purchases
from tests.cluster.witness import Paid, Purchase

OPENS = OpenAccount(id="open", made=START, player="ann")
PAYS = Deposit(id="pay", made=START, player="ann", amount=500, reference="pay")
SOURCE = Source(room="main", table="T1", n=7)
ASKED = Purchase("T1", 7, "ann")
REQUESTS = {("T1", 7): "ann"}
BOUGHT = ChipsBought(source=SOURCE, player="ann", amount=100, postings=Books().post("player.ann", "table.main.T1", 100))
REFUSED = PurchaseRefused(source=SOURCE, player="ann", amount=100, code="expired", message="")
LOST = f"{PAYS} was accepted as commit 2, and is in commits []"


def entries_of(books: Books) -> Entries:
    entries = Entries()
    for commit in books.commits:
        entries.take(commit, commit.at)
    return entries


def answered(*answers: ChipsBought | PurchaseRefused) -> Entries:
    """A ledger that says nothing but this; a real one takes no answer twice."""
    entries = Entries()
    entries.take(commit_of(Ledger(id="real-USD"), answers, START, None), START)
    return entries


def test_payments_that_are_where_they_were_acknowledged_are_well() -> None:
    books = Books()
    told = [Paid(command, books.ask(command)) for command in (OPENS, PAYS)]
    assert list(amiss_in_payments(entries_of(books), told)) == []


def test_a_deposit_that_was_acknowledged_and_is_not_there_is_lost() -> None:
    books = Books()
    told = [Paid(OPENS, books.ask(OPENS)), Paid(PAYS, Accepted(id="pay", n=2, head="0" * 64))]
    assert list(amiss_in_payments(entries_of(books), told)) == [LOST]


def test_a_deposit_that_is_there_twice_is_doubled() -> None:
    books = Books()
    told = [Paid(command, books.ask(command)) for command in (OPENS, PAYS)]
    books.append(*books.commits[-1].events, cause=books.commits[-1].cause)
    (said,) = amiss_in_payments(entries_of(books), told)
    assert said == f"{PAYS} was accepted as commit 2, and is in commits [2, 3]"


def test_a_payment_that_was_refused_is_told() -> None:
    books = Books()
    refused = Rejected(code="unknown_account", message="", id="pay", n=0)
    told = [Paid(OPENS, books.ask(OPENS)), Paid(PAYS, refused)]
    assert list(amiss_in_payments(entries_of(books), told)) == [f"{PAYS} was refused: {refused}; it is in commits []"]


def test_a_payment_that_nobody_made_is_told() -> None:
    books = Books()
    told = [Paid(OPENS, books.ask(OPENS))]
    books.ask(PAYS)
    (said,) = amiss_in_payments(entries_of(books), told)
    assert said == "nobody sent command pay, which is in the ledger"


def test_a_payment_that_was_not_answered_is_there_once_or_not_at_all() -> None:
    books = Books()
    told = [Paid(OPENS, books.ask(OPENS)), Paid(PAYS)]
    assert list(amiss_in_payments(entries_of(books), told)) == []
    books.ask(PAYS)
    assert list(amiss_in_payments(entries_of(books), told)) == []
    books.append(*books.commits[-1].events, cause=books.commits[-1].cause)
    (said,) = amiss_in_payments(entries_of(books), told)
    assert said == f"{PAYS} was not answered, and is in commits [2, 3]"


def test_a_buy_in_that_was_answered_once_is_well_whatever_the_answer_is() -> None:
    for answer in (BOUGHT, REFUSED):
        assert list(amiss_in_purchases(answered(answer), REQUESTS, [ASKED])) == []


def test_a_buy_in_that_was_accepted_and_is_not_in_the_log_is_lost() -> None:
    (said,) = amiss_in_purchases(Entries(), {}, [ASKED])
    assert said == f"{ASKED} was accepted, and is not in the table's log"


def test_a_buy_in_that_was_not_answered_is_lost() -> None:
    (said,) = amiss_in_purchases(Entries(), REQUESTS, [ASKED])
    assert said == "request ('T1', 7) was made by ['ann'], and answered to []"


def test_a_buy_in_that_was_answered_twice_is_doubled() -> None:
    (said,) = amiss_in_purchases(answered(BOUGHT, BOUGHT), REQUESTS, [ASKED])
    assert said == "request ('T1', 7) was made by ['ann'], and answered to ['ann', 'ann']"


def test_an_answer_to_what_nobody_asked_for_is_told() -> None:
    (said,) = amiss_in_purchases(answered(BOUGHT), {}, [])
    assert said == "request ('T1', 7) was made by [], and answered to ['ann']"
