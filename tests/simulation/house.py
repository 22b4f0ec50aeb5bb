"""The whole house of one seed: two processes of each service, tables, players, and whatever goes wrong."""

import asyncio
from collections.abc import Iterator
from random import Random
from typing import Any, Final

from contracts.commands import OpenTable, PauseTable
from contracts.events import SERVICES
from contracts.games import RULES_VERSION, TableConfig
from contracts.outcomes import Outcome
from services.aggregate.debts import debt
from services.aggregate.table import Table
from tests.simulation.cashier_players import Customer, banked
from tests.simulation.cashier_process import CashierProcess
from tests.simulation.counting_house import CountingHouse
from tests.simulation.faults import NONE, Faults
from tests.simulation.faulty_log import true_time
from tests.simulation.judge import Judge
from tests.simulation.network import Network
from tests.simulation.operator import Operator
from tests.simulation.players import Player
from tests.simulation.process import Build, Place, Process
from tests.simulation.strays import Strays
from tests.simulation.tables import drawn_config
from tests.simulation.trouble import Trouble
from tests.simulation.weather import Weather

REPLICAS: Final = 2
HANDS: Final = 5
"""So many hands start at each table before it is brought to rest."""
FAULTY_S: Final = 4.0
"""Things go wrong for so long at most for each of the hands to be played, however few there were of them."""
HAND_S_MAX: Final = 120.0
"""A table that has not had its hands yet starts the next one within this time once nothing goes wrong any more."""
QUIET_S_MAX: Final = 90.0
"""Every hand ends within this time once nothing goes wrong any more, players who never act again included."""
CATCH_UP_S: Final = 10.0
"""So long after the last commit every fold has it: what was under way, two audits and a restart."""
LOOK_S: Final = 0.1


class House:
    """Runs the services, the players and the faults of a seed in a virtual loop."""

    def __init__(self, seed: str, faults: Faults, build: Build, hands: int = HANDS) -> None:
        self.hands = hands
        self.processes: dict[tuple[str, int], Process] = {}
        self.random = Random(f"{seed}:house")
        self.judge = Judge(true_time)
        self.weather = Weather(Random(f"{seed}:faults"), faults)
        self.log = build.log(self.weather, self.judge)
        self.weather.happened.update(fault for fault in ("newer_rules", "skew_s") if getattr(faults, fault))
        self.network = Network(self.weather)
        self.trouble = Trouble(self.weather, self.processes.values)
        self.rules = RULES_VERSION + faults.newer_rules
        self._drawn_rules = self.rules if faults.newer_rules else None
        self.build = build
        self.lives = 0
        self.tables = [f"T{number + 1}" for number in range(self.random.choice((1, 1, 1, 2)))]
        self.counting = CountingHouse(
            self.weather, self.judge, self.network, self.tables, Random(f"{seed}:counting house")
        )
        self.strays = Strays(self.weather, self.judge, self.log, self.tables, self.counting)
        self.players: list[Player] = []
        self.operators: list[Operator] = []
        self.spectators = [build.spectator(table, self.network, self.judge) for table in self.tables]
        self._running: list[asyncio.Task[Any]] = []

    async def run(self) -> None:
        """Plays with faults, then without, and looks whether all is well at the end."""
        self._begin()
        await self._until(self._played, self.hands * FAULTY_S)
        self._mend()
        await self._play_on()
        self._quieten()
        if not await self._until(self._at_rest, QUIET_S_MAX):
            self._tell_who_is_stuck()
        for player in self.players:
            player.silent = True
        await self._until(lambda: not [*self._behind(), *self.counting.open_ends()], CATCH_UP_S)
        self.judge.violations += self._behind()
        self.judge.violations += self.counting.open_ends()

    def _begin(self) -> None:
        trouble, network = self.trouble, self.network
        befalls = (trouble.crashes, trouble.outages, trouble.standstills, trouble.deafness, trouble.clocks)
        for what in (*befalls, network.repeat, self.strays.come):
            self._spawn(what())
        self._spawn(network.flood(self.tables))
        for spectator in self.spectators:
            network.spectators.append(spectator)
            self._spawn(spectator.watch())
        services = (*SERVICES, "cashier") if self.counting.tables else SERVICES
        for service in services:
            for number in range(REPLICAS):
                self._spawn(self._keep_up(service, number))
        for table in self.tables:
            self._spawn(self._open(table))

    def _mend(self) -> None:
        """Nothing goes wrong any more."""
        self.weather.faults, self.weather.away = NONE, False
        for process in self.processes.values():
            process.set_clock(0, 0)

    def _quieten(self) -> None:
        """Nobody begins anything any more; what brings the tables to rest is an operator, or time alone."""
        self.counting.quieten()
        for operator in self.operators:
            operator.silent = True
        if self.random.random() < 0.5:
            for player in self.players:  # nobody wakes the services up: time alone brings every table to rest
                player.silent = True
        else:
            for table in self.tables:
                self._spawn(self._pause(table))

    def stop(self) -> list["asyncio.Task[Any]"]:
        """Ends everything that runs."""
        for process in self.processes.values():
            process.crash()
        for task in self._running:
            task.cancel()
        return self._running

    def _spawn(self, work: Any) -> None:
        self._running.append(asyncio.get_running_loop().create_task(work))

    async def _until(self, happened: Any, limit_s: float) -> bool:
        loop = asyncio.get_running_loop()
        end = loop.time() + limit_s
        while not happened() and not self.judge.violations:
            if loop.time() > end:
                return False
            await asyncio.sleep(LOOK_S)
        return True

    async def _play_on(self) -> None:
        """Lets every table have its hands."""
        while not self._played() and not self.judge.violations:
            had = self._had()
            if not await self._until(lambda had=had: self._had() > had or self._played(), HAND_S_MAX):
                self._tell_who_has_not_played()

    def _had(self) -> int:
        """How many of the hands that are to be played have started."""
        return sum(min(self.judge.table(table).hands, self.hands) for table in self.tables)

    def _played(self) -> bool:
        return all(map(self._has_played, map(self.judge.table, self.tables)))

    def _has_played(self, table: Table) -> bool:
        return table.hands >= self.hands or table.status == "closed"

    def _at_rest(self) -> bool:
        return not any(map(is_going_on, map(self.judge.table, self.tables)))

    # What goes on

    async def _keep_up(self, service: str, number: int) -> None:
        while True:
            self.lives += 1
            name = f"{service}-{number + 1}-{self.lives}"
            knows = RULES_VERSION if number == 0 else self.rules
            process = self._process(name, service, knows)
            self.processes[service, number] = process
            if service in ("table", "cashier"):
                (self.network.desks if service == "table" else self.network.tills).append(process)
            life = process.start()
            await asyncio.wait((life,))
            if not life.cancelled() and (error := life.exception()) is not None:
                self.judge.says(f"{name} failed: {error!r}")
            ghost_s = self.weather.faults.ghost_s
            self.weather.happened["ghost_s"] += ghost_s > 0
            asyncio.get_running_loop().call_later(ghost_s, self._forget, process)
            await asyncio.sleep(self.weather.faults.down_s)

    def _process(self, name: str, service: str, knows: int) -> Process:
        random, place = Random(self.random.random()), Place(self.log, self.judge, self.network)
        if service != "cashier":
            return Process(name, service, place, self.build, random, knows)
        return CashierProcess(name, place, self.counting.vault, self.build, random, knows)

    def _forget(self, process: Process) -> None:
        self.log.forget(process)
        self.counting.log.forget(process)
        for desks in (self.network.desks, self.network.tills):
            if process in desks:
                desks.remove(process)

    async def _pause(self, table: str) -> None:
        """Keeps a table paused: another operator's resume may still be on its way."""
        while True:
            if self.judge.table(table).status == "open":
                pause = PauseTable(id=self.network.new_id(), hand=self.judge.table(table).hands)
                await self.network.ask(table, "operator", "office", pause)
            await asyncio.sleep(LOOK_S)

    async def _open(self, table: str) -> None:
        config = drawn_config(self.random, self._drawn_rules)
        if table in self.counting.tables:
            config = banked(self.random, config)
        outcome: Outcome | None = None
        while outcome is None or getattr(outcome, "code", "") == "unsupported_version":
            opened = OpenTable(id=self.network.new_id(), config=config)
            outcome = await self.network.ask(table, "lobby", "lobby", opened)
            if getattr(outcome, "code", "") == "table_exists":
                break
        if self.judge.table(table).config is None:
            self.judge.says(f"{table} could not be opened: {outcome}")
        for number in range(self.random.randint(2, 5)):
            name = f"P{number + 1}"
            self.players.append(self._player(name, table, config))
            self._spawn(self.players[-1].play())
        self.operators.append(Operator(table, self.network, self.judge, Random(self.random.random())))
        self._spawn(self.operators[-1].work())

    def _player(self, name: str, table: str, config: TableConfig) -> Player:
        random = Random(self.random.random())
        if config.bankroll == "lobby":
            return Player(name, table, self.network, self.judge, random)
        wallet = self.counting.wallet(config, name)
        if wallet is not None:
            self._spawn(wallet.deal())
        return Customer(name, table, self.network, self.judge, random, self.counting.auditor)

    # What must be at the end

    def _tell_who_has_not_played(self) -> None:
        for table in map(self.judge.table, self.tables):
            if not self._has_played(table):
                self.judge.says(
                    f"{table.id} stands: it has had {table.hands} of {self.hands} hands, and none for {HAND_S_MAX} s "
                    f"without faults: {standing(table)}"
                )

    def _tell_who_is_stuck(self) -> None:
        for table in map(self.judge.table, self.tables):
            if is_going_on(table):
                self.judge.says(
                    f"{table.id} stands: it is not at rest {QUIET_S_MAX} s after the last hand: {standing(table)}"
                )

    def _behind(self) -> Iterator[str]:
        """The folds that are not the log's."""
        for process in self.processes.values():
            if process.follower is None:
                yield f"{process.name} is not up {CATCH_UP_S} s after everything else"
                continue
            for name in self.tables:
                replica = process.follower.replica("main", name)
                true = self.judge.table(name)
                if replica.halted is not None:
                    yield f"{process.name} has halted {name}: {replica.halted}"
                elif replica.state != true:
                    yield f"{process.name} folds {name} to commit {replica.state.n}, the log to {true.n}"
            if isinstance(process, CashierProcess):
                yield from self.counting.behind(process)

        for spectator in self.spectators:
            true, seen = self.judge.table(spectator.table), spectator.sight
            head = seen.table.head if seen.table is not None else None
            if seen.missing or (seen.n, head) != (true.n, true.head):
                yield f"a spectator sees {true.id} at commit {seen.n}, the log goes to {true.n}"


def is_going_on(table: Table) -> bool:
    """Whether a hand is in progress, or something is still to come by itself: a hand, or what becomes of a seat."""
    return table.hand is not None or debt(table) is not None


def standing(table: Table) -> str:
    """Where a table stands that should have gone on, and what it waits for."""
    owed = debt(table)
    seats = ", ".join(
        f"{record.player} {record.stack}{' sitting out' if record.sitting_out else ''}"
        for record in table.seats.values()
    )
    return (
        f"commit {table.n}, hand {table.hands}{' in progress' if table.hand is not None else ''}, {table.status}"
        f"{f', {owed.service} owes {owed.duty}' if owed is not None else ''}; seats: {seats or 'nobody'}"
    )
