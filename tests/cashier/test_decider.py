"""What wallets and operators may have the cashier do, and what each command is refused with."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contracts.account_commands import (
    AnyAccountCommand,
    Correct,
    Deposit,
    FreezeAccount,
    OpenAccount,
    UnfreezeAccount,
    Withdraw,
)
from contracts.data import CHIPS_MAX
from contracts.events.cashier import (
    AccountCommandRefused,
    AccountFrozen,
    AccountOpened,
    AccountUnfrozen,
    Corrected,
    Deposited,
    LedgerEvent,
    LedgerOpened,
    Posting,
    Withdrawn,
)
from contracts.outcomes import Accepted, Allowed, Rejected
from contracts.subjects import ActorKind
from tests.cashier.books import START, Books

MADE = START


def open_account(player: str, id: str = "o1") -> OpenAccount:  # noqa: A002 - as the command's field
    return OpenAccount(id=id, made=MADE, player=player)


def deposit(amount: int, reference: str = "d1", player: str = "alice") -> Deposit:
    return Deposit(id=f"deposit-{reference}", made=MADE, player=player, amount=amount, reference=reference)


def withdraw(amount: int, reference: str = "w1", player: str = "alice") -> Withdraw:
    return Withdraw(id=f"withdraw-{reference}", made=MADE, player=player, amount=amount, reference=reference)


def freeze(player: str = "alice", id: str = "f1") -> FreezeAccount:  # noqa: A002
    return FreezeAccount(id=id, made=MADE, player=player, reason="chargeback")


def unfreeze(player: str = "alice", id: str = "u1") -> UnfreezeAccount:  # noqa: A002
    return UnfreezeAccount(id=id, made=MADE, player=player, reason="settled")


def correct(source: str, target: str, amount: int, reference: str = "k1") -> Correct:
    return Correct(
        id=f"correct-{reference}",
        made=MADE,
        source=source,
        target=target,
        amount=amount,
        reason="hand 7 was dealt wrongly",
        reference=reference,
    )


def books(*deposits: int) -> Books:
    """A ledger with an account for alice, into which these amounts were paid."""
    kept = Books()
    assert isinstance(kept.ask(open_account("alice")), Accepted)
    for number, amount in enumerate(deposits, 1):
        assert isinstance(kept.ask(deposit(amount, f"d{number}")), Accepted)
    return kept


def posted(source: str, target: str, amount: int, left: int, then: int) -> tuple[Posting, Posting]:
    return (
        Posting(account=source, amount=-amount, balance=left),
        Posting(account=target, amount=amount, balance=then),
    )


def last(kept: Books) -> tuple[LedgerEvent, ...]:
    return kept.commits[-1].events


def refused(answer: Accepted | Rejected) -> tuple[str, Allowed]:
    assert isinstance(answer, Rejected), answer
    return answer.code, answer.allowed


def test_the_first_account_opens_the_ledger_of_its_money() -> None:
    """R5: real and play money never mix: each ledger says of what money it is, with its first entry."""
    dollars, chips = Books("real-USD"), Books("play-CHIPS")
    assert dollars.ask(open_account("alice")) == Accepted(id="o1", n=1, head=dollars.ledger.head)
    chips.ask(open_account("alice"))
    assert last(dollars) == (LedgerOpened(money="real", currency="USD"), AccountOpened(player="alice"))
    assert last(chips) == (LedgerOpened(money="play", currency="CHIPS"), AccountOpened(player="alice"))
    dollars.ask(open_account("bob", "o2"))
    assert last(dollars) == (AccountOpened(player="bob"),)


def test_money_comes_in_from_cash_and_goes_out_to_it() -> None:
    """R136: each movement is a double entry that balances to zero, and says what is in both accounts after it."""
    kept = books(12345, 655)
    assert last(kept) == (
        Deposited(player="alice", reference="d2", postings=posted("cash", "player.alice", 655, -13000, 13000)),
    )
    kept.ask(withdraw(13000))
    assert last(kept) == (
        Withdrawn(player="alice", reference="w1", postings=posted("player.alice", "cash", 13000, 0, 0)),
    )


def test_a_correction_moves_an_amount_with_its_reason_and_reference() -> None:
    """R124: a settled hand is final; a correction is an entry of its own, and its command with the reason is kept."""
    kept = books(100)
    answer = kept.ask(correct("suspense", "player.alice", 40), "operator", "ann")
    assert isinstance(answer, Accepted)
    assert last(kept) == (Corrected(reference="k1", postings=posted("suspense", "player.alice", 40, -40, 140)),)
    cause = kept.commits[-1].cause
    assert cause is not None
    assert isinstance(cause.command, Correct)
    assert (cause.actor.name, cause.command.reason) == ("ann", "hand 7 was dealt wrongly")


def test_nothing_leaves_a_frozen_account_and_money_may_still_come_in() -> None:
    """The issue's item 4: freeze a player everywhere."""
    kept = books(100)
    kept.ask(freeze(), "operator")
    assert last(kept) == (AccountFrozen(player="alice"),)
    assert refused(kept.ask(withdraw(1))) == ("account_frozen", Allowed(actions=("unfreeze_account",)))
    assert isinstance(kept.ask(deposit(5, "d9")), Accepted)
    assert refused(kept.ask(freeze(id="f2"), "operator"))[0] == "account_frozen"
    kept.ask(unfreeze(), "operator")
    assert last(kept) == (AccountUnfrozen(player="alice"),)
    assert refused(kept.ask(unfreeze(id="u2"), "operator"))[0] == "account_not_frozen"
    assert isinstance(kept.ask(withdraw(1, "w2")), Accepted)


OPEN = Allowed(actions=("open_account",))
NO_ADJUSTMENT = Allowed(actions=("adjust_stack",))
REFUSED: list[tuple[AnyAccountCommand, str, Allowed]] = [
    (open_account("alice", "o2"), "account_exists", Allowed()),
    (deposit(1, player="bob"), "unknown_account", OPEN),
    (withdraw(1, player="bob"), "unknown_account", OPEN),
    (freeze("bob"), "unknown_account", OPEN),
    (unfreeze("bob"), "unknown_account", OPEN),
    (correct("rake", "player.bob", 1), "unknown_account", OPEN),
    (correct("player.bob", "rake", 1), "unknown_account", OPEN),
    (withdraw(101), "not_enough", Allowed(minimum=1, maximum=100)),
    (correct("player.alice", "rake", 101), "not_enough", Allowed(minimum=1, maximum=100)),
    (deposit(7, "d1"), "duplicate_reference", Allowed(actions=("deposit",))),
    (withdraw(7, "d1"), "duplicate_reference", Allowed(actions=("withdraw",))),
    (correct("rake", "cash", 7, "d1"), "duplicate_reference", Allowed(actions=("correct",))),
    (deposit(CHIPS_MAX), "duplicate_reference", Allowed(actions=("deposit",))),
    (deposit(CHIPS_MAX, "d2"), "above_maximum", Allowed(minimum=1, maximum=CHIPS_MAX - 100)),
    (correct("suspense", "rake", CHIPS_MAX), "above_maximum", Allowed(minimum=1, maximum=CHIPS_MAX - 100)),
]


@pytest.mark.parametrize(("command", "code", "allowed"), REFUSED, ids=lambda part: getattr(part, "id", ""))
def test_a_refusal_that_rests_on_the_accounts_is_final(command: AnyAccountCommand, code: str, allowed: Allowed) -> None:
    """DESIGN 4: it is in the log, so that a second copy is never decided anew, however the accounts have changed."""
    kept = books(100)
    kept.ledger.commands.clear()
    before = dict(kept.ledger.balances), dict(kept.ledger.players), dict(kept.ledger.references)
    answer = kept.ask(command, "operator", "ann")
    assert refused(answer) == (code, allowed)
    assert isinstance(answer, Rejected)
    assert last(kept) == (AccountCommandRefused(code=answer.code, message=answer.message, allowed=answer.allowed),)
    assert (kept.ledger.balances, kept.ledger.players, kept.ledger.references) == before
    kept.ask(open_account("bob", "o9"))
    kept.ask(deposit(1000, "d99"))
    again = kept.ask(command, "operator", "ann")
    assert isinstance(again, Rejected)
    assert (again.code, again.message, again.allowed, again.n) == (code, answer.message, allowed, answer.n)


OTHERS: list[tuple[AnyAccountCommand, ActorKind, str, Allowed]] = [
    (open_account("bob"), "player", "not_allowed", Allowed(actors=("lobby", "operator"))),
    (deposit(1), "player", "not_allowed", Allowed(actors=("lobby", "operator"))),
    (withdraw(1), "player", "not_allowed", Allowed(actors=("lobby", "operator"))),
    (freeze(), "lobby", "not_allowed", Allowed(actors=("operator",))),
    (unfreeze(), "lobby", "not_allowed", Allowed(actors=("operator",))),
    (correct("rake", "cash", 1), "lobby", "not_allowed", Allowed(actors=("operator",))),
    (correct("rake", "rake", 1), "operator", "malformed", Allowed(actions=("correct",))),
    (correct("table.main.T1", "rake", 1), "operator", "malformed", NO_ADJUSTMENT),
    (correct("rake", "table.main.T1", 1), "operator", "malformed", NO_ADJUSTMENT),
    (OpenAccount(id="v2", made=MADE, player="bob", v=2), "lobby", "unsupported_version", Allowed(versions=(1,))),
]


@pytest.mark.parametrize(("command", "kind", "code", "allowed"), OTHERS)
def test_a_refusal_that_no_account_can_change_is_not_written_down(
    command: AnyAccountCommand, kind: ActorKind, code: str, allowed: Allowed
) -> None:
    kept = books(100)
    commits = len(kept.commits)
    assert refused(kept.ask(command, kind, "ann")) == (code, allowed)
    assert len(kept.commits) == commits


def test_a_copy_gets_the_first_answer_and_its_id_is_no_others() -> None:
    """The issue's last line: a duplicate id is refused, the ledger unchanged; the same bytes get the same answer."""
    kept = books()
    first = kept.ask(deposit(100))
    for _ in range(2):
        assert kept.ask(deposit(100)) == first
    assert refused(kept.ask(deposit(101)))[0] == "duplicate_id"
    assert isinstance(kept.ask(deposit(100), "lobby", "other"), Rejected)  # another's id, and the reference is used
    assert kept.ledger.balances == {"cash": -100, "player.alice": 100}


def test_a_command_is_answered_for_a_day_and_stale_after_it() -> None:
    """An answer is forgotten when each copy of its command is stale, never before."""
    kept = books()
    first = kept.ask(deposit(100))
    kept.at = MADE + timedelta(days=1)
    assert kept.ask(deposit(100)) == first
    assert isinstance(kept.ask(deposit(1, "d2")), Accepted)
    kept.at = MADE + timedelta(days=1, seconds=1)
    late = kept.ask(deposit(1, "d3"))
    assert refused(late) == ("stale", Allowed(actions=("deposit",)))
    assert isinstance(late, Rejected)
    assert f"between {kept.at - timedelta(days=1)} and {kept.at + timedelta(minutes=5)}" in late.message
    kept.at = MADE + timedelta(days=3)
    kept.append(AccountFrozen(player="alice"))
    kept.append(AccountUnfrozen(player="alice"))
    assert not kept.ledger.commands
    assert refused(kept.ask(deposit(100)))[0] == "stale"
    early = OpenAccount(id="o7", made=kept.at + timedelta(hours=1), player="bob")
    assert refused(kept.ask(early))[0] == "stale"


@pytest.mark.parametrize("command", [deposit(1), withdraw(1), freeze(), unfreeze(), correct("rake", "cash", 1)])
def test_nothing_but_an_account_opens_a_ledger(command: AnyAccountCommand) -> None:
    """A mistyped currency is refused, and nothing is written of it."""
    kept = Books("real-UDS")
    assert refused(kept.ask(command, "operator", "ann")) == ("unknown_account", OPEN)
    assert not kept.commits


@pytest.mark.parametrize("name", ["real-usd", "gold-USD", "USD", "real-DOLLARS", "main"])
@pytest.mark.parametrize("command", [open_account("alice"), deposit(1), correct("rake", "cash", 1)])
def test_no_ledger_is_opened_of_what_is_no_money(name: str, command: AnyAccountCommand) -> None:
    """R5, the issue's last line: an unknown currency is refused whatever is asked, and nothing is written of it."""
    kept = Books(name)
    assert refused(kept.ask(command, "operator", "ann"))[0] == "wrong_currency"
    assert not kept.commits


PLAYERS = st.sampled_from(["alice", "bob", "carol"])
ACCOUNTS = st.sampled_from(["player.alice", "player.bob", "rake", "suspense", "cash", "table.main.T1"])
AMOUNTS = st.one_of(st.integers(1, 50), st.sampled_from([CHIPS_MAX, CHIPS_MAX - 1, CHIPS_MAX // 2]))
REFERENCES = st.integers(1, 6).map("r{}".format)
NUMBERS = st.integers(1, 8).map("c{}".format)
COMMANDS = st.one_of(
    st.builds(OpenAccount, id=NUMBERS, made=st.just(MADE), player=PLAYERS),
    st.builds(Deposit, id=NUMBERS, made=st.just(MADE), player=PLAYERS, amount=AMOUNTS, reference=REFERENCES),
    st.builds(Withdraw, id=NUMBERS, made=st.just(MADE), player=PLAYERS, amount=AMOUNTS, reference=REFERENCES),
    st.builds(FreezeAccount, id=NUMBERS, made=st.just(MADE), player=PLAYERS, reason=st.just("x")),
    st.builds(UnfreezeAccount, id=NUMBERS, made=st.just(MADE), player=PLAYERS, reason=st.just("x")),
    st.builds(
        Correct,
        id=NUMBERS,
        made=st.just(MADE),
        source=ACCOUNTS,
        target=ACCOUNTS,
        amount=AMOUNTS,
        reason=st.just("x"),
        reference=REFERENCES,
    ),
)


@given(st.lists(COMMANDS, max_size=30))
def test_no_commands_ever_unbalance_a_ledger(commands: list[AnyAccountCommand]) -> None:
    """R136: balances add up to 0, no player's is below 0, none is beyond what an amount can be, whoever asks what."""
    kept = Books()
    for command in commands:
        kept.ask(command, "operator", "ann")  # folds what is appended as it would be read: limits and chain included
        balances = kept.ledger.balances
        assert sum(balances.values()) == 0
        assert all(balance >= 0 for account, balance in balances.items() if account.startswith("player."))
        assert all(abs(balance) <= CHIPS_MAX for balance in balances.values())
    assert len(kept.ledger.references) == sum(
        isinstance(entry, Deposited | Withdrawn | Corrected) for commit in kept.commits for entry in commit.events
    )
