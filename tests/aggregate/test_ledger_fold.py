"""What the fold of a ledger knows, and that it takes a commit whole or not at all."""

from datetime import timedelta

import pytest

from contracts.account_commands import OpenAccount
from contracts.codec import encode
from contracts.events.cashier import (
    AccountCommandRefused,
    AccountFrozen,
    AccountOpened,
    CashedOut,
    ChipsBought,
    ChipsReturned,
    Deposited,
    LedgerEvent,
    LedgerOpened,
    PurchaseRefused,
    PurchaseSettled,
    RakeCredited,
    Source,
)
from contracts.events.state import Actor
from contracts.ledger import AccountCause
from services.aggregate.chain import UNFOLDABLE
from services.aggregate.ledger import KNOWN_FOR, Answer, Ledger, TableLedger, Touched
from services.aggregate.ledger_fold import commit_of, fold
from tests.cashier.books import START, Books

ALICE, TABLE = "player.alice", "table.main.T1"
KEY = ("main", "T1")


def source(n: int, table: str = "T1") -> Source:
    return Source(room="main", table=table, n=n)


def cause(id: str, player: str = "alice") -> AccountCause:  # noqa: A002 - as the command's field
    command = OpenAccount(id=id, made=START, player=player)
    return AccountCause(actor=Actor(kind="lobby", name="web"), arrived=START, command=command)


def books() -> Books:
    """Alice deposits 12345, buys in for 6789 with request 4, and is seated."""
    kept = Books()
    kept.append(LedgerOpened(money="real", currency="USD"), AccountOpened(player="alice"), cause=cause("c1"))
    kept.append(Deposited(player="alice", reference="d1", postings=kept.post("cash", ALICE, 12345)))
    bought = ChipsBought(source=source(4), player="alice", amount=6789, postings=kept.post(ALICE, TABLE, 6789))
    kept.append(bought)
    return kept


def test_the_fold_knows_balances_requests_and_how_far_it_has_seen_a_table() -> None:
    """R136: an entry says what the balances are; the answer to a request is known until the table has settled it."""
    kept = books()
    ledger = kept.ledger
    assert (ledger.money, ledger.currency, ledger.n) == ("real", "USD", 3)
    assert ledger.balances == {"cash": -12345, ALICE: 5556, TABLE: 6789}
    assert (ledger.players, ledger.references) == ({"alice": False}, {"d1": 2})
    assert ledger.touched == {"alice": Touched(3, 2)}
    assert ledger.tables == {KEY: TableLedger(4, {4: Answer("alice", 6789, paid=True)})}
    kept.append(
        PurchaseSettled(source=source(6), request=4),
        PurchaseRefused(source=source(7), player="bob", amount=5, code="unknown_account", message="No such account."),
    )
    assert ledger.table(*KEY) == TableLedger(7, {7: Answer("bob", 5, paid=False, message="No such account.")})
    kept.append(
        PurchaseSettled(source=source(9), request=7),
        RakeCredited(source=source(12), hand=1, postings=kept.post(TABLE, "rake", 89)),
        CashedOut(source=source(12), player="alice", postings=kept.post(TABLE, ALICE, 6700)),
        AccountFrozen(player="alice"),
    )
    assert ledger.table(*KEY) == TableLedger(12)
    assert ledger.players == {"alice": True}
    assert ledger.touched == {"alice": Touched(5, 3)}  # once, though two entries of the commit speak of the account


def test_a_request_that_the_table_gave_up_is_forgotten_with_the_money_returned() -> None:
    """The brief's step 4: chips_returned that names the request settles it; one that names none settles nothing."""
    kept = books()
    part = ChipsReturned(source=source(6), player="alice", postings=kept.post(TABLE, ALICE, 1))
    kept.append(part)
    assert list(kept.ledger.table(*KEY).answers) == [4]
    kept.append(ChipsReturned(source=source(8), player="alice", postings=kept.post(TABLE, ALICE, 6788), request=4))
    assert kept.ledger.table(*KEY) == TableLedger(8)
    assert kept.ledger.balances == {"cash": -12345, ALICE: 12345, TABLE: 0}


@pytest.mark.parametrize(
    "entry",
    [
        LedgerOpened(money="real", currency="USD"),
        AccountFrozen(player="nobody"),
    ],
)
def test_a_commit_that_cannot_follow_leaves_the_ledger_as_it_was(entry: LedgerEvent) -> None:
    """R145: a commit is folded whole or not at all."""
    kept, same = books(), books()
    moved = CashedOut(source=source(9), player="alice", postings=kept.post(TABLE, ALICE, 6789))
    paid = Deposited(player="alice", reference="d2", postings=kept.post("cash", "player.bob", 1))
    commit = commit_of(kept.ledger, (AccountOpened(player="bob"), moved, paid, entry), kept.at, cause("c2"))
    with pytest.raises(UNFOLDABLE):
        fold(kept.ledger, commit, encode(commit))
    assert kept.ledger == same.ledger


def test_a_ledger_that_was_not_opened_takes_nothing_else() -> None:
    """A ledger's log begins with ledger_opened."""
    empty = Ledger(id="real-USD")
    commit = commit_of(empty, (AccountOpened(player="bob"),), START)
    with pytest.raises(ValueError, match="opened by its first entry"):
        fold(empty, commit, encode(commit))
    assert empty == Ledger(id="real-USD")


def test_a_folded_commit_can_be_taken_back() -> None:
    """What is owed after a commit may be unthinkable: then the ledger is what it was before it."""
    kept, same = books(), books()
    commit = commit_of(
        kept.ledger,
        (
            CashedOut(source=source(9), player="alice", postings=kept.post(TABLE, ALICE, 789)),
            Deposited(player="bob", reference="d2", postings=kept.post("cash", "player.bob", 1)),
        ),
        kept.at,
        cause("c2", "bob"),
    )
    before = fold(kept.ledger, commit, encode(commit))
    assert kept.ledger.balance("player.bob") == 1
    kept.ledger.become(before)
    assert kept.ledger == same.ledger


def test_a_copy_is_changed_without_the_ledger() -> None:
    """A decider tries its entries out on a copy that looks through to the ledger."""
    kept, same = books(), books()
    copy = kept.ledger.copy()
    assert copy == kept.ledger
    copy.put(copy.balances, ALICE, 1)
    copy.put(copy.players, "bob", value=False)
    assert (copy.balance(ALICE), copy.balance(TABLE)) == (1, 6789)
    assert kept.ledger == same.ledger


def test_commands_are_known_for_as_long_as_a_copy_could_be_accepted() -> None:
    """The issue's item 2: a copy is never decided anew, and what no copy can repeat any more is forgotten."""
    kept = books()
    kept.append(AccountCommandRefused(code="account_exists", message="There is one."), cause=cause("c2"))
    first, second = kept.ledger.commands.values()
    assert list(kept.ledger.commands) == [("lobby", "web", "c1"), ("lobby", "web", "c2")]
    assert (first.n, first.head, first.refused) == (1, kept.commits[1].prev, None)
    assert (second.n, second.refused, second.message) == (4, "account_exists", "There is one.")
    kept.at = first.at + KNOWN_FOR + timedelta(seconds=1)
    kept.append(AccountFrozen(player="alice"))
    assert len(kept.ledger.commands) == 2  # forgotten with the next commit, when the log's own time has passed it
    kept.append(AccountFrozen(player="alice"))
    assert list(kept.ledger.commands) == [("lobby", "web", "c2")]
