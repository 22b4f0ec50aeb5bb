"""One seed from beginning to end. `python -m tests.simulation.simulate 17` tells what happens in seed 17."""

import asyncio
import gc
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Final, cast

import structlog

from contracts.data import Data
from contracts.events import fact_of
from contracts.ledger import HOUSE
from tests.simulation.alarms import Alarms
from tests.simulation.faults import NAMES, Faults, drawn
from tests.simulation.house import HANDS, House
from tests.simulation.process import Build
from tests.simulation.records import faults_of
from tests.simulation.releases import release
from tests.simulation.virtual_loop import VirtualLoop

TOLD_MAX: Final = 6
GARBAGE_MAX: Final = 50_000
"""So many objects are made before those that refer to each other alone are looked for."""


class Result(Data, frozen=True):
    """What a seed came to: `log` is the SHA-256 of all messages in their order.

    `facts` counts what the tables' logs hold, `entries` what the ledgers hold.
    """

    seed: int
    faults: Faults
    named: bool
    played: int
    nudged: bool
    violations: tuple[str, ...]
    hands: int
    commits: int
    steps: int
    virtual_s: float
    accepted: int
    refused: int
    reversed: int
    ignored: int
    views: int
    lives: int
    log: str
    happened: dict[str, int]
    facts: dict[str, int]
    entries: dict[str, int]

    @property
    def command(self) -> str:
        """The command that plays the seed again."""
        only = f" --faults {','.join(_named(self.faults))}" if self.named else ""
        return f"croupier simulate --seed {self.seed} --hands {self.played}{only}"

    def __str__(self) -> str:
        told = "".join(f"\n  - {violation}" for violation in self.violations[:TOLD_MAX])
        return (
            f"seed {self.seed}: {self.hands} hands, {self.commits} commits, {self.accepted} accepted, "
            f"{self.refused} refused ({self.reversed} reversed), {self.ignored} strays, {self.lives} lives, "
            f"{sum(self.entries.values())} entries, "
            f"{self.views} views, {self.steps} steps, {self.virtual_s:.1f} s of virtual time\n"
            f"{self.faults}{'' if self.nudged else ', no nudges'}\n"
            f"happened: {', '.join(f'{name} {times}' for name, times in self.happened.items()) or 'nothing'}{told}\n"
            f"SHA-256 of the log: {self.log}\nagain: {self.command}"
        )


def _named(faults: Faults) -> list[str]:
    return [name for name in NAMES if getattr(faults, name)] or ["none"]


def _keep(house: House, folder: Path, seed: int) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for table in house.tables:
        prefix = f"table.main.{table}."
        lines = [message.data + b"\n" for message in house.log.messages if message.subject.startswith(prefix)]
        (folder / f"seed-{seed}-{table}.jsonl").write_bytes(b"".join(lines))
    for ledger in house.counting.auditor.ledgers:
        prefix = f"ledger.{HOUSE}.{ledger}."
        lines = [message.data + b"\n" for message in house.counting.log.messages if message.subject.startswith(prefix)]
        (folder / f"seed-{seed}-{ledger}.jsonl").write_bytes(b"".join(lines))


def simulate(
    seed: int,
    build: Build | None = None,
    faults: Faults | None = None,
    *,
    hands: int = HANDS,
    keep: Path | None = None,
) -> Result:
    """Plays a seed, and verifies its log; `build` has other parts than the real ones, `faults` others than drawn.

    The log of a seed in which something was found is written into `keep`.
    """
    random = Random(f"{seed}:seed")
    drawn_faults, nudged = drawn(random), random.random() > 0.25
    built = build if build is not None else Build(nudged=nudged)
    loop = VirtualLoop(Random(f"{seed}:order"))
    house = House(str(seed), faults if faults is not None else drawn_faults, built, hands)
    with _listening(house), release(house.rules), _collecting_seldom():
        try:
            loop.run_until_complete(house.run())
            house.judge.violations += loop.failures()
        finally:
            loop.set_exception_handler(lambda _, __: None)  # what is cut off at the end is nobody's fault
            loop.run_until_complete(_end(house))
            loop.close()
        violations = house.judge.violations or [*_verified(house)]
    if keep is not None and violations:
        _keep(house, keep, seed)
    return Result(
        seed=seed,
        faults=faults if faults is not None else drawn_faults,
        named=faults is not None,
        played=hands,
        nudged=built.nudged,
        violations=tuple(violations),
        hands=sum(table.hands for table in house.judge.tables.values()),
        commits=sum(map(len, house.judge.entries.values())),
        steps=loop.steps,
        virtual_s=loop.now,
        accepted=house.judge.accepted,
        refused=len(house.judge.refused),
        reversed=house.judge.reversed,
        ignored=house.judge.ignored,
        views=house.judge.views,
        lives=house.lives,
        log=_digest(house),
        happened={name: times for name in NAMES if (times := house.weather.happened[name])},
        facts=_facts(house),
        entries=house.counting.auditor.entries(),
    )


async def _end(house: House) -> None:
    await asyncio.gather(*house.stop(), return_exceptions=True)


def _facts(house: House) -> dict[str, int]:
    entries = (entry for table in house.judge.entries.values() for entry in table)
    return dict(sorted(Counter(fact_of(event) for entry in entries for event in entry.commit.events).items()))


def _digest(house: House) -> str:
    whole = sha256()
    for message in (*house.log.messages, *house.counting.log.messages):
        whole.update(f"{message.sequence} {message.subject} {len(message.data)}\n".encode() + message.data)
    return whole.hexdigest()


def _verified(house: House) -> Iterator[str]:
    """What is wrong with the logs, verified again as wholes, and with what players are told of their hands."""
    for table in house.tables:
        prefix = f"table.main.{table}."
        messages = (message for message in house.log.messages if message.subject.startswith(prefix))
        yield from house.judge.examiner.whole(table, messages)
        commits = [entry.commit for entry in house.judge.entries.get(table, [])]
        yield from faults_of(table, commits, (player.name for player in house.players if player.table == table))
    yield from house.counting.verified(house.log)


@contextmanager
def _collecting_seldom() -> Iterator[None]:
    """Has little of a seed looked through for what can be forgotten: it is all forgotten soon."""
    before = gc.get_threshold()
    gc.set_threshold(GARBAGE_MAX, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


@contextmanager
def _listening(house: House) -> Iterator[None]:
    """Has the house hear what the services log, and nobody else."""
    before: dict[str, Any] = structlog.get_config()
    structlog.configure(
        processors=[cast("Any", Alarms(house.weather, house.judge).note)], cache_logger_on_first_use=False
    )
    try:
        yield
    finally:
        structlog.configure(**before)


if __name__ == "__main__":
    for number in map(int, sys.argv[1:]):
        sys.stdout.write(f"{simulate(number)}\n")
