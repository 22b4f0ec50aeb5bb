"""What a house with cashiers has beside the tables: the ledgers' log, the cashiers, the wallets and the auditor."""

from collections.abc import Iterator
from random import Random
from typing import Final

import msgspec

from contracts.codec import encode
from contracts.commit import Commit
from contracts.data import Id
from contracts.events.cashier import entry_of
from contracts.games import TableConfig
from contracts.ledger import HOUSE, ledger_of
from contracts.subjects import LEDGERS, guarded, table_pattern
from services.accounting.ledger_verification import LedgerVerification
from services.accounting.reconciliation import Reconciliation
from services.bus.archives import OF_LEDGERS
from tests.simulation.auditor import Auditor
from tests.simulation.bank import Wallet
from tests.simulation.cashier_process import CashierProcess, Vault
from tests.simulation.faulty_log import FaultyLog
from tests.simulation.judge import Judge
from tests.simulation.network import Network
from tests.simulation.weather import Weather

SHARE: Final = 0.5
"""How many tables have chips from accounts."""


class CountingHouse:
    """Everything around the ledgers; `tables` are those whose chips come from accounts."""

    def __init__(self, weather: Weather, judge: Judge, network: Network, tables: list[Id], random: Random) -> None:
        self.tables = [table for table in tables if random.random() < SHARE]
        self.auditor = Auditor(judge)
        self.log = FaultyLog(weather, self.auditor, OF_LEDGERS)
        self.wallets: dict[str, Wallet] = {}
        self._weather = weather
        self._network = network
        self._random = random

    @property
    def vault(self) -> Vault:
        """What the cashiers work on."""
        return Vault(self.log, self.auditor)

    def wallet(self, config: TableConfig, player: Id) -> Wallet | None:
        """Sees to it that a player of such a table is dealt with; gives the wallet if it is a new one."""
        ledger = ledger_of(config.money, config.currency)
        if ledger in self.wallets:
            self.wallets[ledger].players.append(player)
            return None
        wallet = Wallet(ledger, [player], self._network, self.auditor, Random(self._random.random()))
        self.wallets[ledger] = wallet
        return wallet

    def quieten(self) -> None:
        """No wallet asks for anything any more."""
        for wallet in self.wallets.values():
            wallet.silent = True

    def stray(self) -> None:
        """A message in a ledger's log that is not part of it: noise, an old commit again, or one of another chain."""
        random, written = self._weather.random, [name for name, found in self.auditor.commits.items() if found]
        if not written:
            return
        ledger = random.choice(written)
        commits = self.auditor.commits[ledger]
        commit = random.choice(commits)
        other = msgspec.structs.replace(commit, n=commits[-1].n + 1, cause=None)
        data = random.choice((b"noise", encode(commit), encode(other)))
        self._weather.happened["stray"] += 1
        subject = guarded(HOUSE, ledger, "cashier", entry_of(commit.events[-1]), LEDGERS).subject
        self.log.stray(table_pattern(HOUSE, ledger, LEDGERS), subject, data)

    def behind(self, process: CashierProcess) -> Iterator[str]:
        """The folds of ledgers that are not the log's."""
        for name, true in self.auditor.ledgers.items():
            replica = process.ledgers.replica(HOUSE, name) if process.ledgers is not None else None
            if replica is None or replica.halted is not None:
                yield f"{process.name} has halted {name}: {replica.halted if replica is not None else 'not up'}"
            elif replica.state != true:
                yield f"{process.name} folds {name} to commit {replica.state.n}, the log to {true.n}"

    def open_ends(self) -> Iterator[str]:
        """What nobody may be waiting for any more at the end."""
        for table in self.tables:
            yield from self.auditor.open_ends(self.auditor.judge.table(table))

    def verified(self, house: FaultyLog) -> Iterator[str]:
        """What is wrong with the ledgers, verified as wholes and reconciled with the tables' logs."""
        for name, commits in self.auditor.commits.items():
            prefix = f"ledger.{HOUSE}.{name}."
            found = [message for message in self.log.messages if message.subject.startswith(prefix)]
            verification, reconciliation = LedgerVerification(name, commit_of=self._commit_of), Reconciliation(name)
            for message in found:
                for finding in verification.take(message.subject, message.data):
                    yield f"{name}: {finding}"
                reconciliation.enter(message.subject, message.data)
            for table in self.tables:
                match = reconciliation.table("main", table)
                for message in house.messages:
                    if message.subject.startswith(f"table.main.{table}."):
                        match.take(message.subject, message.data)
            reconciled = reconciliation.result()
            if reconciled.commits != len(commits):
                yield f"{name} is reconciled to commit {reconciled.commits} of {len(commits)}"
            yield from (f"{name} does not reconcile: {difference}" for difference in reconciled.differences)

    def _commit_of(self, _: Id, table: Id, n: int) -> Commit | None:
        entries = self.auditor.judge.entries.get(table, [])
        return entries[n - 1].commit if n <= len(entries) else None
