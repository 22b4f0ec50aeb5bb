"""The auditor says what is wrong with a ledger at the commit that is wrong."""

from datetime import UTC, datetime, timedelta

import pytest

from contracts.account_commands import AnyAccountCommand, Deposit, OpenAccount
from contracts.codec import encode
from contracts.commands import AnyCommand, ConfirmRequest, OpenTable, TakeSeat
from contracts.commit import Cause
from contracts.data import Instant
from contracts.events import AnyEvent, fact_of
from contracts.events.cashier import ChipsReturned, LedgerEvent, PurchaseSettled, Source, entry_of
from contracts.events.state import Actor
from contracts.games import BuyIn, Stakes, TableConfig
from contracts.ledger import HOUSE, AccountCause
from contracts.outcomes import Rejected
from contracts.subjects import LEDGERS, ActorKind, guarded
from services.aggregate.fold import commit_of
from services.aggregate.ledger_fold import commit_of as ledger_commit_of
from services.bus.log import Stored
from services.cashier import decider
from services.cashier.postings import moved
from services.cashier.told import open_requests
from services.cashier.transfers import Movement, due
from services.table.decider import decide, owes
from tests.simulation.auditor import Auditor
from tests.simulation.judge import Judge

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
CONFIG = TableConfig(
    variant="holdem",
    limit="no_limit",
    stakes=Stakes(small_blind=50, big_blind=100),
    seats=6,
    buy_in=BuyIn(minimum=400),
    bankroll="cashier",
)
USD = "real-USD"


class Books:
    """A table that has asked for 1000 for P1, who has 1500: commit 2 of the table, which the ledger's commit 3 pays."""

    def __init__(self) -> None:
        self.judge = Judge(lambda: NOON)
        self.auditor = Auditor(self.judge)
        self.account(OpenAccount(id="a", made=NOON, player="P1"))
        self.account(Deposit(id="b", made=NOON, player="P1", amount=1500, reference="bank 1"))
        self.table(OpenTable(id="c", config=CONFIG))
        self.table(TakeSeat(id="d", player="P1", buy_in=1000))

    @property
    def violations(self) -> list[str]:
        return self.judge.violations

    def account(self, command: AnyAccountCommand) -> None:
        cause = AccountCause(actor=Actor(kind="lobby", name="web"), arrived=NOON, command=command)
        entries = decider.decide(self.auditor.ledger(USD), cause, NOON)
        assert not isinstance(entries, Rejected)
        self.enter(*entries, cause=cause)

    def enter(self, *entries: LedgerEvent, cause: AccountCause | None = None) -> None:
        commit = ledger_commit_of(self.auditor.ledger(USD), entries, NOON, cause)
        subject = guarded(HOUSE, USD, "cashier", entry_of(entries[-1]), LEDGERS).subject
        self.auditor.stored(Stored(commit.n, subject, encode(commit), None))

    def table(self, command: AnyCommand, kind: ActorKind = "lobby") -> None:
        cause = Cause(actor=Actor(kind=kind, name="lobby"), arrived=NOON, command=command)
        events = decide(self.judge.table("T1"), cause, NOON)
        assert not isinstance(events, Rejected)
        self.store(events, NOON, cause)

    def store(self, events: tuple[AnyEvent, ...], at: Instant, cause: Cause | None = None) -> None:
        commit = commit_of(self.judge.table("T1"), "table", events, at, cause)
        subject = guarded("main", "T1", "table", fact_of(events[-1])).subject
        self.judge.stored(Stored(commit.n, subject, encode(commit), None))

    def expire(self) -> None:
        at = NOON + timedelta(minutes=2)
        self.judge.now = lambda: at
        self.store(owes(self.judge.table("T1"), at), at)

    def follow(self) -> tuple[LedgerEvent, ...]:
        """What the ledger has to say of the table by now."""
        table = self.judge.table("T1")
        moves = [
            Movement("main", entry.commit, open_requests(table))
            for entry in self.judge.entries["T1"]
            if entry.after.moved == entry.commit.n
        ]
        return due(self.auditor.ledger(USD), moves).entries


@pytest.fixture
def books() -> Books:
    return Books()


def test_a_buy_in_that_is_paid_confirmed_and_settled_is_not_complained_of(books: Books) -> None:
    books.enter(*books.follow())
    books.table(ConfirmRequest(id="e", request=2, paid=True, hand=0), "cashier")
    books.enter(*books.follow())
    assert books.violations == []
    assert [*books.auditor.open_ends(books.judge.table("T1"))] == []


def test_a_request_that_is_answered_twice_is_found(books: Books) -> None:
    paid = books.follow()
    books.enter(*paid)
    books.enter(*paid)
    assert any("answers request ('T1', 2) again" in violation for violation in books.violations)


def test_chips_that_were_paid_and_forgotten_are_found(books: Books) -> None:
    """The seat was given up: what was paid for it is the player's again, and nobody else's."""
    books.enter(*books.follow())
    books.expire()
    books.enter(PurchaseSettled(source=Source(room="main", table="T1", n=3), request=2))
    assert any("1000 are in the account of T1, and 0 at T1/3" in violation for violation in books.violations)


def test_chips_that_go_back_while_the_table_may_still_seat_the_player_are_found(books: Books) -> None:
    books.enter(*books.follow())
    postings = moved(books.auditor.ledger(USD), "table.main.T1", "player.P1", 1000)
    source = Source(room="main", table="T1", n=2)
    books.enter(ChipsReturned(source=source, player="P1", postings=postings, request=2))
    assert any("follow from tables" in violation for violation in books.violations)


def test_a_request_that_is_given_up_while_it_is_open_is_found(books: Books) -> None:
    table = books.judge.entries["T1"][-1]
    refused = due(books.auditor.ledger(USD), [Movement("main", table.commit, frozenset())]).entries
    books.enter(*refused)
    assert any("gives up request 2 of T1, which is open" in violation for violation in books.violations)


def test_what_is_still_open_at_the_end_is_told(books: Books) -> None:
    """Nothing waits for ever: a request, its answer, a commit that nobody has seen to."""
    seen, waits = [*books.auditor.open_ends(books.judge.table("T1"))]
    assert seen == "the ledger has seen T1 to commit 0, and chips were moved by 2"
    assert waits.startswith("T1 still waits for [2]")
