"""What an account holds, and all that ever moved in it, in words an operator reads."""

from services.accounting.statements import AccountLine, accounts_of, is_there, lines_of
from tests.accounting.evening import evening


def test_every_account_is_listed_with_its_balance() -> None:
    """R136: the lines add up to nothing: players, tables, the house's own."""
    played = evening()
    lines = accounts_of(played.books.ledger)
    assert [line.account for line in lines] == [
        *("player.alice", "player.bob", "player.carol", "player.dora"),
        *("table.main.T1", "table.main.T2"),
        *("rake", "suspense", "cash"),
    ]
    assert sum(line.balance for line in lines) == 0
    bob = played.books.ledger.balance("player.bob")
    assert lines[1] == AccountLine(account="player.bob", balance=bob, frozen=True)


def test_a_statement_tells_each_movement_with_its_cause() -> None:
    """R126, R124: every movement with what it came from: the command and its reason, or the commit of the table."""
    played = evening()
    lines = [line for commit in played.books.commits for line in lines_of("player.alice", commit)]
    moved = [line for line in lines if line.balance is not None]
    running = 0
    for line in moved:
        running += line.amount
        assert line.balance == running
    assert running == played.books.ledger.balance("player.alice")
    assert [line.entry for line in lines] == [
        *("account_opened", "deposited", "chips_bought", "withdrawn", "corrected", "chips_bought"),
    ]
    deposited, bought, withdrawn, corrected = lines[1:5]
    assert (deposited.by, deposited.why) == ("lobby web", "d-alice")
    assert bought.by == f"main/T1 commit {played.stands[0].commits[1].n}"
    assert (withdrawn.amount, withdrawn.why) == (-500, "w1")
    assert (corrected.by, corrected.why) == ("operator web", "k1, x")


def test_what_was_not_paid_is_told_too() -> None:
    played = evening()
    (refused,) = [line for commit in played.books.commits for line in lines_of("player.eve", commit)]
    assert (refused.entry, refused.balance) == ("purchase_refused", None)
    assert refused.why.startswith("50 not paid: unknown_account: ")
    frozen = [line.entry for commit in played.books.commits for line in lines_of("player.bob", commit)]
    assert "account_frozen" in frozen


def test_an_account_is_there_once_it_was_opened_or_used() -> None:
    played = evening()
    accounts = ("player.alice", "player.eve", "table.main.T1", "table.main.T9", "rake", "cash")
    assert [is_there(played.books.ledger, account) for account in accounts] == [True, False, True, False, True, True]
