"""A ledger's log verified by itself: chain, sums, balances, and every decision derived again."""

import pytest
from msgspec.structs import replace

from contracts.codec import encode
from contracts.commit import Commit
from contracts.events.cashier import (
    AccountCommandRefused,
    CashedOut,
    ChipsBought,
    Deposited,
    LedgerEvent,
    Posting,
    PurchaseRefused,
    PurchaseSettled,
)
from contracts.ledger import LedgerCommit
from services.accounting.derivation import CommitOf
from services.accounting.ledger_verification import LedgerVerification
from services.replay.findings import Finding
from tests.accounting.evening import Evening, changed, evening, rechained
from tests.accounting.test_reconciliation import place
from tests.cashier.books import Books, stored


def verified(commits: list[LedgerCommit], commit_of: CommitOf | None = None, **heads: str) -> list[Finding]:
    known = {int(n.removeprefix("n")): head for n, head in heads.items()}
    verification = LedgerVerification("real-USD", exported=True, heads=known, commit_of=commit_of)
    found = [finding for commit in commits for finding in verification.take(*stored(commit))]
    return [*found, *verification.finish()]


def by_number(played: Evening) -> CommitOf:
    logs: dict[tuple[str, str], list[Commit]] = {(stand.room, stand.id): stand.commits for stand in played.stands}
    return lambda room, table, n: logs[room, table][n - 1]


def test_what_the_cashier_wrote_is_derived_again() -> None:
    """The issue's item 2: what each side owes the other follows from the two logs."""
    played = evening()
    assert verified(played.books.commits) == []
    assert verified(played.books.commits, by_number(played)) == []


def test_both_sides_and_the_balances_are_checked_on_every_entry() -> None:
    """R136: double entries that balance to zero; the field names the entry and the account."""
    played = evening()
    commits = played.books.commits
    n, index = place(commits, Deposited)
    entry = commits[n - 1].events[index]
    assert isinstance(entry, Deposited)
    source, target = entry.postings
    wrong = (source, Posting(account=target.account, amount=target.amount + 1, balance=target.balance))
    found = verified(changed(commits[:n], n, index, postings=wrong))
    told = [(finding.kind, finding.n, finding.field) for finding in found]
    field = f"events[{index}], {target.account}"
    assert told[:2] == [("invariant", n, field), ("invariant", n, field)]
    assert ("derivation", n, f"events[{index}].postings[1].amount") in told


@pytest.mark.parametrize(
    ("entry", "account"),
    [
        (Deposited(player="alice", reference="x", postings=Books().post("rake", "player.alice", 5)), "rake"),
        (Deposited(player="alice", reference="x", postings=Books().post("cash", "player.bob", 5)), "player.bob"),
        (Deposited(player="alice", reference="x", postings=Books().post("player.alice", "cash", 5)), "player.alice"),
        (Deposited(player="alice", reference="x", postings=Books().post("cash", "player.alice", -5)), "player.alice"),
    ],
)
def test_an_entry_moves_chips_between_the_accounts_of_its_kind(entry: LedgerEvent, account: str) -> None:
    played = evening()
    first = played.books.commits[0]
    forged = replace(first, events=(*first.events, entry))
    assert account in {finding.field.partition(", ")[2] for finding in verified([forged])}


def test_a_command_that_would_have_been_refused_is_found() -> None:
    played = evening()
    commits = played.books.commits
    n, _ = place(commits, Deposited)
    refused = replace(commits[n - 1], events=(AccountCommandRefused(code="not_enough", message="no"),))
    (found,) = verified(rechained([*commits[: n - 1], refused]))
    assert (found.kind, found.n) == ("derivation", n)


def test_an_entry_of_nobodys_is_found() -> None:
    """An entry without a command follows from a table's commit, or was made up."""
    played = evening()
    commits = played.books.commits
    n, _ = place(commits, Deposited)
    made_up = replace(commits[n - 1], cause=None)
    found = verified(rechained([*commits[: n - 1], made_up]))
    assert [(finding.kind, finding.n) for finding in found] == [("derivation", n)]


def test_a_purchase_that_the_table_did_not_ask_for_is_found() -> None:
    """Derived from the table's commit, where it is given: the amount, the player, and that it moves chips at all."""
    played = evening()
    commits = played.books.commits
    n, index = place(commits, CashedOut)
    entry = commits[n - 1].events[index]
    assert isinstance(entry, CashedOut)
    elsewhere = replace(entry.source, n=entry.source.n - 1)
    forged = changed(commits[:n], n, index, source=elsewhere)
    assert verified(forged) == []  # nothing in the ledger alone tells
    assert {finding.kind for finding in verified(forged, by_number(played))} == {"derivation"}


def test_a_refusal_that_was_no_table_s_to_expect_is_found() -> None:
    played = evening()
    commits = played.books.commits
    n, index = place(commits, PurchaseRefused)
    forged = changed(commits[:n], n, index, code="not_enough")
    found = verified(forged, by_number(played))
    assert [(finding.kind, finding.field) for finding in found] == [("derivation", f"events[{index}].code")]
    given_up = changed(commits[:n], n, index, code="expired", message="The table has given up the request.")
    assert verified(given_up, by_number(played)) == []  # the table's own log tells whether it had: reconcile


def test_what_does_not_follow_ends_the_verification() -> None:
    played = evening()
    commits = played.books.commits
    assert [(f.kind, f.n) for f in verified(commits[:3] + commits[4:])] == [("chain", 4)]
    twice = [*commits[:1], *commits[:1]]
    assert [(f.kind, f.n) for f in verified(twice)] == [("chain", 2)]
    reopened = rechained([*commits[:2], replace(commits[0], cause=None), *commits[2:]])
    assert [(f.kind, f.n) for f in verified(reopened)] == [("derivation", 3), ("fold", 3)]


def test_a_head_that_somebody_knows_is_compared() -> None:
    """DESIGN 1: the chain proves what happened up to a head that somebody else holds."""
    played = evening()
    commits = played.books.commits
    n = len(commits)
    assert verified(commits, None, **{f"n{n}": played.books.ledger.head}) == []
    assert [(f.kind, f.n) for f in verified(commits, None, n2="1" * 64)] == [("head", 2)]
    assert [(f.kind, f.n) for f in verified(commits[:-1], None, **{f"n{n}": played.books.ledger.head})] == [("head", n)]


def test_a_stray_in_a_stream_is_no_part_of_the_log() -> None:
    """DESIGN 1: in a live stream what does not extend the chain is passed over and counted."""
    played = evening()
    verification = LedgerVerification("real-USD")
    for commit in played.books.commits:
        assert list(verification.take("ledger.house.real-USD.cashier.deposited", b"{}")) == []
        assert list(verification.take(*stored(commit))) == []
    assert (verification.commits, verification.ignored) == (len(played.books.commits),) * 2
    assert verification.ledger == played.books.ledger


def test_settlements_and_bytes_survive() -> None:
    """What is verified is what is stored: the same bytes again."""
    played = evening()
    assert any(isinstance(entry, ChipsBought) for commit in played.books.commits for entry in commit.events)
    assert any(isinstance(entry, PurchaseSettled) for commit in played.books.commits for entry in commit.events)
    assert [encode(commit) for commit in played.books.commits] == played.books.lines
