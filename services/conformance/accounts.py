"""The accounts beside a table that a vector is played at: the cashier's own decisions, on a ledger in memory."""

from collections.abc import Sequence
from typing import Final

from contracts.account_commands import AnyAccountCommand, Deposit, OpenAccount
from contracts.accounts import player_account
from contracts.commit import COMMIT_VERSION, GENESIS, Commit
from contracts.data import Chips, Id, Instant
from contracts.events import AnyEvent
from contracts.events.seats import SeatReserved
from contracts.events.state import Actor, Reservation
from contracts.ledger import AccountCause
from contracts.outcomes import Rejected
from services.aggregate.ledger import Ledger
from services.aggregate.ledger_evolve import evolve
from services.cashier import decider
from services.cashier.transfers import Movement, due
from services.conformance.findings import Skipped

ROOM: Final = "check"
TABLE: Final = "T1"


class Accounts:
    """The ledger of a table's players."""

    def __init__(self, at: Instant) -> None:
        self._ledger = Ledger(id="real-USD")
        self._at = at
        self._seen = 0

    def bring(self, name: Id, account: Chips, stack: Chips) -> None:
        """Opens an account that holds so much once the stack is bought. Raises `Skipped` where none can."""
        self._ask(OpenAccount(id=f"open-{name}", made=self._at, player=name))
        if account + stack:
            reference = f"pay-{name}"
            self._ask(Deposit(id=reference, made=self._at, player=name, amount=account + stack, reference=reference))
        if stack:
            number = self._seen + 1
            kept = Reservation(seat=1, player=name, number=number, expires=self._at, buy_in=stack)
            self.follow([SeatReserved(reservation=kept)])

    def follow(self, events: Sequence[AnyEvent]) -> None:
        """What follows from events of the table."""
        self._seen += 1
        commit = Commit(
            v=COMMIT_VERSION,
            table=TABLE,
            n=self._seen,
            hand=0,
            by="table",
            at=self._at,
            prev=GENESIS,
            events=tuple(events),
        )
        for entry in due(self._ledger, [Movement(ROOM, commit, frozenset({self._seen}))]).entries:
            evolve(self._ledger, entry)

    def balance(self, name: Id) -> Chips:
        """What is in a player's account."""
        return self._ledger.balance(player_account(name))

    def _ask(self, command: AnyAccountCommand) -> None:
        cause = AccountCause(actor=Actor(kind="lobby", name="check"), arrived=self._at, command=command)
        decided = decider.decide(self._ledger, cause, self._at)
        if isinstance(decided, Rejected):
            raise Skipped(f"no account holds that: {decided.message}")
        for entry in decided:
            evolve(self._ledger, entry)
