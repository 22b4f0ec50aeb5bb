"""One process of a service: a fold, a loop and, at the table, a desk; it can crash anywhere and starts again empty."""

import asyncio
from collections.abc import Callable
from contextvars import Context
from datetime import timedelta
from random import Random
from typing import Any, Final

import msgspec

from contracts.codec import decode, encode
from contracts.commit import Commit, Head
from contracts.data import Instant
from contracts.events import Service
from contracts.outcomes import Rejected
from contracts.subjects import player_view, read_command
from services.bus.clock import Clock
from services.bus.desk import Desk, Rules
from services.bus.follower import Follower
from services.bus.log import Unavailable
from services.bus.loop import AUDIT_S, Loop, Role
from services.bus.replica import Replica
from services.dealer import app as dealer_app
from services.dealer.decks import SealedDecks
from services.dealer.vault import MasterKeys
from services.rake import app as rake_app
from services.settlement import app as settlement_app
from services.table import app as table_app
from tests.simulation.faulty_log import FaultyLog, true_time
from tests.simulation.judge import Judge
from tests.simulation.virtual_loop import OWNER

MASTERS: Final = MasterKeys("k1", {"k1": bytes(range(32))})
TASKS_KEPT: Final = 500

type Answer = Callable[[str, bytes], None]


class Build(msgspec.Struct, frozen=True):
    """What processes are built of: the real parts, or in their place broken ones that must be found out."""

    loop: type[Loop] = Loop
    desk: type[Desk] = Desk
    follower: type[Follower] = Follower
    rules: Rules = table_app.RULES
    nudged: bool = True


class SeededDealer(dealer_app.Dealer):
    """The dealer with entropy that is the same at every run."""

    def __init__(self, random: Random) -> None:
        super().__init__(MASTERS)
        self._random = random

    def decks(self) -> SealedDecks:
        """Decks for one decision."""
        return SealedDecks(self.masters, self._random.randbytes(32), self._random.randbytes(12), self.opened)


class Process:
    """One life of a process, from its start to a crash."""

    def __init__(
        self, name: str, service: Service, log: FaultyLog, build: Build, random: Random, answer: Answer
    ) -> None:
        self.name = name
        self.service = service
        self.alive = True
        self.context = Context()
        self.context.run(OWNER.set, self)
        self.desk: Desk | None = None
        self.follower: Follower | None = None
        self._log = log
        self._build = build
        self._random = random
        self._answer = answer
        self._skew = timedelta(seconds=random.uniform(-0.5, 0.5) * log.faults.skew_s)
        self._tasks: list[asyncio.Task[Any]] = []

    @property
    def judge(self) -> Judge:
        """Who watches."""
        return self._log.judge

    def adopt(self, task: asyncio.Task[Any]) -> None:
        """Every task of the process ends with it."""
        self._tasks.append(task)
        if len(self._tasks) > TASKS_KEPT:
            self._tasks = [each for each in self._tasks if not each.done()]

    def crash(self) -> None:
        """Everything ends where it just is; nothing of it leaves the process any more."""
        self.alive = False
        for task in self._tasks:
            task.cancel()

    def start(self) -> "asyncio.Task[None]":
        """Comes to life; the task ends when the process has died."""
        return asyncio.get_running_loop().create_task(self._run(), context=self.context)

    def now(self) -> Instant:
        """The process's own clock, which may be a little off."""
        return true_time() + self._skew

    def submit(self, subject: str, reply: str, body: bytes) -> None:
        """Takes a command, if it is up. To be called in the process's context."""
        address = read_command(subject)
        if not self.alive or self.desk is None or address is None:
            return
        command = table_app.RULES.read(body)
        if not isinstance(command, Rejected):
            self.judge.delivered(reply, address, command, self.now())
        self.desk.submit(subject, reply, body)

    async def _run(self) -> None:
        follower = self._build.follower(self._log, ("main",), Clock(self.now))
        try:
            await follower.start()
            loop = self._loop(follower)
            await loop.start()
        except Unavailable:
            self.crash()
            return
        self.follower = follower
        if self.service == "table":
            self.desk = self._build.desk(loop, self._build.rules, self._publish)
        while True:
            await asyncio.sleep(AUDIT_S)
            try:
                await follower.audit()
            except Unavailable:
                continue

    def _loop(self, follower: Follower) -> Loop:
        return self._build.loop(
            self._role(),
            follower,
            self._log,
            publish=self._publish,
            random=self._random,
            nudged=self._build.nudged,
        )

    def _role(self) -> Role:
        if self.service == "table":
            return table_app.ROLE
        if self.service == "rake":
            return rake_app.ROLE
        if self.service == "settlement":
            return settlement_app.ROLE
        dealer = SeededDealer(self._random)

        def appended(replica: Replica, commit: Commit) -> None:
            for view in dealer.views(replica.table, commit):
                self._publish(player_view(replica.table.room, view.table, view.player), encode(view))

        return Role("dealer", dealer.owes, dealer_app.ANSWERS, appended)

    def _publish(self, subject: str, data: bytes) -> None:
        if not self.alive:
            return
        match subject.split("."):
            case ["heads", _, room, table]:
                head = decode(data, Head)
                self.judge.head(table, head.n, head.hash)
                self._log.published.setdefault((room, table), {})[head.n] = head.hash
            case ["_R_", *_]:
                self.judge.answered(subject, data)
                self._answer(subject, data)
