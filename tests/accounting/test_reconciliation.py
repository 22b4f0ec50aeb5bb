"""Every chip that was ever deposited is in one place, or the reconciliation says where the logs part first."""

import pytest
from msgspec.structs import replace

from contracts.cards import SeatAmount
from contracts.codec import encode
from contracts.commit import Commit
from contracts.events.cashier import CashedOut, ChipsBought, LedgerOpened, Posting, RakeCredited
from contracts.events.table import HandEnded, HandVoided, PlayerLeft, PlayerSeated
from contracts.ledger import LedgerCommit
from services.accounting.matching import Difference
from services.accounting.reconciliation import SEEN_WITHIN, Day, Reconciliation
from services.cashier.transfers import due
from tests.accounting.evening import changed, evening, logs, rechained, reconciled, subject_of
from tests.cashier.books import stored


def place(commits: list[Commit] | list[LedgerCommit], kind: type, which: int = 0) -> tuple[int, int]:
    """The commit and the index of one of the events of a kind."""
    found = [
        (commit.n, index) for commit in commits for index, event in enumerate(commit.events) if isinstance(event, kind)
    ]
    return found[which]


def first(differences: tuple[Difference, ...]) -> tuple[str, int, str]:
    assert differences
    return differences[0].where, differences[0].n, differences[0].account


def test_an_evening_reconciles_to_the_chip() -> None:
    """R136, R143: table + accounts + rake are what was deposited; rake per hand is the rake account's, day by day."""
    played = evening()
    found = reconciled(played.books.commits, logs(played))
    assert (found.differences, found.code) == ((), 0)
    assert (found.deposited, found.withdrawn) == (4000, 500)
    assert found.players + found.tables + found.rake + found.suspense + found.cash == 0
    assert found.deposited - found.withdrawn == found.players + found.tables + found.rake + found.suspense
    assert [line.table for line in found.of_tables] == ["T1", "T2"]
    for line, stand in zip(found.of_tables, played.stands, strict=True):
        assert line.balance == line.chips + line.on_the_way == stand.held[-1]
        assert line.bought - line.returned - line.cashed_out - line.rake + line.corrected == line.balance
    assert found.days == (
        Day(
            day="2026-03-01",
            deposited=4000,
            withdrawn=500,
            bought=sum(line.bought for line in found.of_tables),
            returned=sum(line.returned for line in found.of_tables),
            cashed_out=sum(line.cashed_out for line in found.of_tables),
            rake=found.rake,
            rake_at_tables=found.rake,
            corrected=50,
        ),
    )
    assert found.rake == 11


def test_chips_on_their_way_to_a_table_are_counted_once() -> None:
    """The brief: balance(table account) = chips at `position` + paid requests that are not settled yet."""
    played = evening()
    one = played.stands[0]
    one.reserve("dora", 70)
    movements = one.movements()
    played.books.append(*due(played.books.ledger, movements).entries)
    found = reconciled(played.books.commits, logs(played))
    assert found.differences == ()
    assert (found.of_tables[0].on_the_way, found.of_tables[0].balance) == (70, one.held[-1] + 70)


@pytest.mark.parametrize("which", [0, 1, -1])
@pytest.mark.parametrize("kind", [ChipsBought, CashedOut, RakeCredited])
def test_a_forged_balance_is_found_in_the_ledger(kind: type, which: int) -> None:
    """A forger who makes every hash right is found by the sums: here 7 chips more are in an account than came in."""
    played = evening()
    commits = played.books.commits
    n, index = place(commits, kind, min(which, 0))
    entry = commits[n - 1].events[index]
    assert isinstance(entry, ChipsBought | CashedOut | RakeCredited)
    source, target = entry.postings
    more = Posting(account=target.account, amount=target.amount + 7, balance=target.balance + 7)
    found = reconciled(changed(commits, n, index, postings=(source, more)), logs(played))
    assert (first(found.differences), found.code) == (("real-USD", n, target.account), 1)


def test_a_forged_amount_that_adds_up_is_found_at_the_table() -> None:
    """Both sides of an entry may agree, and the table did something else: the table's commit is the place."""
    played = evening()
    commits = played.books.commits
    n, index = place(commits, RakeCredited, 1)
    entry = commits[n - 1].events[index]
    assert isinstance(entry, RakeCredited)
    assert index == len(commits[n - 1].events) - 1
    source, target = entry.postings
    less = (
        Posting(account=source.account, amount=source.amount + 1, balance=source.balance + 1),
        Posting(account=target.account, amount=target.amount - 1, balance=target.balance - 1),
    )
    found = reconciled(changed(commits[:n], n, index, postings=less), logs(played))
    (parted,) = [each for each in found.differences if each.where == "main/T2"]
    assert (parted.n, parted.account) == (entry.source.n, "table.main.T2")
    assert "something else" in parted.message


@pytest.mark.parametrize(
    ("kind", "field", "value"),
    [
        (PlayerLeft, "stack", 1),
        (HandEnded, "rake", 9),
        (HandEnded, "stacks", (SeatAmount(seat=1, amount=1),)),
    ],
)
def test_chips_that_a_table_makes_or_loses_are_found_there(kind: type, field: str, value: object) -> None:
    """R143, R9: the place is the table's commit where the stacks stop adding up."""
    played = evening()
    (one, commits), other = logs(played)
    n, index = place(commits, kind)
    found = reconciled(played.books.commits, [(one, changed(commits, n, index, **{field: value})), other])
    assert first(found.differences) == ("main/T1", n, "table.main.T1")


def test_who_sits_with_chips_that_were_never_paid_for_is_found() -> None:
    played = evening()
    (one, commits), other = logs(played)
    n, index = place(commits, PlayerSeated, 1)
    seated = commits[n - 1].events[index]
    assert isinstance(seated, PlayerSeated)
    record = replace(seated.record, stack=seated.record.stack + 5)
    found = reconciled(played.books.commits, [(one, changed(commits, n, index, record=record)), other])
    assert first(found.differences) == ("main/T1", n, "table.main.T1")
    assert "paid for" in found.differences[0].message


def test_a_cancelled_hand_that_moved_chips_is_found() -> None:
    """R121: each stack is what it was before the hand; the difference names the hand."""
    played = evening()
    one = played.stands[0]
    n = one.void().n
    assert reconciled(played.books.commits, logs(played)).differences == ()
    (_, commits), other = logs(played)
    voided = commits[n - 1].events[0]
    assert isinstance(voided, HandVoided)
    seats = tuple(replace(record, stack=record.stack + 1) for record in voided.seats)
    found = reconciled(played.books.commits, [(one, changed(commits, n, 0, seats=seats)), other])
    assert first(found.differences) == ("main/T1", n, "table.main.T1")
    assert "cancelled (R121)" in found.differences[0].message


def test_an_entry_that_is_missing_is_found_where_the_table_asked_for_it() -> None:
    """A ledger that was cut off: the table's commits that nothing was written of, from the first one on."""
    played = evening()
    kept = played.books.commits[:-1]
    found = reconciled(kept, logs(played))
    entries = [entry for entry in played.books.commits[-1].events if not isinstance(entry, LedgerOpened)]
    unseen = sorted({entry.source.n for entry in entries})  # type: ignore[union-attr]
    assert first(found.differences) == ("main/T2", unseen[0], "table.main.T2")
    assert found.of_tables[1].waiting == len(unseen) == 2
    dropped, index = place(played.books.commits, RakeCredited)
    entry = played.books.commits[dropped - 1].events[index]
    assert isinstance(entry, RakeCredited)
    assert len(played.books.commits[dropped - 1].events) == 1
    cut = rechained([commit for commit in played.books.commits if commit.n != dropped])
    assert reconciled(cut, logs(played)).code == 1


def test_a_table_that_lost_its_end_is_found() -> None:
    """The ledger knows a commit that the table's log does not: the log went back."""
    played = evening()
    one, (two, commits) = logs(played)
    found = reconciled(played.books.commits, [one, (two, commits[:-1])])
    assert first(found.differences) == ("main/T2", len(commits), "table.main.T2")
    assert f"ends at {len(commits) - 1}" in found.differences[0].message


def test_a_table_without_a_log_is_found() -> None:
    played = evening()
    found = reconciled(played.books.commits, logs(played)[:1])
    assert first(found.differences)[0] == "main/T2"
    assert "there is no log" in found.differences[0].message


@pytest.mark.parametrize("missing", [2, 9])
def test_a_broken_chain_is_found_in_either_log(missing: int) -> None:
    """DESIGN 1: the chain of both logs is checked: what is missing, altered or out of place ends the reconciliation."""
    played = evening()
    ledger, (one, other) = played.books.commits, logs(played)
    without = [commit for commit in ledger if commit.n != missing]
    assert first(reconciled(without, [one, other]).differences)[:2] == ("real-USD", missing)
    stand, commits = one
    gone = [commit for commit in commits if commit.n != missing]
    assert first(reconciled(ledger, [(stand, gone), other]).differences)[:2] == ("main/T1", missing)
    altered = [replace(commit, prev="1" * 64) if commit.n == missing else commit for commit in commits]
    assert first(reconciled(ledger, [(stand, altered), other]).differences)[:2] == ("main/T1", missing)


def test_a_log_that_nobody_can_read_is_no_difference_and_no_peace() -> None:
    """Exit code 2: something cannot be read."""
    found = Reconciliation("real-USD", exported=True)
    played = evening()
    subject, data = stored(played.books.commits[0])
    found.enter(subject, data.replace(b"ledger_opened", b"ledger_whispered"))
    result = found.result()
    assert result.code == 2
    assert first(result.differences)[:2] == ("real-USD", 1)


def test_a_live_table_may_be_a_few_seconds_ahead() -> None:
    """What has happened since the ledger was read is still to be seen to; after ten seconds it is a difference."""
    played = evening()
    one = played.stands[0]
    one.hand(1, 10, 2)
    found = Reconciliation("real-USD")
    for entry in played.books.commits:
        found.enter(*stored(entry))
    for stand in played.stands:
        match = found.table(stand.room, stand.id)
        for commit in stand.commits:
            match.take(subject_of(stand.room, commit), encode(commit))
    last = one.commits[-1].at
    assert found.result(last).differences == ()
    assert found.result(last).of_tables[0].waiting == 1
    assert first(found.result(last + 2 * SEEN_WITHIN).differences) == ("main/T1", one.table.n, "table.main.T1")
