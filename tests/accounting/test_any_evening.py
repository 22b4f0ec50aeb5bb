"""Whatever tables, wallets and cashiers do: the logs reconcile, and are derived again as they were written."""

from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from contracts.codec import encode
from services.accounting.ledger_verification import LedgerVerification
from services.accounting.reconciliation import Reconciled, Reconciliation
from tests.accounting.evening import reconciled, subject_of
from tests.cashier.books import stored
from tests.cashier.test_conservation import House


class Audited(House):
    """The house of the conservation test, whose logs are looked at before everything has settled, and after."""

    def teardown(self) -> None:
        self._reconcile_in_the_middle()
        super().teardown()
        found = self._reconciled()
        assert found.differences == ()
        assert found.deposited - found.withdrawn == found.players + found.tables + found.rake + found.suspense
        for line in found.of_tables:
            assert (line.balance, line.on_the_way, line.waiting) == (line.chips, 0, 0)
        self._derive_again()

    def _reconcile_in_the_middle(self) -> None:
        """A running house: what is not seen to yet is waiting, and all that was seen to fits."""
        found = Reconciliation("real-USD")
        for entry in self.books.commits:
            found.enter(*stored(entry))
        for stand in self.stands.values():
            match = found.table(stand.room, stand.id)
            for commit in stand.commits:
                match.take(subject_of(stand.room, commit), encode(commit))
        last = max(stand.at for stand in self.stands.values())
        differences = found.result(last).differences
        assert {each.message.partition(",")[0] for each in differences} <= {"the ledger has no entry of it"}

    def _reconciled(self) -> Reconciled:
        return reconciled(self.books.commits, [(stand, stand.commits) for stand in self.stands.values()])

    def _derive_again(self) -> None:
        verification = LedgerVerification(
            "real-USD", exported=True, commit_of=lambda _, table, n: self.stands[table].commits[n - 1]
        )
        assert [finding for commit in self.books.commits for finding in verification.take(*stored(commit))] == []


def test_any_evening_reconciles_and_is_derived_again() -> None:
    """R136, R126: from the events alone every movement is told again, and every chip is found."""
    run_state_machine_as_test(Audited, settings=settings(max_examples=30, stateful_step_count=60, deadline=None))
