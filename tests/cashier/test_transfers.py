"""Chips between accounts and tables: what each commit of a table brings about in the accounts, one rule a test."""

import msgspec
import pytest

from contracts.account_commands import Deposit, FreezeAccount, OpenAccount, UnfreezeAccount
from contracts.commands import ConfirmRequest, RemovePlayer
from contracts.data import CHIPS_MAX
from contracts.events.cashier import (
    CashedOut,
    ChipsBought,
    ChipsReturned,
    LedgerEvent,
    LedgerOpened,
    PurchaseRefused,
    PurchaseSettled,
    RakeCredited,
    Source,
    StackCorrected,
)
from contracts.events.seats import StackToppedUp
from contracts.events.table import TableOpened
from contracts.outcomes import Accepted
from services.cashier.told import confirmations, removals
from services.cashier.transfers import ENTRIES_MAX, due
from tests.cashier.books import START, Books
from tests.cashier.stand import CONFIG, Stand

SEAT = 1


def rich(*players: str, amount: int = 12345) -> Books:
    """A ledger in which each player has so much."""
    kept = Books()
    for player in players:
        kept.ask(OpenAccount(id=f"open-{player}", made=START, player=player))
        kept.ask(Deposit(id=f"d-{player}", made=START, player=player, amount=amount, reference=f"d-{player}"))
    return kept


def pay(kept: Books, *stands: Stand) -> tuple[LedgerEvent, ...]:
    """Appends what the cashier owes, and gives it."""
    found = due(kept.ledger, [movement for stand in stands for movement in stand.movements()]).entries
    if found:
        kept.append(*found)
    assert due(kept.ledger, [movement for stand in stands for movement in stand.movements()]).entries == ()
    return found


def tell(kept: Books, stand: Stand) -> None:
    for command in confirmations(kept.ledger, stand.table):
        assert stand.confirm(command)
    assert confirmations(kept.ledger, stand.table) == ()


def seated(amount: int = 6789) -> tuple[Books, Stand]:
    """Alice, with 12345 in her account, has bought in and sits."""
    kept, stand = rich("alice"), Stand()
    stand.reserve("alice", amount)
    pay(kept, stand)
    tell(kept, stand)
    pay(kept, stand)
    return kept, stand


def balances(kept: Books) -> dict[str, int]:
    return {account: balance for account, balance in kept.ledger.balances.items() if balance}


def test_a_buy_in_is_paid_told_and_settled() -> None:
    """R6, R136: the table reserves, the cashier debits, the table seats, and the ledger forgets the answer."""
    kept, stand = rich("alice"), Stand()
    request = stand.reserve("alice", 6789)
    source = Source(room="main", table="T1", n=request)
    posted = kept.post("player.alice", "table.main.T1", 6789)
    assert pay(kept, stand) == (ChipsBought(source=source, player="alice", amount=6789, postings=posted),)
    (told,) = confirmations(kept.ledger, stand.table)
    assert told == ConfirmRequest(id=f"request.{request}.0", request=request, paid=True)
    assert stand.confirm(told)
    settled = PurchaseSettled(source=Source(room="main", table="T1", n=request + 1), request=request)
    assert pay(kept, stand) == (settled,)
    assert kept.ledger.table("main", "T1").answers == {}
    assert balances(kept) == {"cash": -12345, "player.alice": 5556, "table.main.T1": 6789}


def test_on_leaving_the_whole_stack_is_credited() -> None:
    """R9 (C08): an account of 12345, less nothing, with a stack of 6789 makes 19134."""
    kept, stand = rich("alice", amount=19134), Stand()
    stand.reserve("alice", 6789)
    pay(kept, stand)
    tell(kept, stand)
    assert kept.ledger.balance("player.alice") == 12345
    stand.leave(SEAT)
    found = pay(kept, stand)
    source = Source(room="main", table="T1", n=stand.table.n)
    assert isinstance(found[-1], CashedOut)
    assert (found[-1].source, found[-1].postings[1].amount, found[-1].postings[1].balance) == (source, 6789, 19134)
    assert balances(kept) == {"cash": -19134, "player.alice": 19134}


@pytest.mark.parametrize(
    ("player", "amount", "code"),
    [("bob", 50, "unknown_account"), ("alice", 12346, "not_enough"), ("carol", 1, "account_frozen")],
)
def test_a_buy_in_that_is_not_paid_frees_the_seat(player: str, amount: int, code: str) -> None:
    """The issue's item 2: the cashier refuses: unknown account, not enough, frozen."""
    kept, stand = rich("alice", "carol"), Stand()
    kept.ask(FreezeAccount(id="f1", made=START, player="carol", reason="x"), "operator")
    before = balances(kept)
    request = stand.reserve(player, amount)
    (refused,) = pay(kept, stand)
    assert isinstance(refused, PurchaseRefused)
    assert (refused.source.n, refused.player, refused.amount, refused.code) == (request, player, amount, code)
    (told,) = confirmations(kept.ledger, stand.table)
    assert (told.paid, told.message) == (False, refused.message)
    tell(kept, stand)
    (settled,) = pay(kept, stand)
    assert isinstance(settled, PurchaseSettled)
    assert (balances(kept), kept.ledger.table("main", "T1").answers) == (before, {})
    assert (stand.table.seats, stand.table.reservations) == ({}, {})


def test_a_player_of_another_ledger_has_no_account_in_this_one() -> None:
    """R5: real and play money never mix: what is in one ledger buys nothing at a table of another."""
    dollars, chips = rich("alice"), Books("play-USD")
    stand = Stand(config=msgspec.structs.replace(CONFIG, money="play"))
    stand.reserve("alice", 50)
    assert confirmations(dollars.ledger, stand.table) == ()
    opened, refused = pay(chips, stand)
    assert opened == LedgerOpened(money="play", currency="USD")
    assert isinstance(refused, PurchaseRefused)
    assert refused.code == "unknown_account"
    tell(chips, stand)
    assert chips.ledger.balances == {}


def test_a_request_that_the_table_has_given_up_is_not_paid() -> None:
    """The brief's step 2: expired before the cashier saw it, it is refused; and nothing is told of it."""
    kept, stand = rich("alice"), Stand()
    stand.reserve("alice", 50)
    stand.expire(SEAT)
    refused, settled = pay(kept, stand)
    assert isinstance(refused, PurchaseRefused)
    assert refused.code == "expired"
    assert isinstance(settled, PurchaseSettled)
    assert confirmations(kept.ledger, stand.table) == ()
    assert balances(kept) == {"cash": -12345, "player.alice": 12345}


def test_what_was_paid_for_a_seat_that_expired_goes_back() -> None:
    """The brief's step 4: nothing waits for ever: reservations expire and are refunded."""
    kept, stand = rich("alice"), Stand()
    request = stand.reserve("alice", 50)
    pay(kept, stand)
    told = confirmations(kept.ledger, stand.table)
    stand.expire(SEAT)
    assert not any(map(stand.confirm, told))
    (returned,) = pay(kept, stand)
    assert isinstance(returned, ChipsReturned)
    assert (returned.request, returned.player, returned.postings[1].amount) == (request, "alice", 50)
    assert balances(kept) == {"cash": -12345, "player.alice": 12345}
    assert kept.ledger.table("main", "T1").answers == {}


def test_a_seat_that_was_kept_without_chips_costs_nothing() -> None:
    """A reservation with no buy-in asks the cashier for nothing; that it ends passes by."""
    kept, stand = rich("alice"), Stand()
    stand.reserve("alice", 0)
    assert pay(kept, stand) == ()
    stand.expire(SEAT)
    assert [type(entry) for entry in pay(kept, stand)] == [PurchaseSettled]
    assert kept.ledger.table("main", "T1").position == stand.table.moved


@pytest.mark.parametrize("pauses", [0, 1])
def test_of_a_top_up_goes_back_what_the_maximum_did_not_let_in(pauses: int) -> None:
    """R7 (C07): queued during a hand or taken at once, the unused part stays in the account."""
    kept, stand = seated(120)
    for _ in range(pauses):
        stand.pause()
    request = stand.ask_top_up(SEAT, 100)
    assert [type(entry) for entry in pay(kept, stand)] == [ChipsBought]
    tell(kept, stand)
    if request % 2:
        assert [type(entry) for entry in pay(kept, stand)] == [PurchaseSettled]
        stand.hand(SEAT, 0, 0)
        (returned,) = pay(kept, stand)
    else:
        settled, returned = pay(kept, stand)
        assert isinstance(settled, PurchaseSettled)
    assert isinstance(returned, ChipsReturned)
    assert (returned.request, returned.postings[1].amount) == (None, 20)
    assert balances(kept) == {"cash": -12345, "player.alice": 12145, "table.main.T1": 200}
    assert (stand.table.seats[SEAT].stack, stand.table.seats[SEAT].top_up) == (200, 0)


def test_who_leaves_with_a_paid_top_up_gets_both_back() -> None:
    """The brief's step 5: top_up_released{left} before player_left, in the same commit."""
    kept, stand = seated(100)
    request = stand.ask_top_up(SEAT, 50)
    pay(kept, stand)
    stand.leave(SEAT)
    returned, out = pay(kept, stand)
    assert isinstance(returned, ChipsReturned)
    assert (returned.request, returned.postings[1].amount) == (request, 50)
    assert isinstance(out, CashedOut)
    assert out.postings[1].amount == 100
    assert balances(kept) == {"cash": -12345, "player.alice": 12345}


def test_who_leaves_with_nothing_leaves_an_entry_all_the_same() -> None:
    """The ledger's position passes every commit that the table marks, however little it moves."""
    kept, stand = seated(100)
    stand.adjust(SEAT, -100)
    stand.leave(SEAT)
    corrected, out = pay(kept, stand)
    assert isinstance(corrected, StackCorrected)
    assert isinstance(out, CashedOut)
    assert (out.postings[1].amount, kept.ledger.table("main", "T1").position) == (0, stand.table.moved)
    assert balances(kept) == {"cash": -12345, "player.alice": 12245, "suspense": 100}


def test_rake_is_credited_hand_by_hand() -> None:
    """R136, R121: the rake of a settled hand goes from the table to `rake`; one without rake moves nothing."""
    kept, stand = seated(100)
    stand.hand(SEAT, 0, 5)
    assert pay(kept, stand) == ()
    stand.reserve("alice", 100)
    pay(kept, stand)
    tell(kept, stand)
    stand.hand(SEAT, 40, 3)
    _, credited = pay(kept, stand)
    assert isinstance(credited, RakeCredited)
    assert (credited.hand, credited.postings[1].account, credited.postings[1].balance) == (1, "rake", 3)
    assert kept.ledger.balance("table.main.T1") == 197


def test_the_rake_of_a_cancelled_hand_was_never_credited() -> None:
    """R121, R122: a hand is cancelled as a whole and its rake is 0; what waited for its end comes in all the same."""
    kept, stand = seated(100)
    before = balances(kept)
    stand.void()
    assert pay(kept, stand) == ()
    assert balances(kept) == before
    request = stand.ask_top_up(SEAT, 150)
    pay(kept, stand)
    tell(kept, stand)
    if request % 2:
        stand.void()
    (*_, returned) = pay(kept, stand)
    assert isinstance(returned, ChipsReturned)
    assert (returned.postings[1].amount, kept.ledger.balance("table.main.T1"), stand.held[-1]) == (50, 200, 200)
    assert "rake" not in kept.ledger.balances


@pytest.mark.parametrize("lost", range(4))
def test_a_cashier_that_starts_anew_goes_on_where_its_log_ends(lost: int) -> None:
    """R123: what is intact in the logs is resumed: however much was not stored yet, the same end is reached."""
    kept, stand = rich("alice"), Stand()
    stand.reserve("alice", 100)
    pay(kept, stand)
    tell(kept, stand)
    paid = len(kept.commits)  # the table has been told of this one, so it was stored
    for step in (lambda: stand.ask_top_up(SEAT, 40), lambda: stand.leave(SEAT), lambda: stand.reserve("alice", 5000)):
        pay(kept, stand)
        step()
    pay(kept, stand)
    assert len(kept.commits) == paid + 4
    again = Books()
    for commit in kept.commits[: len(kept.commits) - lost]:
        again.append(*commit.events, cause=commit.cause)
    pay(again, stand)
    on_the_way = sum(answer.amount for answer in again.ledger.table("main", "T1").answers.values() if answer.paid)
    assert again.ledger.balance("table.main.T1") == stand.held[-1] + on_the_way == 5000
    assert balances(again) == balances(kept)
    assert again.ledger.tables == kept.ledger.tables


def test_a_corrected_stack_comes_from_suspense_or_goes_there() -> None:
    """R124: what an operator adjusts at a table is an entry of its own, to be explained by a correction later."""
    kept, stand = seated(100)
    stand.adjust(SEAT, 30)
    (more,) = pay(kept, stand)
    stand.adjust(SEAT, -10)
    (less,) = pay(kept, stand)
    assert isinstance(more, StackCorrected)
    assert isinstance(less, StackCorrected)
    assert [posting.amount for posting in (*more.postings, *less.postings)] == [-30, 30, -10, 10]
    assert (kept.ledger.balance("suspense"), kept.ledger.balance("table.main.T1")) == (-20, 120)


def test_a_table_that_closes_gives_everything_back() -> None:
    """One commit of a table is one set of entries, in one commit of the ledger."""
    kept, stand = rich("alice", "bob", "carol", amount=300), Stand()
    stand.reserve("alice", 100)
    stand.reserve("bob", 100)
    pay(kept, stand)
    tell(kept, stand)
    stand.reserve("carol", 70)
    stand.ask_top_up(SEAT, 20)
    pay(kept, stand)
    stand.hand(2, 100, 6)
    stand.close()
    pay(kept, stand)
    at_close = [entry for entry in kept.commits[-1].events if getattr(entry, "source", None) is not None]
    closing = [entry for entry in at_close if entry.source.n == stand.table.n]  # type: ignore[union-attr]
    assert [type(entry) for entry in closing] == [ChipsReturned, ChipsReturned, CashedOut, CashedOut]
    assert balances(kept) == {"cash": -900, "player.alice": 200, "player.bob": 394, "player.carol": 300, "rake": 6}


def test_a_frozen_player_is_removed_from_every_table_until_gone() -> None:
    """The issue's item 4: freeze a player everywhere; told again as long as the player sits."""
    kept, stand = seated(100)
    assert removals(kept.ledger, stand.table) == ()
    kept.ask(FreezeAccount(id="f1", made=START, player="alice", reason="x"), "operator")
    removal = RemovePlayer(id="frozen.1.0", player="alice", reason="The account in real-USD is frozen.")
    assert removals(kept.ledger, stand.table) == (removal,)
    assert removals(kept.ledger, stand.table) == (removal,)
    assert removals(Books("real-EUR").ledger, stand.table) == ()
    stand.leave(SEAT)
    assert removals(kept.ledger, stand.table) == ()
    pay(kept, stand)
    assert balances(kept) == {"cash": -12345, "player.alice": 12345}
    kept.ask(UnfreezeAccount(id="u1", made=START, player="alice", reason="x"), "operator")


def test_who_is_frozen_has_no_seat_kept_and_waits_for_none() -> None:
    """The issue's item 4: also where the player does not sit yet, and as often as the player comes back."""
    kept, stand = rich("alice", "bob", "carol"), Stand()
    stand.reserve("alice", 0)
    stand.reserve("bob", 0)
    stand.wait("bob", "carol")
    for player in ("alice", "carol"):
        kept.ask(FreezeAccount(id=f"f-{player}", made=START, player=player, reason="x"), "operator")
    reason = "The account in real-USD is frozen."
    assert removals(kept.ledger, stand.table) == (
        RemovePlayer(id="kept.2.0", player="alice", reason=reason),
        RemovePlayer(id="waits.carol.4", player="carol", reason=reason),
    )
    stand.expire(SEAT)
    stand.wait("bob")
    assert removals(kept.ledger, stand.table) == ()
    stand.wait("bob", "carol")
    assert [removal.id for removal in removals(kept.ledger, stand.table)] == ["waits.carol.7"]


def test_who_is_frozen_before_the_chips_are_at_the_table_gets_them_back_and_no_seat() -> None:
    """A request that is paid ends by the removal and not by its answer; one that is not paid by its answer alone."""
    kept, stand = rich("alice", "bob"), Stand()
    stand.reserve("alice", 50)
    pay(kept, stand)
    stand.reserve("bob", 50)
    for player in ("alice", "bob"):
        kept.ask(FreezeAccount(id=f"f-{player}", made=START, player=player, reason="x"), "operator")
    assert [removal.player for removal in removals(kept.ledger, stand.table)] == ["alice"]
    assert confirmations(kept.ledger, stand.table) == ()
    stand.expire(SEAT)
    pay(kept, stand)
    assert removals(kept.ledger, stand.table) == ()
    assert [(each.request, each.paid) for each in confirmations(kept.ledger, stand.table)] == [(3, False)]
    tell(kept, stand)
    pay(kept, stand)
    assert balances(kept) == balances(rich("alice", "bob"))


def test_a_lobbys_table_is_none_of_the_cashiers() -> None:
    """With `bankroll="lobby"` whoever seats a player has taken the money already."""
    kept, stand = rich("alice"), Stand(config=msgspec.structs.replace(CONFIG, bankroll="lobby"))
    assert stand.commits[0].events == (TableOpened(config=stand.config),)
    stand.reserve("alice", 50)
    assert stand.movements() == []
    assert (confirmations(kept.ledger, stand.table), removals(kept.ledger, stand.table)) == ((), ())


def test_many_commits_share_one_of_the_ledger_up_to_a_bound() -> None:
    """A commit of a ledger stays small enough to be stored, and never takes half of a table's commit."""
    kept, stand = seated(100)
    for _ in range(ENTRIES_MAX):
        stand.adjust(SEAT, 1)
    first = due(kept.ledger, stand.movements()).entries
    assert len(first) == ENTRIES_MAX
    kept.append(*first)
    stand.adjust(SEAT, 1)
    assert len(pay(kept, stand)) == 1


def test_a_table_that_pays_out_what_it_has_not_is_stopped_alone() -> None:
    """R136: no account of a table falls below 0; its own later commits wait, other tables go on."""
    kept = rich("alice", "bob")
    wrong, right = Stand("T1"), Stand("T2")
    for stand, player in ((wrong, "alice"), (right, "bob")):
        stand.reserve(player, 100)
        pay(kept, wrong, right)
        tell(kept, stand)
    pay(kept, wrong, right)
    forged = StackToppedUp(seat=SEAT, amount=0, stack=100, unused=500, player="alice")
    n = wrong.append(forged).n
    wrong.leave(SEAT)
    right.leave(SEAT)
    found = due(kept.ledger, [*wrong.movements(), *right.movements()])
    assert [type(entry) for entry in found.entries] == [CashedOut]
    assert list(found.stuck) == [("main", "T1")]
    assert found.stuck["main", "T1"].startswith(f"commit {n}: 500 are to go out of table.main.T1, which holds 100")
    kept.append(*found.entries)
    assert kept.ledger.table("main", "T1").position == n - 1


def test_no_adjustment_takes_a_ledger_beyond_what_an_amount_can_be() -> None:
    """A table whose adjustment no account can hold waits, and the ledger can be read as ever."""
    kept, stand = seated(100)
    stand.adjust(SEAT, CHIPS_MAX - 100)
    found = due(kept.ledger, stand.movements())
    assert (found.entries, list(found.stuck)) == ((), [("main", "T1")])
    assert isinstance(kept.ask(OpenAccount(id="o9", made=START, player="dora")), Accepted)


def test_what_the_table_has_not_said_of_whom_is_not_paid_to_anybody() -> None:
    kept, stand = seated(100)
    stand.append(StackToppedUp(seat=SEAT, amount=0, stack=100, unused=50))
    assert "does not say whose" in due(kept.ledger, stand.movements()).stuck["main", "T1"]
