"""Tables, wallets and cashiers act in any order, and crash anywhere: every chip stays in exactly one place."""

from collections import Counter
from typing import Final

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from contracts.account_commands import Correct, Deposit, FreezeAccount, OpenAccount, UnfreezeAccount, Withdraw
from contracts.codec import encode
from contracts.commands import ConfirmRequest, RemovePlayer
from contracts.events.cashier import ChipsBought, ChipsReturned, LedgerEvent, PurchaseRefused, PurchaseSettled
from services.aggregate.ledger import Ledger
from services.aggregate.ledger_fold import fold
from services.cashier.told import confirmations, removals
from services.cashier.transfers import due
from tests.cashier.books import START, Books
from tests.cashier.stand import Stand

PLAYERS: Final = ("alice", "bob", "carol")
TABLES: Final = ("T1", "T2")
player = st.sampled_from(PLAYERS)
table = st.sampled_from(TABLES)
seat = st.integers(1, 4)
amount = st.integers(1, 150)
lag = st.sampled_from([0, 0, 0, 1, 2, 5])


class House(RuleBasedStateMachine):
    """Two tables, three players, one ledger; cashiers come and go, and their looks may be late."""

    def __init__(self) -> None:
        super().__init__()
        self.books = Books()
        self.stands = {name: Stand(name) for name in TABLES}
        self.mail: list[tuple[str, ConfirmRequest | RemovePlayer]] = []
        self.commands = 0

    @initialize()
    def accounts(self) -> None:
        for name in PLAYERS[:2]:
            self.books.ask(OpenAccount(id=f"open-{name}", made=START, player=name))

    def _id(self) -> str:
        self.commands += 1
        return f"c{self.commands}"

    @rule(player=player, amount=st.integers(1, 500))
    def deposits(self, player: str, amount: int) -> None:
        number = self._id()
        self.books.ask(Deposit(id=number, made=self.books.at, player=player, amount=amount, reference=number))

    @rule(player=player, amount=amount)
    def withdraws(self, player: str, amount: int) -> None:
        number = self._id()
        self.books.ask(Withdraw(id=number, made=self.books.at, player=player, amount=amount, reference=number))

    @rule(player=player, frozen=st.booleans())
    def freezes(self, player: str, frozen: bool) -> None:  # noqa: FBT001 - a rule's arguments are drawn by name
        kind = FreezeAccount if frozen else UnfreezeAccount
        self.books.ask(kind(id=self._id(), made=self.books.at, player=player, reason="x"), "operator")

    @rule(player=player, amount=amount)
    def corrects(self, player: str, amount: int) -> None:
        number, made = self._id(), self.books.at
        to = f"player.{player}"
        command = Correct(
            id=number, made=made, source="suspense", target=to, amount=amount, reason="x", reference=number
        )
        self.books.ask(command, "operator")

    @rule(table=table, player=player, buy_in=st.one_of(st.just(0), amount))
    def reserves(self, table: str, player: str, buy_in: int) -> None:
        if self.stands[table].free() is not None:
            self.stands[table].reserve(player, buy_in)

    @rule(table=table, seat=seat)
    def expires(self, table: str, seat: int) -> None:
        if seat in self.stands[table].table.reservations:
            self.stands[table].expire(seat)

    @rule(table=table, seat=seat, amount=amount)
    def tops_up(self, table: str, seat: int, amount: int) -> None:
        record = self.stands[table].table.seats.get(seat)
        if record is not None and record.request is None:
            self.stands[table].ask_top_up(seat, amount)

    @rule(table=table, seat=seat, lost=amount, rake=st.integers(0, 5))
    def plays(self, table: str, seat: int, lost: int, rake: int) -> None:
        if seat in self.stands[table].table.seats:
            self.stands[table].hand(seat, lost, rake)

    @rule(table=table, seat=seat, adjusted=st.integers(-50, 50))
    def adjusts(self, table: str, seat: int, adjusted: int) -> None:
        record = self.stands[table].table.seats.get(seat)
        if record is not None:
            self.stands[table].adjust(seat, max(adjusted, -record.stack))

    @rule(table=table, seat=seat)
    def leaves(self, table: str, seat: int) -> None:
        if seat in self.stands[table].table.seats:
            self.stands[table].leave(seat)

    @rule(table=table)
    def pauses(self, table: str) -> None:
        self.stands[table].pause()

    def _owed(self, lags: list[int]) -> tuple[LedgerEvent, ...]:
        """What a cashier finds that has read so many commits of each table too few."""
        looks = zip(self.stands.values(), lags, strict=True)
        movements = [each for stand, late in looks for each in stand.movements(upto=max(0, stand.table.n - late))]
        found = due(self.books.ledger, movements)
        assert found.stuck == {}
        return found.entries

    @rule(lags=st.lists(lag, min_size=2, max_size=2))
    def a_cashier_pays(self, lags: list[int]) -> None:
        entries = self._owed(lags)
        if entries:
            self.books.append(*entries)

    @rule(lags=st.lists(lag, min_size=2, max_size=2))
    def a_cashier_crashes_before_it_stores(self, lags: list[int]) -> None:
        self._owed(lags)

    @rule(lags=st.lists(lag, min_size=2, max_size=2))
    def a_cashier_stores_what_it_decided_too_late(self, lags: list[int]) -> None:
        """Two decide on the same state: the second one's expected sequence is passed, so its commit is not stored."""
        entries, n = self._owed(lags), self.books.ledger.n
        self.a_cashier_pays(lags)
        if entries and self.books.ledger.n == n:
            self.books.append(*entries)

    @rule(table=table)
    def a_cashier_tells(self, table: str) -> None:
        """What is sent may come late, or twice."""
        self.mail += [(table, each) for each in self._told(self.stands[table])]

    def _told(self, stand: Stand) -> list[ConfirmRequest | RemovePlayer]:
        told: list[ConfirmRequest | RemovePlayer] = list(confirmations(self.books.ledger, stand.table))
        return [*told, *removals(self.books.ledger, stand.table)]

    @precondition(lambda self: self.mail)
    @rule(data=st.data(), twice=st.booleans())
    def the_mail_comes(self, data: st.DataObject, twice: bool) -> None:  # noqa: FBT001
        index = data.draw(st.integers(0, len(self.mail) - 1))
        table, command = self.mail[index] if twice else self.mail.pop(index)
        self._deliver(self.stands[table], command)

    def _deliver(self, stand: Stand, command: ConfirmRequest | RemovePlayer) -> None:
        if isinstance(command, ConfirmRequest):
            stand.confirm(command)
        else:
            for held in [record.seat for record in stand.table.seats.values() if record.player == command.player]:
                stand.leave(held)
            for kept in [each.seat for each in stand.table.reservations.values() if each.player == command.player]:
                stand.expire(kept)

    @invariant()
    def the_balances_add_up_to_nothing(self) -> None:
        """R136: double entry: what one account has more, another has less; and none but the house's is below 0."""
        balances = self.books.ledger.balances
        assert sum(balances.values()) == 0
        below = {account for account, balance in balances.items() if balance < 0}
        assert below <= {"rake", "suspense", "cash"}

    @invariant()
    def a_tables_account_holds_its_chips_and_those_on_their_way(self) -> None:
        """R143: for every table: chips in its fold at `position`, and what is paid and not settled yet."""
        for stand in self.stands.values():
            known = self.books.ledger.table(stand.room, stand.id)
            on_their_way = sum(answer.amount for answer in known.answers.values() if answer.paid)
            assert self.books.ledger.balance(stand.account) == stand.held[known.position] + on_their_way

    def teardown(self) -> None:
        """A sweep or two later nothing waits any more, and a cashier that starts anew finds nothing to do."""
        for _ in range(4):
            while entries := self._owed([0, 0]):
                self.books.append(*entries)
            for stand in self.stands.values():
                for told in self._told(stand):
                    self._deliver(stand, told)
        again = Ledger(id=self.books.ledger.id)
        for commit in self.books.commits:
            fold(again, commit, encode(commit))
        assert again == self.books.ledger
        for stand in self.stands.values():
            assert stand.asked[-1] == frozenset()
            assert self.books.ledger.balance(stand.account) == stand.held[-1]
            assert self.books.ledger.table(stand.room, stand.id).answers == {}
            assert self.books.ledger.table(stand.room, stand.id).position == stand.table.moved
        self._each_request_was_answered_and_settled_once()

    def _each_request_was_answered_and_settled_once(self) -> None:
        answered: Counter[tuple[str, int]] = Counter()
        settled: Counter[tuple[str, int]] = Counter()
        for entry in (entry for commit in self.books.commits for entry in commit.events):
            match entry:
                case ChipsBought() | PurchaseRefused():
                    answered[entry.source.table, entry.source.n] += 1
                case PurchaseSettled() | ChipsReturned(request=int()):
                    settled[entry.source.table, entry.request or 0] += 1
        asked = {
            (stand.id, request) for stand in self.stands.values() for requests in stand.asked for request in requests
        }
        assert answered == Counter(dict.fromkeys(asked, 1))
        kept = {key: times for key, times in settled.items() if key in asked}
        assert kept == dict.fromkeys(asked, 1)


def test_every_chip_is_in_exactly_one_place_whatever_happens_when() -> None:
    """R136, R143, the issue's item 2: a crash at any point ends with the chips in one place, and nothing waits on."""
    run_state_machine_as_test(House, settings=settings(max_examples=60, stateful_step_count=60, deadline=None))
