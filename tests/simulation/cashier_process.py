"""One process of the cashier: it folds the tables' logs and the ledgers', and answers wallets."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import NamedTuple

from contracts.codec import decode, decode_command
from contracts.commands import ConfirmRequest
from contracts.commit import Head
from contracts.events.cashier import LedgerEvent
from contracts.events.state import Actor
from contracts.ledger import HOUSE, AccountCause, LedgerCommit
from contracts.outcomes import Rejected
from contracts.subjects import LEDGERS as ROOTS
from contracts.subjects import read_command
from services.aggregate.ledger import Ledger
from services.bus.aggregates import TABLES
from services.bus.clock import Clock
from services.bus.desk import Desk
from services.bus.follower import Follower
from services.bus.loop import Loop
from services.bus.mailbox import NoAnswer
from services.cashier.asked import RULES
from services.cashier.asking import Asking
from services.cashier.till import LedgerFollower, Till
from tests.simulation.auditor import Auditor
from tests.simulation.faulty_log import FaultyLog
from tests.simulation.process import Audited, Build, Network, Place, Process
from tests.simulation.virtual_loop import Owner

LedgerDesk = Desk[Ledger, LedgerCommit, LedgerEvent, AccountCause]


class Vault(NamedTuple):
    """The ledgers' log, and who watches it."""

    log: FaultyLog
    auditor: Auditor


class Answer(NamedTuple):
    """What a table answers."""

    data: bytes


class Way(NamedTuple):
    """How a cashier's commands get to tables."""

    owner: Owner
    log: FaultyLog
    auditor: Auditor
    network: Network

    async def ask(self, subject: str, data: bytes, timeout_s: float, _: Mapping[str, str] | None, /) -> Answer:
        """Sends a command, and waits for its answer. Raises `NoAnswer`."""
        await self.log.step()
        address, command = read_command(subject), decode_command(data)
        assert address is not None
        if isinstance(command, ConfirmRequest):
            self.auditor.confirms(self.owner, address.table, command)
        answer = await self.network.request(subject, data, timeout_s)
        if answer is None:
            raise NoAnswer("no answer")
        return Answer(answer)


class CashierProcess(Process):
    """One life of a cashier."""

    def __init__(self, name: str, place: Place, vault: Vault, build: Build, random: Random, knows: int) -> None:
        super().__init__(name, "cashier", place, build, random, knows)
        self.ledgers: LedgerFollower | None = None
        self.auditor = vault.auditor
        self._vault = vault.log
        self._till: Till | None = None
        self._counter: LedgerDesk | None = None

    async def _work(self, clock: Clock) -> Sequence[Audited]:
        tables = self._build.follower(TABLES, self._log, ("main",), clock)
        ledgers = Follower(self._build.ledgers, self._vault, (HOUSE,), clock)
        await tables.start()
        await ledgers.start()
        till = self._build.till(tables, ledgers, Asking(Way(self, self._log, self.auditor, self._network)).ask)
        loop = Loop(
            till.role,
            ledgers,
            self._vault,
            publish=self._publish,
            random=self._random,
            nudged=self._build.nudged,
        )
        await loop.start()
        await till.start(loop, nudged=self._build.nudged)
        self.follower, self.ledgers, self._till = tables, ledgers, till
        self._guard.start()
        self._counter = Desk(loop, RULES, self._publish, lambda: self._guard.stalls)
        return tables, ledgers

    @property
    def listening(self) -> bool:
        """Whether it has come so far as to subscribe to account commands."""
        return self._counter is not None

    def submit(self, subject: str, reply: str, body: bytes, came: float) -> None:
        """Takes an account command, if it is up."""
        address = read_command(subject, ROOTS)
        if not self.alive or self._counter is None or address is None or self._guard.stalled:
            return
        cause = RULES.cause(Actor(kind=address.kind, name=address.name), self.now(), body)
        if not isinstance(cause, Rejected):
            self.auditor.delivered(reply, address, cause.command)
            self.auditor.came(self, address, cause.command, came)
        self._counter.submit(subject, reply, body)

    def _publish(self, subject: str, data: bytes) -> None:
        if self._log.crashes(self):
            return
        match subject.split("."):
            case ["ledger_heads", _, house, ledger]:
                head = decode(data, Head)
                self.auditor.head(ledger, head.n, head.hash)
                self._vault.published.setdefault((house, ledger), {})[head.n] = head.hash
            case ["_R_", *_]:
                self.auditor.answered(subject, data)
                self._network.answer(subject, data)
        self._log.crashes(self)
