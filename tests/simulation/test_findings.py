"""What counts as found: an alarm without a reason, an exception that nobody takes, a table that plays no more."""

import asyncio
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

import msgspec
import pytest
import structlog

from contracts.data import Instant
from contracts.events import AnyEvent
from services.aggregate.debts import debt
from services.aggregate.table import Table
from services.bus.role import TableRole
from services.table.app import ROLE
from tests.simulation.alarms import EXPLAINED, Alarms
from tests.simulation.faults import NAMES, NONE
from tests.simulation.faulty_log import true_time
from tests.simulation.judge import Judge
from tests.simulation.process import Build
from tests.simulation.simulate import simulate
from tests.simulation.spectators import Spectator
from tests.simulation.virtual_loop import VirtualLoop
from tests.simulation.weather import Weather


def heard(level: str, line: str, *, after: str = "", **facts: object) -> list[str]:
    """What the judge is told of a line that is logged after a fault."""
    weather, judge = Weather(Random(1), NONE), Judge(true_time)
    if after:
        weather.happened[after] += 1
    with pytest.raises(structlog.DropEvent):
        Alarms(weather, judge).note(None, level, {"event": line, **facts})
    return judge.violations


@pytest.mark.parametrize("level", ["error", "exception", "critical"])
@pytest.mark.parametrize(
    "line", ["task_failed", "command_failed", "table_halted", "debt_unpaid", "table_unpayable", "message_not_taken"]
)
def test_every_line_at_error_level_is_a_finding(level: str, line: str) -> None:
    """Whatever goes wrong outside: the services are built for that."""
    for after in ("", *NAMES):
        assert heard(level, line, after=after, table="T1") == [f"alarm: {line}: table='T1'"]


@pytest.mark.parametrize("line", EXPLAINED)
def test_a_line_that_a_fault_explains_is_a_finding_without_that_fault(line: str) -> None:
    explained = {after for after in NAMES if not heard("error", line, after=after)}
    assert explained == set(EXPLAINED[line])
    assert heard("error", line) == [f"alarm: {line}: "]


def test_a_warning_is_no_finding() -> None:
    assert heard("warning", "log_unavailable") == []


def failures(*stories: Callable[[], Coroutine[Any, Any, None]]) -> list[str]:
    """What a loop says of tasks of which nobody looks at the end."""
    loop = VirtualLoop(Random(1))

    async def all_of_them() -> None:
        for story in stories:
            loop.create_task(story())
        await asyncio.sleep(1)

    try:
        loop.run_until_complete(all_of_them())
        return loop.failures()
    finally:
        loop.set_exception_handler(lambda _, __: None)
        loop.close()


async def breaks() -> None:
    await asyncio.sleep(0.1)
    raise LookupError("no such seat")


async def is_looked_at() -> None:
    (outcome,) = await asyncio.gather(breaks(), return_exceptions=True)
    assert isinstance(outcome, LookupError)


async def is_given_up() -> None:
    asyncio.create_task(asyncio.sleep(5)).cancel()


async def breaks_in_a_callback() -> None:
    asyncio.get_running_loop().call_later(0.1, dict[str, int]().pop, "a seat")


def test_an_exception_that_nobody_takes_is_a_failure() -> None:
    (told,) = failures(breaks, is_looked_at, is_given_up)
    assert told.endswith("failed: LookupError('no such seat')")
    (told,) = failures(breaks_in_a_callback)
    assert "KeyError('a seat')" in told


class Trips(Spectator):
    def show(self, data: bytes) -> None:
        """Takes no view."""
        raise LookupError(f"{len(data)} bytes are too many")


def test_an_exception_that_nobody_takes_is_found_in_a_seed() -> None:
    result = simulate(1, Build(spectator=Trips), NONE, hands=1)
    assert any("bytes are too many" in violation for violation in result.violations)


def _never_deals(table: Table, at: Instant) -> tuple[AnyEvent, ...]:
    owed = debt(table)
    return () if owed is not None and owed.duty == "start_hand" else ROLE.owes(table, at)


NEVER_DEALS: TableRole = msgspec.structs.replace(ROLE, owes=_never_deals)


def test_a_table_that_plays_no_more_is_found_with_its_reason() -> None:
    result = simulate(1, Build(role=NEVER_DEALS), NONE, hands=1)
    (told, *_) = result.violations
    assert told.startswith("T1 stands: it has had 0 of 1 hands, and none for 120.0 s without faults: commit ")
    assert "hand 0, open" in told
    assert "; seats: " in told
